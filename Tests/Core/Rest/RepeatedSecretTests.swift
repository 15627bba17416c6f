import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Does a secret stay secret when the server repeats it in the words of an error?
@Suite struct RepeatedSecretTests {
  private static let token = "00DRepeated!AQoAQ_access.7Zq9"
  private static let refreshToken = "5AepRepeated_refresh_8Wx2"
  private static let secret = "RepeatedClientSecret4C1D"
  private static let assertion = "eyRepeated.eyAssertion.c2ln"
  private static let password = "Repeated1Password"

  /// All that a program, a log or the command line may show of an error.
  private func texts(of error: any Error) -> String {
    var text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
    if let error = error as? RestError {
      text += error.message + String(decoding: error.body, as: UTF8.self)
      text += "\(error.serverErrors)"
    }
    if let error = error as? OAuthError {
      text += error.message + "\(String(describing: error.serverError))"
      text += "\(String(describing: error.serverDescription))"
    }
    if let cause = (error as? any FieldforceError)?.cause { text += texts(of: cause) }
    return text
  }

  /// Each way in which a server may put a text into a refusal.
  static let bodies: [@Sendable (String) -> String] = [
    { #"[{"errorCode":"INVALID_SESSION","message":"Session \#($0) is not valid","fields":[]}]"# },
    { #"[{"errorCode":"\#($0)","message":"no"}]"# },
    { #"{"error":"invalid_request","error_description":"bad: Bearer \#($0)"}"# },
    { #"{"error":"\#($0)"}"# },
    { "<html><body>Authorization: Bearer \($0)</body></html>" },
    { "<soapenv:Fault><faultstring>INVALID_SESSION_ID: \($0)</faultstring></soapenv:Fault>" },
    { "/secur/frontdoor.jsp?x=\(PercentEncoding.encode($0))&y=1" },
  ]

  @Test(arguments: 0..<7, [false, true])
  func `an error of a request does not show the token that the server repeats`(
    form: Int, streams: Bool
  ) async throws {
    let transport = ScriptedTransport { _ in
      RestResponse(status: 400, body: Array(Self.bodies[form](Self.token).utf8))
    }
    let org = TestOrg()
    let account = org.account(accessToken: Self.token, refreshToken: Self.refreshToken)
    let client = RestClient(
      account: account, accounts: try await org.manager([account], transport: transport),
      transport: transport, options: .init(retries: .never))
    let error = await #expect(throws: RestError.self) {
      if streams {
        try await client.withStream(to: .limits()) { _ in }
      } else {
        _ = try await client.send(.limits())
      }
    }
    let text = texts(of: try #require(error))
    #expect(!text.contains(Self.token) && !text.contains(PercentEncoding.encode(Self.token)))
    // The rest of what the server says stays.
    #expect(text.contains("[redacted]") || text.contains("****"))
  }

  @Test func `a part of a composite response does not show the token that the server repeats`()
    async throws
  {
    let transport = ScriptedTransport { _ in
      RestResponse(
        json: #"[{"success":false,"errors":[{"statusCode":"X","message":"\#(Self.token)"}]}]"#)
    }
    let org = TestOrg()
    let account = org.account(accessToken: Self.token)
    let client = RestClient(
      account: account, accounts: try await org.manager([account], transport: transport),
      transport: transport)
    let results = try CollectionResult.all(in: try await client.send(.limits()))
    #expect(results.first?.errors.first?.message == "[redacted]")
  }

  @Test(arguments: 0..<7, ["refresh token", "client secret", "assertion", "password"])
  func `an error of a login or a refresh does not show the secret that the server repeats`(
    form: Int, kind: String
  ) async throws {
    let secrets = [
      "refresh token": Self.refreshToken, "client secret": Self.secret,
      "assertion": Self.assertion, "password": Self.password,
    ]
    let secret = try #require(secrets[kind])
    let transport = ScriptedTransport { _ in
      RestResponse(status: 400, body: Array(Self.bodies[form](secret).utf8))
    }
    let org = TestOrg()
    let account = org.account(accessToken: Self.token, refreshToken: Self.refreshToken)
    let manager = try await org.manager([account], transport: transport)
    let error = await #expect(throws: OAuthError.self) {
      switch kind {
      case "refresh token": try await manager.refresh(account.identity)
      case "client secret":
        try await manager.logIn(
          .grant(.clientCredentials(clientId: "client-1", clientSecret: Self.secret)))
      case "assertion":
        try await manager.logIn(.grant(.assertion(clientId: "client-1") { _ in Self.assertion }))
      default:
        try await manager.logIn(
          .password(
            username: "jane@example.com", password: Self.password,
            to: try LoginServer("https://acme.my.salesforce.com"), app: TestOrg.app))
      }
    }
    #expect(!texts(of: try #require(error)).contains(secret))
  }
}
