public import Foundation
import LocalServer
import SalesforceSDKCommon
public import SmartStore
import Synchronization

/// A local web page that shows an app's open resources: stores, entries, Smart SQL, syncs,
/// conflicts, accounts, key-value stores, requests and logs.
///
/// It listens only on 127.0.0.1. The address contains two random numbers that are new each time:
/// the page requires the one in the path, its data the one after `#`. It ends with ``stop()``, with
/// the process, or after 15 minutes without a request.
public final class Inspector: Sendable {
  /// The permissions of a page.
  public struct Access: Sendable, Hashable {
    let isReadOnly: Bool
    /// View only. Stores are opened for reading if possible, so that another process may write to
    /// them.
    public static let readOnly = Access(isReadOnly: true)
    /// View, resolve conflicts, undo edits, run syncs, log out and switch accounts.
    public static let readWrite = Access(isReadOnly: false)
  }

  /// The address of the page, with the token in its fragment. A secret: it gives access to all data.
  public let url: URL
  /// The port.
  public let port: Int

  private let server: LocalServer
  private let resources: InspectorResources
  private let idle: IdleWatch
  private let ending = Mutex<Task<Void, Never>?>(nil)

  private init(url: URL, server: LocalServer, resources: InspectorResources, idle: IdleWatch) {
    self.url = url
    port = server.port
    self.server = server
    self.resources = resources
    self.idle = idle
  }

  /// Starts an inspector and returns once it listens.
  ///
  /// - Parameters:
  ///   - app: The app to show.
  ///   - access: Default: ``Access/readOnly``.
  ///   - port: 0 chooses a free port. Default: 0.
  /// - Throws: ``InspectorError``.
  public static func start(
    showing app: InspectedApp, access: Access = .readOnly, port: Int = 0
  ) async throws(InspectorError) -> Inspector {
    try await start(showing: app, access: access, port: port, limits: InspectorLimits())
  }

  /// Starts an inspector with limits of the caller's.
  package static func start(
    showing app: InspectedApp, access: Access, port: Int = 0, limits: InspectorLimits
  ) async throws(InspectorError) -> Inspector {
    guard app.isDeveloperSupportEnabled else {
      throw InspectorError(
        .notEnabled,
        "Cannot start the inspector: developer support is off in this build. Set isDeveloperSupportEnabled of the "
          + "inspected app to switch it on.")
    }
    let files = try PageFiles()
    let secrets = InspectorSecrets()
    let resources = InspectorResources(app, access, limits)
    let idle = IdleWatch(limits.idleTime)
    let responder = InspectorResponder(
      secrets: secrets, files: files, resources: resources, idle: idle)
    let server: LocalServer
    do {
      server = try await LocalServer.start(
        responder, host: InspectorSecrets.host, port: port,
        onListening: { port in secrets.listens(on: port) })
    } catch {
      throw InspectorError(
        .cannotListen, "Cannot listen on port \(port). Choose another port, or 0 for any.",
        cause: error)
    }
    guard let url = URL(string: secrets.address(port: server.port)) else {
      preconditionFailure("an address of digits and letters is a URL")
    }
    let inspector = Inspector(url: url, server: server, resources: resources, idle: idle)
    idle.start { [weak inspector] in await inspector?.stop() }
    return inspector
  }

  /// Returns the address of the page of a store, with the token in its fragment. A secret as
  /// ``url``.
  public func url(ofStore name: String, owner: StoreOwner) -> URL {
    let page = "\(url.absoluteString)&/store/\(InspectorIds.store(name, owner))/soups"
    guard let url = URL(string: page) else {
      preconditionFailure("an address of digits and letters is a URL")
    }
    return url
  }

  /// Ends event streams and queries, and closes all connections and all stores that the inspector
  /// opened. The app's own stores stay open. You may call it more than once.
  public func stop() async {
    let task = ending.withLock { ending in
      let task =
        ending
        ?? Task { [server, resources, idle] in
          resources.hub.close()
          await server.stop()
          await resources.close()
          idle.end()
        }
      ending = task
      return task
    }
    await task.value
  }

  /// Waits until the inspector has ended: by ``stop()``, or because there was no request for 15 minutes. Returns earlier if
  /// the task is cancelled.
  public func waitForEnd() async { await idle.waitForEnd() }
}

/// The limits of requests to an inspector.
package struct InspectorLimits: Sendable {
  package var requestBytes = 1 << 20
  package var pageEntries = 500
  package var cellCharacters = 200
  package var textCharacters = 4096
  package var queryTime: Duration = .seconds(30)
  package var searchTime: Duration = .milliseconds(80)
  /// The size of an entry, its long texts cut, beyond which it is not shown.
  package var entryBytes = 1 << 20
  /// The texts of all rows of a query.
  package var resultBytes = 16 << 20
  package var streams = 4
  package var unreadEventBytes = 1 << 20
  package var idleTime: Duration = .seconds(15 * 60)

  package init() {}
}
