import CryptoExtras
import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Can a user log in in every way, switch between users and log out, with the command line alone?
@Suite struct AccountStoryTests {
  @Test(.covers("CO-34", "BX-6.1"))
  func `login with a signing key, which the org checks`() async throws {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    var options = MockOrgOptions()
    options.clientKeys = [options.clientId: key.publicKey.pemRepresentation]
    try await withMockOrg(options) { _, server in
      let tool = try Tool()
      let file = try tool.file("server.key", key.pemRepresentation)
      let login = [
        "login", "--url", server.info.url, "--username", server.info.username, "--client-id",
        server.info.clientId, "--state", tool.state.path, "--json", "--jwt-key",
      ]
      let account = try await tool.run(login + [file]).document()
      #expect(account["userId"]?.string == server.info.userId)
      let limits = try await tool("rest", "GET", "/limits")
      #expect(limits.status == 0, "\(limits.errors)")
      // Another key is refused, and says so.
      let other = try tool.file(
        "other.key", _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation)
      let refusal = try await tool.run(login + [other]).failure()
      #expect(refusal["number"] == 672)
      let none = try tool.file("none.key", "no key")
      #expect(try await tool.run(login + [none]).failure()["number"] == 682)
    }
  }

  @Test func `two ways to log in at once are wrong usage`() async throws {
    let tool = try Tool()
    for ways in [["--device", "--browser"], ["--paste", "--access-token", "x"], []] {
      let result = try await tool.run(
        ["login", "--url", "https://a.b", "--state", tool.state.path] + ways)
      #expect(result.status == 2, "\(ways)")
    }
  }

  @Test(.covers("CO-83.1", "CO-85", "CO-86.1", "HT-75.2"))
  func `accounts, switch and logout of one and of all`()
    async throws
  {
    var options = MockOrgOptions()
    options.otherUsers = [
      MockOrgUser(username: "bob@fieldforce.example", firstName: "Bob", lastName: "Builder")
    ]
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    try await withMockOrg(options) { _, server in
      let tool = try Tool()
      let file = try tool.file("server.key", key.pemRepresentation)
      for name in [server.info.username, "bob@fieldforce.example"] {
        _ = try await tool.json(
          "login", "--url", server.info.url, "--username", name, "--jwt-key", file, "--client-id",
          server.info.clientId)
      }
      func current() async throws -> [String] {
        try await tool.json("accounts")["accounts"]?.array?
          .filter { $0["current"] == true }.compactMap { $0["username"]?.string } ?? []
      }
      #expect(try await tool.json("accounts")["accounts"]?.array?.count == 2)
      #expect(try await current() == ["bob@fieldforce.example"])
      _ = try await tool.json("switch", server.info.username)
      #expect(try await current() == [server.info.username])
      #expect(try await tool.failure("switch", "nobody@x.de")["code"] == "unknownAccount")
      // The other one goes; the current user stays.
      let gone = try await tool.json("logout", "bob@fieldforce.example")
      #expect(gone == ["username": "bob@fieldforce.example", "unsyncedRecords": 0])
      #expect(try await current() == [server.info.username])
      let all = try await tool.json("logout", "--all")
      #expect(all["accounts"]?.array?.count == 1)
      #expect(try await tool.json("accounts")["accounts"] == [])
    }
  }

  @Test func `a move is confirmed for the named account and for no other`() async throws {
    var options = MockOrgOptions()
    options.otherUsers = [
      MockOrgUser(username: "bob@fieldforce.example", firstName: "Bob", lastName: "Builder")
    ]
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    options.clientKeys = [options.clientId: key.publicKey.pemRepresentation]
    try await withMockOrg(options) { [options] _, server in
      // Another server that gives the same ids.
      try await withMockOrg(options) { _, other in
        let tool = try Tool()
        let file = try tool.file("server.key", key.pemRepresentation)
        func login(_ info: ConnectionInfo, _ name: String) -> [String] {
          [
            "login", "--url", info.url, "--username", name, "--jwt-key", file, "--client-id",
            info.clientId, "--state", tool.state.path, "--json",
          ]
        }
        let (jane, bob) = (server.info.username, "bob@fieldforce.example")
        for name in [jane, bob] { _ = try await tool.run(login(server.info, name)).document() }
        let refusal = try await tool.run(login(other.info, bob) + ["--move-account", jane])
          .failure()
        #expect(refusal["code"] == "foreignServer")
        let unknown = try await tool.run(login(other.info, bob) + ["--move-account", "none"])
          .failure()
        #expect(unknown["code"] == "unknownAccount")
        let moved = try await tool.run(login(other.info, bob) + ["--move-account", bob]).document()
        #expect(moved["instanceUrl"]?.string == other.info.url)
      }
    }
  }

