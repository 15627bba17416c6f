import Foundation
import IdentityLogin
import IdentityProviderURLs
import PeerSocket
import SalesforceSDKCommon
import SalesforceSDKCore

/// The second process of the tests of logins through another app.
///
/// `IdentityLoginChild provider CONFIGURATION` is an identity provider: it prints `ready`, then what happens, and takes
/// `login SOCKET USER PAGE` lines; it ends with its standard input. `IdentityLoginChild send SOCKET TEXT` sends one message.
@main
struct IdentityLoginChild {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "provider" where arguments.count == 3: try await serve(URL(filePath: arguments[2]))
    case "send" where arguments.count == 4: try await send(arguments[3], to: arguments[2])
    default:
      FileHandle.standardError.write(Data("wrong arguments\n".utf8))
      exit(2)
    }
  }

  private static func send(_ text: String, to path: String) async throws {
    do {
      let response = try await PeerSocket.exchange(Array(text.utf8), at: path)
      say("response \(String(decoding: response, as: UTF8.self))")
    } catch let error as PeerSocketError {
      say("error \(error.code)")
    }
  }

  private static func serve(_ file: URL) async throws {
    let configuration = try JSONDecoder().decode(
      ProviderConfiguration.self, from: try Data(contentsOf: file))
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    let server = try LoginServer(configuration.org)
    for token in configuration.tokens {
      try await accounts.logIn(.tokens(accessToken: token, instance: server))
    }
    let app = ServiceProviderApp(
      clientId: configuration.clientId, redirectURI: configuration.redirectURI, name: "Orders",
      scopes: configuration.scopes.map(Set.init), executables: Set(configuration.executables))
    let provider = IdentityProvider(
      accounts: accounts, apps: [app], transport: transport,
      delegate: Person(choice: configuration.choice))
    let events = provider.events()
    let reporting = Task {
      for await event in events {
        let code = (event.error as? IdentityLoginError).map { " \($0.code)" } ?? ""
        say("event \(event.kind) \(event.command)\(code)")
      }
    }
    let listener = try await provider.listen(
      on: IdentitySocket(path: configuration.socket), allowsRoot: true)
    say("ready")
    let (lines, sink) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { sink.yield(line) }
      sink.finish()
    }
    for await line in lines {
      await start(line, provider, app, accounts)
    }
    await listener.stop()
    await accounts.close()
    reporting.cancel()
  }

  /// `login SOCKET USER PAGE`, each of the last two `-` for none.
  private static func start(
    _ line: String, _ provider: IdentityProvider, _ app: ServiceProviderApp,
    _ accounts: UserAccountManager
  ) async {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 4, words[0] == "login" else { return say("error line") }
    let user = await accounts.accounts.first { $0.username == words[2] }?.identity
    do {
      try await provider.startLogin(
        of: app, as: user, startURL: words[3] == "-" ? nil : words[3],
        through: IdentitySocket(path: words[1]))
      say("finished")
    } catch let error as IdentityLoginError {
      say("failed \(error.code) \(error.reason ?? "-")")
    } catch {
      say("failed \(error)")
    }
  }

  /// In one piece, past any buffer.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// The user of the provider.
  private struct Person: IdentityProviderDelegate {
    let choice: String

    func chooseAccount(
      among accounts: [UserAccount], for request: IdentityRequest
    ) async throws -> UserAccount? {
      say("choose \(request.app.name) \(request.claimedName ?? "-") \(accounts.count)")
      switch choice {
      case "cancel": return nil
      case "never":
        try await Task.sleep(for: .seconds(3600))
        return nil
      default: return accounts.first { $0.username == choice } ?? accounts.first
      }
    }

    func confirm(_ request: IdentityRequest) async -> Bool {
      say("confirm \(request.peer?.executable == nil ? "unknown" : "program")")
      return choice != "refuse"
    }
  }
}

/// What the tests write for a provider.
struct ProviderConfiguration: Codable {
  var socket: String
  var org: String
  var tokens: [String]
  var clientId: String
  var redirectURI: String
  var scopes: [String]?
  var executables: [String]
  /// `first`, a user name, `cancel`, `never`, or `refuse`: what the user does.
  var choice: String
}
