import Foundation
import LoopbackLogin
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How does a user log in through the browser, with a person, a login page and a redirect?
struct BrowserLoginTests {
  /// A browser with a person in front: loads the login page, fills in its form, follows the redirect.
  private final class Browser: Sendable {
    private let entries: [[String: String]]
    private let shown = Mutex<[String]>([])

    /// - Parameter entries: What the person fills in, form after form.
    init(_ entries: [[String: String]]) { self.entries = entries }

    /// The text of every page in order.
    var pages: [String] { shown.withLock { $0 } }

    func open(_ url: URL) async throws {
      var page = try await load(URLRequest(url: url))
      for entry in entries {
        let action = try #require(page.firstMatch(of: #/<form[^>]* action="([^"]+)"/#)).output.1
        var request = URLRequest(url: try #require(URL(string: String(action), relativeTo: url)))
        request.httpMethod = "POST"
        request.setValue(
          "application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(Self.form(in: page, entry).utf8)
        page = try await load(request)
      }
    }

    private func load(_ request: URLRequest) async throws -> String {
      let page = try await WebPage.load(request).text
      shown.withLock { $0.append(page) }
      return page
    }

    /// The form's hidden values and what the person entered.
    private static func form(in page: String, _ entry: [String: String]) -> String {
      var values = entry
      let hidden = #/<input type="hidden" name="([^"]+)" value="([^"]*)">/#
      for match in page.matches(of: hidden) {
        values[String(match.output.1)] = String(match.output.2)
          .replacing("&#39;", with: "'").replacing("&quot;", with: "\"")
          .replacing("&gt;", with: ">").replacing("&lt;", with: "<")
          .replacing("&amp;", with: "&")
      }
      let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
      return values.map { name, value in
        "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
      }.joined(separator: "&")
    }
  }

  private let person = ["username": "admin@fieldforce.example", "password": "fieldforce1"]

  /// Lends an account manager that is empty at first.
  private func withAccounts(
    _ adjust: (inout MockOrgOptions) -> Void = { _ in },
    _ body: (UserAccountManager, MockOrg, MockOrgServer, ConnectedApp) async throws -> Void
  ) async throws {
    var options = MockOrgOptions()
    adjust(&options)
    let folder = try TemporaryFolder()
    try await withMockOrg(options) { org, server in
      let accounts = try await UserAccountManager(
        persister: EncryptedAccountDirectory(
          root: folder.url, secrets: InMemorySecretStore()),
        transport: URLSessionTransport())
      let app = ConnectedApp(
        clientId: server.info.clientId, redirectURI: "http://127.0.0.1:0/callback",
        usesHybridGrants: false)
      try await body(accounts, org, server, app)
      await accounts.close()
    }
  }

  private func presenter(_ browser: Browser) -> LoopbackLoginPresenter {
    LoopbackLoginPresenter { try await browser.open($0) }
  }

  @Test(.covers("CO-26"))
  func `a person logs in through the browser and the account works`() async throws {
    try await withAccounts { accounts, org, server, app in
      let account = try await accounts.logIn(
        .browser(
          to: try LoginServer(server.info.url), app: app, presenter: presenter(Browser([person]))))
      #expect(account.username == "admin@fieldforce.example")
      #expect(account.identity.userId == server.info.userId)
      #expect(await accounts.current?.identity == account.identity)

      let client = RestClient(
        account: account, accounts: accounts, transport: URLSessionTransport())
      #expect(try await client.send(.limits()).status == 200)
      // The refresh token that came with it is good too.
      org.expireAccessTokens()
      #expect(try await client.send(.limits()).status == 200)
    }
  }

  @Test(.covers("CO-26"))
  func `a wrong password leads back to the page, the right one goes on`() async throws {
    try await withAccounts { accounts, _, server, app in
      var wrong = person
      wrong["password"] = "guessed"
      let browser = Browser([wrong, person])
      let account = try await accounts.logIn(
        .browser(to: try LoginServer(server.info.url), app: app, presenter: presenter(browser)))
      #expect(account.identity.userId == server.info.userId)
      // The login may be over before the browser has noted the last page.
      #expect(browser.pages.count >= 2)
      #expect(browser.pages[1].contains("check your username and password"))
    }
  }

  @Test(.covers("CO-40"))
  func `a person who refuses access ends the login without an account`() async throws {
    try await withAccounts { accounts, _, server, app in
      let browser = Browser([person.merging(["decision": "deny"]) { $1 }])
      let error = await #expect(throws: OAuthError.self) {
        try await accounts.logIn(
          .browser(to: try LoginServer(server.info.url), app: app, presenter: presenter(browser)))
      }
      #expect(error?.code == .accessDenied)
      #expect(await accounts.accounts.isEmpty)
    }
  }

  @Test(.covers("CO-79.2"))
  func `a second login of the same person keeps the account and its data`()
    async throws
  {
    try await withAccounts { accounts, _, server, app in
      let login = try LoginServer(server.info.url)
      let first = try await accounts.logIn(
        .browser(to: login, app: app, presenter: presenter(Browser([person]))))
      let second = try await accounts.logIn(
        .browser(to: login, app: app, presenter: presenter(Browser([person]))))
      #expect(first.identity == second.identity)
      #expect(await accounts.accounts.count == 1)
      #expect(first.credentials.accessToken != second.credentials.accessToken)
    }
  }
}
