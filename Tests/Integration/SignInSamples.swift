import Foundation
import LoopbackLogin
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The samples of Docs/Guides/Sign-in.md and Accounts.md, as they stand there.
struct SignInSamples {
  /// Plays the person in front of the browser.
  @Sendable private static func person(_ page: URL) async throws {
    let query = page.query(percentEncoded: true) ?? ""
    var request = URLRequest(
      url: try #require(URL(string: "/services/oauth2/authorize", relativeTo: page)))
    request.httpMethod = "POST"
    request.httpBody = Data(
      "\(query)&username=admin%40fieldforce.example&password=fieldforce1".utf8)
    _ = try await WebPage.load(request)
  }

  @Test func `the guides' samples on accounts do what they say`() async throws {
    let folder = try TemporaryFolder()
    let dataFolder = folder.url
    let openPage = Self.person
    try await withMockOrg { _, server in
      let clientId = server.info.clientId
      let address = server.info.url
      // sample: accounts-open
      let secrets = FileSecretStore(
        in: dataFolder, masterKey: KeyFile(dataFolder.appending(path: "master.key")))
      let transport = URLSessionTransport()
      let accounts = try await UserAccountManager(
        persister: EncryptedAccountDirectory(
          root: dataFolder.appending(path: "accounts"), secrets: secrets),
        transport: transport,
        userAgent: UserAgent(installationId: try InstallationId.load(in: dataFolder)))
      // end of sample

      // sample: login-browser
      let app = ConnectedApp(clientId: clientId, redirectURI: "http://127.0.0.1:0/callback")
      let account = try await accounts.logIn(
        .browser(
          to: LoginServer(address), app: app, presenter: LoopbackLoginPresenter(open: openPage)))
      // end of sample
      #expect(await accounts.current?.identity == account.identity)

      // sample: accounts-use
      let client = RestClient(account: account, accounts: accounts, transport: transport)
      let limits = try await client.send(.limits())
      // end of sample
      #expect(limits.status == 200)

      // sample: accounts-events
      let watcher = Task { [events = accounts.events()] in
        for await event in events {
          switch event.kind {
          case .didRefreshToken: print("new tokens for \(event.account)")
          case .sessionDidEnd: print("\(event.account) has to log in again; nothing was lost")
          case .didLogOut(let reason): print("\(event.account) is gone: \(reason)")
          default: break
          }
        }
      }
      // end of sample

      // sample: accounts-custom
      try await accounts.setCustomData("north", forKey: "region", of: account.identity)
      let region = await accounts.account(for: account.identity)?.customData["region"]
      // end of sample
      #expect(region == "north")

      // sample: accounts-logout
      do {
        try await accounts.logOut(account.identity, reason: .userLogout)
      } catch let error as AccountError where error.code == .unsyncedRecords {
        print("\(error.unsyncedRecords ?? 0) records exist only here; sync first")
      }
      // end of sample
      #expect(await accounts.accounts.isEmpty)
      await accounts.close()
      await watcher.value
    }
  }

  @Test func `the guides' samples on errors and grants do what they say`() async throws {
    let key = try TestSigningKey.pem()
    try await withMockOrg { _, server in
      let accounts = try await UserAccountManager(
        persister: InMemoryAccountPersister(), transport: URLSessionTransport())
      let clientId = server.info.clientId, username = server.info.username
      let address = server.info.url
      // sample: login-jwt
      let grant = ServerGrant.jwtBearer(
        clientId: clientId, username: username, key: try JWTSigningKey(pem: key))
      let account = try await accounts.logIn(.grant(grant, to: LoginServer(address)))
      // end of sample
      #expect(account.username == username)

      let app = ConnectedApp(clientId: clientId, redirectURI: "http://127.0.0.1:0/callback")
      let presenter = ScriptedLoginPresenter { attempt in
        "\(attempt.app.redirectURI)?error=access_denied&state=\(attempt.state)"
      }
      // sample: login-errors
      do {
        try await accounts.logIn(.browser(to: LoginServer(address), app: app, presenter: presenter))
      } catch let error as OAuthError {
        switch error.code.effect {
        case .silent: break
        case .tryLater: print("no login now: \(error.message)")
        case .hostUnreachable: print("check the address of the login server")
        default: print("log in again: \(error.message)")
        }
      }
      // end of sample

      // sample: login-hosts
      let hosts = try LoginHostStorage(LoginHostList(), in: nil)
      try hosts.update { list in
        list.select(.sandbox)
      }
      let typed = try LoginHost(typed: "acme.my.salesforce.com/")
      try hosts.update { $0.add(typed) }
      // end of sample
      #expect(hosts.selected.server.domain == "acme.my.salesforce.com")
    }
  }
}
