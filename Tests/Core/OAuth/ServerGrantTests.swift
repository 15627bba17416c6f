import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-34, BX-6, BX-12: programs that log in without a user at hand.
@Suite struct ServerGrantTests {
  /// Made once: making a key takes a while.
  private static let privateKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  private func signed() throws -> (_RSA.Signing.PrivateKey, JWTSigningKey) {
    let key = try Self.privateKey.get()
    return (key, try JWTSigningKey(pem: key.pemRepresentation))
  }

  @Test(.covers("BX-6.1"))
  func `an assertion names app, user and server, and its signature holds`() throws {
    let (key, signer) = try signed()
    let now = Date(timeIntervalSince1970: 1_600_000_000)
    let text = try signer.assertion(
      clientId: "3MVG9", username: "job@example.com", audience: "https://login.salesforce.com",
      now: now)
    let parts = text.split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let header = try JSONValue(
      parsing: String(decoding: Base64URL.decode(parts[0]) ?? [], as: UTF8.self))
    let claims = try JSONValue(
      parsing: String(decoding: Base64URL.decode(parts[1]) ?? [], as: UTF8.self))
    #expect(header == ["alg": "RS256", "typ": "JWT"])
    #expect(
      claims == [
        "iss": "3MVG9", "sub": "job@example.com", "aud": "https://login.salesforce.com",
        "exp": 1_600_000_180,
      ])
    let signature = _RSA.Signing.RSASignature(
      rawRepresentation: Data(Base64URL.decode(parts[2]) ?? []))
    #expect(
      key.publicKey.isValidSignature(
        signature, for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)),
        padding: .insecurePKCS1v1_5))
  }

  @Test(.covers("BX-6.1"))
  func `a key that is none is refused and not shown`() throws {
    for pem in ["", "secret", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----"] {
      let error = #expect(throws: OAuthError.self) { try JWTSigningKey(pem: pem) }
      #expect(error?.code == .jwtLaunchFailed)
      #expect(error?.number == 682)
      #expect(pem.isEmpty || "\(String(reflecting: error))".contains(pem) == false)
    }
    let (_, signer) = try signed()
    var shown = "\(signer)"
    dump(signer, to: &shown)
    #expect(shown.trimmed.split(separator: "\n").count <= 2)
  }

  @Test(.covers("CO-34.1"))
  func `an assertion is exchanged, and the account works without a refresh token`()
    async throws
  {
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(
      .grant(.assertion(clientId: "client-1") { _ in "aaa.bbb.c+c" }))
    let request = try #require(transport.requests.first)
    #expect(request.url.absoluteString == "https://login.salesforce.com/services/oauth2/token")
    #expect(
      form(request) == [
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "aaa.bbb.c+c",
      ])
    #expect(text(request.body).contains("urn%3Aietf"))
    #expect(account.credentials.refreshToken == nil)
    #expect(account.identity == TestOrg.identity)
    #expect(await manager.current == account)
  }

  @Test(.covers("BX-6.1"))
  func `the grant renews the session for as long as the manager lives`() async throws {
    let calls = Mutex(0)
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in
        LoginServerStub.tokens(["access_token": "access-\(calls.withLock { $0 += 1; return $0 })"])
      }
    ])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let grant = ServerGrant.clientCredentials(clientId: "client-1", clientSecret: "hush")
    let account = try await manager.logIn(
      .grant(grant, to: try LoginServer("acme.my.salesforce.com")))
    #expect(
      form(transport.requests[0]) == [
        "grant_type": "client_credentials", "client_id": "client-1", "client_secret": "hush",
      ])
    let renewed = try await manager.refresh(account.identity)
    #expect(renewed.credentials.accessToken == "access-2")
    // Without the grant there is nothing to renew it with.
    try await manager.renew(account.identity, with: nil)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.refresh(account.identity)
    }
    #expect(error?.code == .invalidCredentials)
    try await manager.renew(account.identity, with: grant)
    try await manager.refresh(account.identity)
    var shown = "\(grant)"
    dump(grant, to: &shown)
    #expect(!shown.contains("hush"))
  }

  /// On the platform, the scopes of a program's own credentials are often `api` alone.
  @Test(arguments: [["api"], ["api", "id"]])
  func `a program's own credentials log in with and without a scope for the identity`(
    scopes: [String]
  ) async throws {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in
        LoginServerStub.tokens(["scope": scopes.joined(separator: " ")])
      }
    ])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let grant = ServerGrant.clientCredentials(
      clientId: "client-1", clientSecret: "hush", scopes: scopes)
    let account = try await manager.logIn(
      .grant(grant, to: try LoginServer("acme.my.salesforce.com")))
    #expect(form(transport.requests[0])["scope"] == scopes.joined(separator: " "))
    #expect(account.identity == TestOrg.identity)
    #expect(account.username.isEmpty == !scopes.contains("id"))
    // A request that the scopes do not permit is not sent.
    #expect(transport.requests.count == (scopes.contains("id") ? 2 : 1))
  }

  @Test(.covers("CO-66"))
  func `a session without refresh token and grant ends at the first refusal, once`()
    async throws
  {
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    stub.set("/services/data/v66.0/limits") { _ in RestResponse(status: 401) }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    try await manager.renew(account.identity, with: nil)
    let client = RestClient(account: account, accounts: manager, transport: transport)
    let count = transport.requests.count
    let error = await #expect(throws: OAuthError.self) { try await client.send(.limits()) }
    #expect(error?.code == .invalidCredentials)
    #expect(transport.requests.count == count + 1)
  }

  @Test(
    .covers("CO-34.3", "CO-40.2"),
    arguments: [
      ("invalid_grant", 672), ("inactive_org", 675), ("inactive_user", 674),
      ("invalid_client", 671),
    ])
  func `what the server refuses is reported as it is`(word: String, number: Int)
    async throws
  {
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.refusal(word) }])
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    }
    #expect(error?.number == number)
    #expect(error?.serverDescription == "said the server")
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-34.1"))
  func `an empty assertion is not sent`() async throws {
    let stub = LoginServerStub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "" }))
    }
    #expect(error?.number == 682)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("CO-34.2", "CO-42", "CO-25.1", "BX-6.2"))
  func `an assertion can open the page that brings a refresh token`()
    async throws
  {
    let stub = LoginServerStub([
      "/services/oauth2/token": { request in
        form(request)["code"] == nil
          ? LoginServerStub.tokens(["access_token": "bridge"])
          : LoginServerStub.tokens(["access_token": "whole", "refresh_token": "refresh"])
      },
      "/services/oauth2/singleaccess": { request in
        #expect(request.headers[.authorization] == "Bearer bridge")
        #expect(request.url.host() == "acme.my.salesforce.com")
        let target = form(request)["redirect_uri"] ?? ""
        #expect(target.hasPrefix("/services/oauth2/authorize?response_type=code&"))
        #expect(!target.contains("prompt=login"))
        return RestResponse(
          json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/secur/frontdoor.jsp?otp=1"}"#)
      },
    ])
    let manager = try await stub.manager(stub.transport())
    let events = await manager.loginEvents()
    let shown = Mutex<URL?>(nil)
    let account = try await manager.logIn(
      .grant(
        .assertion(clientId: "client-1") { _ in "a.b.c" }, app: TestOrg.app,
        presenter: ScriptedLoginPresenter { attempt in
          let page = try await attempt.loginPage()
          shown.withLock { $0 = page }
          return "\(attempt.app.redirectURI)?code=x&state=\(attempt.state)"
        }))
    #expect(shown.withLock { $0 }?.path() == "/secur/frontdoor.jsp")
    #expect(account.credentials.refreshToken == "refresh")
    await manager.close()
    var types: Set<LoginType> = []
    for await event in events { types.insert(event.type) }
    #expect(types == [.jwtTokenExchange])
  }

  @Test(.covers("CO-54.1", "BX-12.1"))
  func `an access token in JWT form tells what it is`() throws {
    func part(_ json: String) -> String { Base64URL.encode(json.utf8) }
    let header = part(
      #"{"alg":"RS256","typ":"JWT","kid":"9","tty":"sfdc-core-token","tnk":"core/x","ver":"1.0"}"#)
    let payload = part(
      #"{"aud":["a","b"],"exp":1600000000,"iss":"i","nbf":1599999990,"sub":"uid:1","#
        + #""scp":"api web","client_id":"c"}"#)
    let token = try JWTAccessToken("\(header).\(payload).signature")
    #expect(token.algorithm == "RS256" && token.keyId == "9" && token.version == "1.0")
    #expect(token.tokenType == "sfdc-core-token" && token.tenantKey == "core/x")
    #expect(token.audience == ["a", "b"] && token.scopes == ["api", "web"])
    #expect(token.expires == Date(timeIntervalSince1970: 1_600_000_000))
    #expect(token.clientId == "c" && token.subject == "uid:1" && token.issuer == "i")
    // Two parts will do, with padding as without.
    #expect(try JWTAccessToken("\(header)==.\(payload)=") == token)
    #expect(throws: JWTAccessToken.Failure.invalidFormat) { try JWTAccessToken("00D!opaque") }
    #expect(throws: JWTAccessToken.Failure.invalidBase64) { try JWTAccessToken("!.\(payload)") }
    #expect(throws: JWTAccessToken.Failure.invalidFormat) {
      try JWTAccessToken("\(part("[]")).\(payload)")
    }
  }
}
