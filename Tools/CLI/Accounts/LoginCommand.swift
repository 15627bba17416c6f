import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// `fieldforce login`: makes an account, in one of several ways.
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Log in through the browser, with a signing key, or with existing tokens.",
    discussion: """
      Examples:
        fieldforce login --url https://acme.my.salesforce.com --browser \\
          --client-id 3MVG9...
        fieldforce login --url https://acme.my.salesforce.com --paste \\
          --client-id 3MVG9...
        fieldforce login --browser --scanned @qr.txt --client-id 3MVG9...
        fieldforce login --url https://login.salesforce.com --jwt-key server.key \\
          --username job@acme.example --client-id 3MVG9...
        fieldforce login --url http://127.0.0.1:8080 --access-token @token.txt \\
          --refresh-token @refresh.txt
        pass show acme | fieldforce login --url https://acme.my.salesforce.com \\
          --access-token -
      What stands on a command line is seen by every user of the machine, and the
      shell keeps it. So give tokens as @FILE, or as - for a line of standard input;
      for the tokens of an org for tests, anything goes.
      """)

  @Option(
    help: """
      The login server, or the tokens' instance: an https URL; on this machine also http. Default: the one that \
      'fieldforce hosts' shows as selected.
      """)
  var url: String?

  @Flag
  var way: Way?

  @Option(
    help: ArgumentHelp(
      "With --browser or --paste: the address of a QR code with which a login began elsewhere, @FILE, or - for a line of standard input.",
      valueName: "address"))
  var scanned: String?

  @Option(
    help: "A file with the private RSA key (PEM) of the connected app.", completion: .file())
  var jwtKey: String?

  @Option(help: "With --jwt-key: the user name to log in.")
  var username: String?

  @Option(help: "An access token, @FILE, or - for a line of standard input.")
  var accessToken: String?

  @Option(help: "The refresh token, @FILE, or - for the next line of standard input.")
  var refreshToken: String?

  @Option(help: "The consumer key of the connected app.")
  var clientId = Self.defaultClientId

  @Option(
    help: """
      The connected app's callback address; port 0 takes any free port. With --browser on Linux also one with a scheme of \
      its own, such as testsfdc:///mobilesdk/detect/oauth/done.
      """)
  var redirectUri = Self.defaultRedirectURI

  @Option(
    help: ArgumentHelp(
      """
      The user name or user id of an account that is logged in and whose org has moved to --url, for instance to a \
      new My Domain: the account goes there with its data. Without it such a login is refused.
      """, valueName: "user"))
  var moveAccount: String?

  @Flag(
    help: "With --browser or --paste: use the user-agent flow, whose redirect contains the tokens.")
  var userAgentFlow = false

  #if os(Linux)
    @Flag(
      name: .customLong("private"),
      help: "With --browser: use a private window, which shares no session with the others.")
    var isPrivate = false
  #else
    private var isPrivate: Bool { false }
  #endif

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  /// A login by a user.
  enum Way: EnumerableFlag {
    case browser, paste, device

    static func help(for value: Way) -> ArgumentHelp? {
      switch value {
      case .browser: "Log in through the system's browser."
      case .paste: "Log in with a browser elsewhere, and paste the address of its last page."
      case .device: "Log in with a code that is entered in a browser elsewhere."
      }
    }
  }

  /// The platform's own connected app for command lines, and its callback address.
  static let defaultClientId = "PlatformCLI"
  static let defaultRedirectURI = "http://localhost:1717/OauthRedirect"

  func validate() throws {
    let ways = [way != nil, jwtKey != nil, accessToken != nil].filter { $0 }
    guard ways.count == 1 else {
      throw ValidationError(
        "Give one of --browser, --paste, --device, --jwt-key and --access-token.")
    }
    guard refreshToken == nil || accessToken != nil else {
      throw ValidationError("--refresh-token requires --access-token.")
    }
    guard scanned == nil || way == .browser || way == .paste else {
      throw ValidationError("--scanned requires --browser or --paste.")
    }
    guard !isPrivate || way == .browser else {
      throw ValidationError("--private requires --browser.")
    }
    guard (username != nil) == (jwtKey != nil) else {
      throw ValidationError("--jwt-key and --username require each other.")
    }
  }

  func run() async throws {
    let named = try url.map { address throws(OAuthError) in try LoginServer(address) }
    try await state.withWorkspace { workspace in
      let server = named ?? workspace.loginHosts.selected.server
      // Tokens for web content are of no use to a command line tool.
      let app = try workspace.managed.current.applied(
        to: ConnectedApp(clientId: clientId, redirectURI: redirectUri, usesHybridGrants: false))
      if let moveAccount {
        // For this account alone: another server could take over the others.
        let account = try await workspace.account(named: moveAccount)
        try await workspace.accounts.confirmMove(of: account.identity, to: server)
      }
      let account = try await logIn(workspace.accounts, server, app)
      if workspace.screenLock.isLocked {
        // The first time it is the person's moment to choose a passcode.
        if workspace.passcode.isAvailable {
          try await workspace.unlock()
        } else {
          Console.say("The org demands a lock: 'fieldforce unlock' creates the passcode.")
        }
      }
      output.print(account.document(isCurrent: true)) {
        ["logged in as \(account.username) (\(account.identity))"]
      }
    }
  }

  private func logIn(
    _ accounts: UserAccountManager, _ server: LoginServer, _ app: ConnectedApp
  ) async throws -> UserAccount {
    if let accessToken {
      return try await accounts.logIn(
        .tokens(
          accessToken: try SecretArgument.read(accessToken, "token"),
          refreshToken: try refreshToken.map { try SecretArgument.read($0, "token") },
          instance: server, app: app))
    }
    if let jwtKey, let username {
      let key = try JWTSigningKey(
        pem: String(
          decoding: try InputFile.read(URL(filePath: jwtKey), maxBytes: 1 << 20), as: UTF8.self))
      return try await accounts.logIn(
        .grant(.jwtBearer(clientId: app.clientId, username: username, key: key), to: server))
    }
    if way == .device {
      return try await accounts.logIn(
        .device(to: server, app: app) { code in
          Console.say("open \(code.verificationURL) and enter \(code.userCode)")
        })
    }
    let presenter = presenter(of: app)
    guard let scanned else {
      return try await accounts.logIn(
        .browser(
          to: server, app: app, presenter: presenter,
          options: LoginOptions(flow: userAgentFlow ? .userAgent : .webServer)))
    }
    let bridge = try BridgeLogin(
      scanned: try SecretArgument.read(scanned, "address"),
      hosts: [server.url.host() ?? ""])
    return try await accounts.logIn(.scanned(bridge, app: app, presenter: presenter))
  }

  /// Shows the login page in this machine's browser, or in another one.
  private func presenter(of app: ConnectedApp) -> any LoginPresenter {
    switch way {
    case .paste:
      let lines = Mutex(0)
      return PastedLoginPresenter { page in
        Console.say("open this address, log in, and paste the address of the browser's last page:")
        Console.say(page.absoluteString)
      } read: {
        let line = lines.withLock { lines in
          lines += 1
          return lines
        }
        if line > 1 { Console.say("not the address of this login; paste the whole address") }
        return StandardInput.line()
      }
    case .browser, .device, nil:
      return BrowserLogin.presenter(for: app, isPrivate: isPrivate)
    }
  }
}

extension UserAccount {
  /// `{"username", "userId", "organizationId", "instanceUrl", "current"}`.
  func document(isCurrent: Bool) -> JSONValue {
    [
      "username": .string(username), "userId": .string(userId),
      "organizationId": .string(organizationId),
      "instanceUrl": credentials.instanceURL.map { .string($0.absoluteString) } ?? .null,
      "current": .bool(isCurrent),
    ]
  }
}
