import ArgumentParser
import Foundation
import HybridServer
import LoopbackLogin
import SalesforceHybridSDK
import SalesforceReact
import SalesforceSDKCore

/// `fieldforce hybrid`: apps written in JavaScript.
struct HybridCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hybrid", abstract: "Run apps written in JavaScript.",
    subcommands: [HybridServeCommand.self, HybridOpenCommand.self])
}

/// `fieldforce hybrid serve`: serves an app's pages and the bridge until a signal ends it.
struct HybridServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the pages of an app, and the bridge to its stores and syncs.",
    discussion: """
      The first line of output is one JSON object: "url" is the address of the
      pages, "startUrl" that of the start page, and "socket" that of the WebSocket
      for programs. Each contains a token: keep them secret. Pages act for the
      current user of --state. A page may log in: the login page opens in the
      system's browser. SIGINT or SIGTERM ends the server.

      Examples:
        fieldforce hybrid serve --www my-app/www
        fieldforce hybrid serve --port 8100 --www my-app/www --app-name Notes \\
          --app-version 1.2
      """)

  @OptionGroup var options: HybridOptions

  func run() async throws {
    try await options.serve { server in
      print(server.info)
      // The reader of the first line may wait on a pipe.
      fflush(nil)
    }
  }
}

/// `fieldforce hybrid open`: serves an app and opens it in the system's browser.
struct HybridOpenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Serve an app and open it in the browser.",
    discussion: """
      Serves the app as 'hybrid serve' does and opens its start page. SIGINT or
      SIGTERM ends the server.

      Example:
        fieldforce hybrid open --www my-app/www
      """)

  @OptionGroup var options: HybridOptions

  func validate() throws {
    guard options.www != nil else { throw ValidationError("Name the app's folder with --www.") }
  }

  func run() async throws {
    try await options.serve { server in
      print(server.info)
      fflush(nil)
      guard let url = URL(string: server.startURL ?? server.url) else { return }
      try await SystemBrowser.open(url)
    }
  }
}

/// The options of both commands.
struct HybridOptions: ParsableArguments {
  @OptionGroup var state: StateOptions

  @Option(help: "The folder of the app's pages.", completion: .directory) var www: String?
  @Option(help: "The port; 0 takes a free one.") var port = 0
  @Option(help: "The app's name. Default: from config.xml or package.json of the app.")
  var appName: String?
  @Option(help: "The app's version. Default: from config.xml or package.json of the app.")
  var appVersion: String?
  @Option(
    help: """
      Where a page logs in. Default: the login server of the current user, else https://login.salesforce.com.
      """)
  var loginUrl: String?
  @Flag(help: "Offer the service com.salesforce.testrunner, for pages that run tests.")
  var testRunner = false
  @Option(
    help: ArgumentHelp(
      "Serve a window, as fieldforce-window starts it, on this Unix socket.",
      discussion:
        "Frames from the window are read from standard input, frames to it are written to standard output, one per line."
    ),
    completion: .file())
  var window: String?

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("\(port) is not a port.") }
  }

  /// Serves until a signal comes.
  ///
  /// - Parameter started: Called once the server listens; it is cancelled with the server.
  func serve(_ started: @escaping @Sendable (HybridServer) async throws -> Void) async throws {
    let signals = TerminationSignals()
    try await state.withWorkspace { workspace in
      try await workspace.unlock()
      let folder = www.map { URL(filePath: $0, directoryHint: .isDirectory) }
      var app = folder.map { HybridApp(www: $0) } ?? HybridApp()
      if let appName { app.name = appName }
      if let appVersion { app.version = appVersion }
      let login = try PageLogin(
        url: loginUrl, account: await workspace.accounts.current, boot: app.bootConfiguration,
        managed: workspace.managed, usesHybridGrants: window != nil)
      let host = workspace.hybridHost(app, www: folder, login)
      let window = try self.window.map {
        try PageWindow(socket: $0, host: host, state: state.folder, www: folder)
      }
      let bridge = try HybridBridge.standard(
        host: host,
        plugins: ReactModules.plugins(host: host)
          + [window?.container].compactMap(\.self).map { $0 as any HybridPlugin },
        runsTests: testRunner)
      if let folder { try await workspace.setUp(from: folder) }
      let server = try await HybridServer.start(
        bridge: bridge, www: folder, startPage: app.localStartPage, port: port,
        window: window?.entrance)
      do {
        try await withThrowingTaskGroup { group in
          group.addTask {
            if let window { return try await window.serve(bridge, server) }
            try await started(server)
            try await Task.sleep(for: .seconds(1 << 31))
          }
          group.addTask { await signals.first() }
          defer { group.cancelAll() }
          try await group.next()
        }
      } catch {
        await server.stop()
        throw error
      }
      // A page waits for this, and the server waits for the page.
      await workspace.accounts.cancelLogin()
      await server.stop()
    }
  }
}
