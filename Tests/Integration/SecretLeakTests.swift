import Foundation
import HTTPTypes
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

/// CO-67, CA-20: nothing that is written, logged, thrown or put into an address shows a token.
@Suite struct SecretLeakTests {
  @Test(.covers("CO-67", "CO-61.2", "CA-20.3"))
  func `no file, log, address, error or description shows a secret`()
    async throws
  {
    try await Turns.logging.run {
      let folder = try TemporaryFolder()
      let transport = Eavesdropper(URLSessionTransport())
      let heard = Mutex<[String]>([])
      SalesforceLogger.setReceivers { _ in Listener { line in heard.withLock { $0.append(line) } } }
      defer { SalesforceLogger.setReceivers(nil) }
      let logger = SalesforceLogger.logger(forComponent: "SalesforceSDKCore")
      let level = logger.level
      logger.level = .verbose
      defer { logger.level = level }
      var options = MockOrgOptions()
      options.rotatesRefreshTokens = true
      var shown: [String] = []
      try await withMockOrg(options) { org, server in
        let secrets = FileSecretStore(
          in: folder.url, masterKey: KeyFile(folder.file("master.key")))
        let accounts = try await UserAccountManager(
          persister: EncryptedAccountDirectory(root: folder.url, secrets: secrets),
          transport: transport)
        let app = ConnectedApp(
          clientId: server.info.clientId, redirectURI: "http://127.0.0.1:0/callback")
        let login = try LoginServer(server.info.url)
        let account = try await accounts.logIn(
          .browser(
            to: login, app: app, presenter: LoopbackLoginPresenter { try await Self.person($0) }))
        let client = RestClient(account: account, accounts: accounts, transport: transport)
        for _ in 0..<2 {
          org.expireAccessTokens()
          _ = try await client.send(.limits())
        }
        // Failures say much; they must not say that.
        let failures: [() async throws -> Void] = [
          { _ = try await client.send(.query("SELECT Nonsense FROM Nowhere")) },
          {
            try await accounts.logIn(
              .password(username: "jane@example.com", password: "Geheimnis1", to: login, app: app))
          },
          {
            try await accounts.logIn(
              .grant(.assertion(clientId: "c") { _ in "aaa.Geheimnis1.c" }, to: login))
          },
          { try await accounts.logIn(.tokens(accessToken: "Geheimnis1", instance: login)) },
          {
            org.revokeAllTokens()
            _ = try await client.send(.limits())
          },
        ]
        for failure in failures {
          do {
            try await failure()
            Issue.record("it did not fail")
          } catch {
            shown += ["\(error)", String(reflecting: error), Self.dumped(error)]
          }
        }
        let last = try #require(await accounts.account(for: account.identity))
        shown += ["\(last)", Self.dumped(last)]
        shown += transport.requests.map { "\($0) \(String(reflecting: $0))" }
        await accounts.close()
      }
      let secrets = transport.secrets.union(["Geheimnis1", "fieldforce1"])
      // Access and refresh tokens of three exchanges, a code and its verifier.
      #expect(secrets.count >= 9)
      let log = heard.withLock { $0 }
      #expect(!log.isEmpty)
      let addresses = transport.requests.map(\.url.absoluteString)
      let files = try Self.contents(of: folder.url)
      #expect(files.count >= 3)
      for secret in secrets {
        #expect(!log.contains { $0.contains(secret) }, "a log line shows a secret")
        #expect(!addresses.contains { $0.contains(secret) }, "an address shows a secret")
        #expect(!shown.contains { $0.contains(secret) }, "an error or a description shows a secret")
        for (name, bytes) in files {
          #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(name) shows a secret")
        }
      }
    }
  }

  /// Fills in the login page.
  private static func person(_ page: URL) async throws {
    let form = try await WebPage.load(URLRequest(url: page)).text
    var items = [("username", "admin@fieldforce.example"), ("password", "fieldforce1")]
    for match in form.matches(of: #/<input type="hidden" name="([^"]+)" value="([^"]*)">/#) {
      items.append((String(match.output.1), String(match.output.2).replacing("&amp;", with: "&")))
    }
    let action = try #require(form.firstMatch(of: #/<form[^>]* action="([^"]+)"/#)).output.1
    var request = URLRequest(url: try #require(URL(string: String(action), relativeTo: page)))
    request.httpMethod = "POST"
    request.httpBody = Data(
      items.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&").utf8)
    _ = try await WebPage.load(request)
  }

  private static func dumped(_ value: Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
  }

  /// All files below a folder.
  private static func contents(of folder: URL) throws -> [(String, Data)] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try names.compactMap { name in
      let url = folder.appending(path: name)
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        return nil
      }
      return (name, try Data(contentsOf: url))
    }
  }
}

/// A transport that remembers every secret that goes over it.
private final class Eavesdropper: HTTPTransport {
  private let base: URLSessionTransport
  private let kept = Mutex<(secrets: Set<String>, requests: [TransportRequest])>(([], []))

  init(_ base: URLSessionTransport) { self.base = base }

  var secrets: Set<String> { kept.withLock { $0.secrets } }
  var requests: [TransportRequest] { kept.withLock { $0.requests } }

  func send(_ request: TransportRequest) async throws -> RestResponse {
    var found: [String] = []
    let form = QueryParameters(query: String(decoding: request.body ?? [], as: UTF8.self))
      .dictionary
    for name in ["code", "code_verifier", "refresh_token", "token", "assertion"] {
      found += form[name].map { [$0] } ?? []
    }
    let response = try await base.send(request)
    if let json = try? JSONSlice(parsing: response.body) {
      for name in ["access_token", "refresh_token", "id_token"] {
        found += json[name]?.string.map { [$0] } ?? []
      }
    }
    kept.withLock {
      $0.secrets.formUnion(found.filter { $0.count > 8 })
      $0.requests.append(request)
    }
    return response
  }
}

/// Hands every record on as text.
private struct Listener: LogReceiver {
  let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  func receive(_ record: LogRecord) {
    // With the error as it came: what is safe by redaction alone is not safe enough.
    tell("\(record.text) \(String(reflecting: record.error))")
  }
}