  @Test(.covers("CO-84"))
  func `a logout tells how many records are not synced, and needs force`() async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
        "--index", "__locally_created__:string", "--index", "__locally_updated__:string",
        "--index", "__locally_deleted__:string", "--index", "__sync_id__:integer")
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account",
        "--merge-mode", "LEAVE_IF_CHANGED", "--name", "accounts")
      let line =
        #"{"Id":"local_1","Name":"New","__local__":true,"__locally_created__":true,"#
        + #""__locally_updated__":false,"__locally_deleted__":false,"attributes":{"type":"Account"}}"#
      _ = try await tool.json("store", "upsert", "accounts", input: line)
      let refusal = try await tool.failure("logout")
      #expect(refusal["code"] == "unsyncedRecords")
      #expect(refusal["message"]?.string?.contains("1 unsynced record") == true)
      #expect(try await tool.json("accounts")["accounts"]?.array?.count == 1)
      #expect(try await tool.json("logout", "--force")["unsyncedRecords"] == 1)
      #expect(try await tool.json("accounts")["accounts"] == [])
    }
  }

  @Test(.covers("CO-44.4"))
  func `a login whose last address is pasted goes wrong with words`() async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      let result = try await tool.run(
        ["login", "--url", server.info.url, "--paste", "--state", tool.state.path],
        input: "https://evil.example/?code=x\n")
      #expect(result.status == 1)
      #expect(result.errors.contains("paste the whole address"))
      #expect(result.errors.contains("/services/oauth2/authorize?"))
      #expect(result.errors.contains("was cancelled"))
    }
  }
  @Test(.covers("CO-49.3"))
  func `a scanned address continues its login, for its own app`() async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      func address(_ client: String) -> String {
        let start = "/services/oauth2/authorize?response_type=code&client_id=\(client)"
        let bridge =
          "\(server.info.url)/secur/frontdoor.jsp?otp=1&startURL="
          + PercentEncoding.encode(start)
        let json: JSONValue = [
          "frontdoor_bridge_url": .string(bridge), "pkce_code_verifier": "proof",
        ]
        return "https://acme.example/login/qr?bridgeJson=" + PercentEncoding.encode(json.text)
      }
      func logIn(_ scanned: String) async throws -> Tool.Result {
        try await tool.run(
          [
            "login", "--url", server.info.url, "--paste", "--state", tool.state.path, "--scanned",
            "@\(try tool.file("qr.txt", scanned))",
          ], input: "")
      }
      let shown = try await logIn(address("PlatformCLI"))
      #expect(shown.status == 1 && shown.errors.contains("\(server.info.url)/secur/frontdoor.jsp?"))
      let other = try await logIn(address("other"))
      #expect(other.status == 1 && other.errors.contains("was begun for app other"))
      let none = try await logIn("https://acme.example/login")
      #expect(none.status == 1 && none.errors.contains("holds no login"))
      #expect(try await tool("login", "--device", "--scanned", "@x").status == 2)
    }
  }

  @Test(.covers("CO-44.4", "HT-73.1"))
  func `without a browser the address is shown, and the login goes on`()
    async throws
  {
    try await withMockOrg { _, server in
      let tool = try Tool()
      // The browser of a user who refuses, on a machine that opens none.
      let result = try await tool.watch(
        ["login", "--url", server.info.url, "--browser", "--redirect-uri", "http://127.0.0.1:0/x"],
        path: "/nonexistent"
      ) { line in
        guard let page = URL(string: line.trimmed), page.path().hasSuffix("/authorize") else {
          return
        }
        let items = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func item(_ name: String) throws -> String {
          try #require(items.first { $0.name == name }?.value)
        }
        let end = URL(
          string: "\(try item("redirect_uri"))?error=access_denied&state=\(try item("state"))")
        _ = try await WebPage.load(URLRequest(url: try #require(end)))
      }
      #expect(result.status == 1)
      #expect(result.errors.contains("access_denied"))
    }
  }

  @Test func `tokens come from files and standard input too, out of sight of others`()
    async throws
  {
    try await withMockOrg { _, server in
      let tool = try Tool()
      let info = server.info
      let file = try tool.file("token", " \(info.accessToken)\nanother line\n")
      let lines = "\(info.accessToken)\n\(info.refreshToken)\n"
      for (access, refresh, input) in [
        ("@\(file)", "-", "\(info.refreshToken)\n"), ("-", "-", lines),
      ] {
        let account = try await tool.json(
          "login", "--url", info.url, "--access-token", access, "--refresh-token", refresh,
          input: input)
        #expect(account["userId"]?.string == info.userId)
      }
      for missing in ["-", "@\(file).none", "@\(try tool.file("empty", "\n"))"] {
        let error = try await tool.failure(
          "login", "--url", info.url, "--access-token", missing, input: "")
        #expect(error["code"] == "unreadable")
      }
    }
  }
}
