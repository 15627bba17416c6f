import Foundation
import IdentityLogin
import IdentityProviderURLs
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Subprocess
import Synchronization
import TestSupport
import Testing

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// An identity provider in a process of its own, an app in this process, and their org.
final class TwoApps: Sendable {
  /// The connected app of the app in this process.
  static let app = ConnectedApp(
    clientId: "3MVG9.orders", redirectURI: "orders:///done", scopes: ["api", "id"])
  static let secondUser = "second@acme.example"

  let server: MockOrgServer
  let accounts: UserAccountManager
  let markers = FeatureMarkers()
  let transport = URLSessionTransport()
  let folder: TemporaryFolder

  /// Where the provider listens.
  var providerSocket: IdentitySocket { IdentitySocket(path: folder.file("idp.sock").path) }
  /// Where the app listens.
  var appSocket: IdentitySocket { IdentitySocket(path: folder.file("app.sock").path) }

  private init(_ server: MockOrgServer) async throws {
    self.server = server
    folder = try TemporaryFolder()
    var options = UserAccountManager.Options()
    options.markers = markers
    accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport, options: options)
  }

  static func with(_ body: @Sendable (TwoApps) async throws -> Void) async throws {
    var options = MockOrgOptions()
    options.otherClientIds.insert(app.clientId)
    options.otherUsers = [
      MockOrgUser(
        username: secondUser, password: "second", firstName: "Second", lastName: "User")
    ]
    let org = try MockOrg(options)
    try await MockOrgServer.withServer(org) { server in
      let apps = try await TwoApps(server)
      try await body(apps)
      await apps.accounts.close()
    }
  }

  var login: LoginServer { get throws { try LoginServer(server.info.url) } }

  func serviceProvider(
    carrier: (any IdentityCarrier)? = nil, fallback: (any LoginPresenter)? = nil,
    delegate: (any ServiceProviderDelegate)? = nil, providerExecutables: Set<String> = [],
    timeLimit: Duration = .seconds(30)
  ) -> ServiceProvider {
    ServiceProvider(
      accounts: accounts, app: Self.app, appName: "My Orders", providerScheme: "acmeidp",
      carrier: carrier ?? providerSocket, fallback: fallback, delegate: delegate,
      providerExecutables: providerExecutables, timeLimit: timeLimit)
  }

  /// The lines that the provider says, and a way to tell it something.
  final class Provider {
    private let nextLine: () async throws -> String?
    let say: (String) async throws -> Void
    /// Lines that came while another one was awaited: events and calls of the delegate have no order between them.
    private var skipped: [String] = []

    init(
      nextLine: @escaping () async throws -> String?, say: @escaping (String) async throws -> Void
    ) {
      self.nextLine = nextLine
      self.say = say
    }

    /// Takes the first line that begins so, whatever came before it.
    @discardableResult
    func wait(for start: String) async throws -> String {
      if let place = skipped.firstIndex(where: { $0.hasPrefix(start) }) {
        return skipped.remove(at: place)
      }
      while let line = try await nextLine()?.trimmed {
        if line.hasPrefix(start) { return line }
        skipped.append(line)
      }
      throw EndedEarly(awaited: start)
    }
  }

  struct EndedEarly: Error { let awaited: String }

  /// Runs a provider while `body` does.
  ///
  /// - Parameters:
  ///   - choice: What its user does: `first`, a user name, `cancel`, `never` or `refuse`.
  ///   - isListed: Whether this process is one of the app's programs.
  ///   - tokens: The sessions it begins with. Default: that of the org's first user.
  func withProvider(
    choice: String = "first", isListed: Bool = true, clientId: String = app.clientId,
    scopes: [String]? = nil, tokens: [String]? = nil,
    _ body: (Provider) async throws -> Void
  ) async throws {
    let configuration = ProviderSetting(
      socket: providerSocket.path, org: server.info.url,
      tokens: tokens ?? [server.info.accessToken], clientId: clientId,
      redirectURI: Self.app.redirectURI, scopes: scopes,
      executables: isListed ? [try Self.thisProgram] : [], choice: choice)
    let file = folder.file("provider.json")
    try JSONEncoder().encode(configuration).write(to: file)
    _ = try await Subprocess.run(
      .path(Self.child()), arguments: ["provider", file.path], input: .inputWriter,
      output: .sequence, error: .discarded
    ) { execution in
      var iterator = execution.standardOutput.strings().makeAsyncIterator()
      do {
        let provider = Provider(
          nextLine: { try await iterator.next() },
          say: { _ = try await execution.standardInputWriter.write($0 + "\n") })
        try await provider.wait(for: "ready")
        try await body(provider)
        try await execution.standardInputWriter.finish()
      } catch {
        try execution.send(signal: .kill)
        throw error
      }
      while try await iterator.next() != nil {}
    }
  }

  /// The program of this process, as the kernel names it.
  static var thisProgram: String {
    get throws { try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }
  }

  static func child() throws -> FilePath {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let tests = try #require(bundle ?? Bundle.main.executableURL)
    return FilePath(
      tests.deletingLastPathComponent().appending(path: "IdentityLoginChild").path)
  }
}

/// What the child reads.
struct ProviderSetting: Codable {
  var socket: String
  var org: String
  var tokens: [String]
  var clientId: String
  var redirectURI: String
  var scopes: [String]?
  var executables: [String]
  var choice: String
}

/// A user of the app who agrees, and the pages that were opened.
final class AgreeableUser: ServiceProviderDelegate {
  let agrees: Bool
  let opened = Mutex<[String]>([])

  init(agrees: Bool = true) { self.agrees = agrees }

  func confirmLogin(of user: UserAccountIdentity?, from peer: IdentityPeer?) async -> Bool {
    agrees
  }

  func open(_ startURL: String, for account: UserAccount) async {
    opened.withLock { $0.append("\(startURL) \(account.username)") }
  }
}
