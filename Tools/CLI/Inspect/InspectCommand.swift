import ArgumentParser
import FieldforceInspector
import Foundation
import LoopbackLogin
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// `fieldforce inspect`: serves a page that shows the stores of a state folder, until a signal ends it.
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Look into stores, syncs and conflicts in a browser.",
    discussion: """
      Prints the address of a page. The address contains a token: keep it secret.
      The server listens only on this machine. It ends with SIGINT or SIGTERM, or
      after 15 minutes without a request.

      Stores are opened read-only, even while another process writes to them, and
      for writing only while the page changes something.

      Examples:
        fieldforce inspect --open
        fieldforce inspect --read-only --store orders
      """)

  @Flag(help: "Open the page in the browser.") var open = false
  @Option(help: "The port; 0 takes a free one.") var port = 0
  @Flag(help: "Refuse everything that changes data.") var readOnly = false
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("\(port) is not a port.") }
  }

  func run() async throws {
    let signals = TerminationSignals()
    let recorder = InspectorRecorder()
    recorder.receiveLogs()
    try await store.state.withWorkspace(recorder: recorder) { workspace in
      try await workspace.unlock()
      let inspector = try await Inspector.start(
        showing: workspace.inspectedApp(recorder), access: readOnly ? .readOnly : .readWrite,
        port: port)
      do {
        try await show(try await address(of: inspector, workspace), signals, inspector)
      } catch {
        await inspector.stop()
        throw error
      }
      await inspector.stop()
    }
  }

  /// The address of the page, or of the page of the store that the options name.
  private func address(of inspector: Inspector, _ workspace: Workspace) async throws -> URL {
    guard store.store != nil || store.global else { return inspector.url }
    let owner = store.global ? StoreOwner.global : StoreOwner(try await workspace.currentAccount())
    let name = store.store ?? SmartStore.defaultStoreName
    guard try workspace.stores.storeExists(withName: name, forUserAccount: owner) else {
      throw CommandFailure(
        "unknownStore",
        "There is no store '\(name)'. 'fieldforce store list\(store.global ? " --global" : "")' lists them."
      )
    }
    return inspector.url(ofStore: name, owner: owner)
  }

  /// Prints the address and waits for the end.
  private func show(
    _ url: URL, _ signals: TerminationSignals, _ inspector: Inspector
  ) async throws {
    output.print(["url": .string(url.absoluteString)]) { [url.absoluteString] }
    // The reader of the first line may wait on a pipe.
    fflush(nil)
    try await withThrowingTaskGroup { group in
      group.addTask {
        // The address must not be in the arguments of a program.
        if open { try await SystemBrowser.open(url) }
        try await Task.sleep(for: .seconds(1 << 31))
      }
      group.addTask { await signals.first() }
      group.addTask { await inspector.waitForEnd() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

extension Workspace {
  /// The app that the page shows.
  fileprivate func inspectedApp(_ recorder: InspectorRecorder) -> InspectedApp {
    var app = InspectedApp(name: "fieldforce", stores: stores)
    app.accounts = accounts
    app.syncTargets = registry
    app.syncs = InspectedApp.SyncRunner(managers: managers) { [accounts, transport, userAgent] in
      RestClient(account: $0, accounts: accounts, transport: transport, userAgent: userAgent)
    }
    app.recorder = recorder
    app.userAgent = userAgent.text()
    app.managedFile = managed
    app.loginHosts = loginHosts
    app.closesStores = true
    // Running the command is the request for developer support.
    app.isDeveloperSupportEnabled = true
    return app
  }
}
