public import SalesforceSDKCommon
import Synchronization

/// The dispatcher between pages and plug-ins: a call names a service, and the plug-in of that name responds.
///
/// It is independent of servers and browsers. A transport gets a session from ``connect(_:)`` for
/// each page, passes the page's frames to it, and sends the frames that the session delivers.
/// Guarantees:
///
/// - Each call gets exactly one response, also for a service or an action that does not exist.
/// - Calls of a plug-in that keeps order are carried out, and get their responses, in the order in
///   which they arrive in their session. Calls of other plug-ins may run in any order.
/// - An accepted call is executed, even if its page is closed.
/// - If a page changes the current user, calls that arrived before are never executed for the next
///   user: they fail.
public final class HybridBridge: Sendable {
  /// The Mobile SDK version of the JavaScript that the bridge supports.
  public static let javaScriptVersion = "14.0.0"

  /// The limits for frames and calls of a page.
  public let limits: HybridLimits
  /// The names of all plug-ins, without aliases, in the order of registration.
  public let pluginNames: [String]

  let services: [String: Service]
  let plugins: [any HybridPlugin]
  /// The plug-in of a window, if there is one.
  let container: HybridContainer?
  private let state = Mutex(State())

  /// A plug-in with its place in the order of registration.
  struct Service {
    let plugin: any HybridPlugin
    let number: Int
  }

  private struct State {
    var lastId = 0
    var isClosed = false
    var sessions: [HybridSession.ID: HybridSession] = [:]
    var hasLoggedVersion = false
    /// The tasks that follow calls, such as events of syncs.
    var followers: [Int: Task<Void, Never>] = [:]
    var lastFollower = 0
    var users = UserChanges()
  }

  /// Creates a bridge to these plug-ins.
  ///
  /// - Throws: ``HybridError`` `duplicateService` if two of them have the same name.
  public init(
    plugins: [any HybridPlugin], limits: HybridLimits = HybridLimits()
  ) throws(HybridError) {
    var services: [String: Service] = [:]
    for (number, plugin) in plugins.enumerated() {
      for name in plugin.serviceNames {
        guard services[name] == nil else {
          throw HybridError(
            .duplicateService,
            "Cannot register two plug-ins for service \(name). Rename the service of one of them.")
        }
        services[name] = Service(plugin: plugin, number: number)
      }
    }
    self.plugins = plugins
    container = plugins.lazy.compactMap { $0 as? HybridContainer }.first
    self.services = services
    self.limits = limits
    pluginNames = plugins.compactMap(\.serviceNames.first)
  }

  /// Begins the session of one page.
  ///
  /// - Parameter send: Sends one frame to the page, in the order of the calls; it may suspend until
  ///   the page has accepted earlier ones. It is not called after the session has ended.
  /// - Throws: ``HybridError`` `closed`.
  public func connect(
    _ send: @escaping @Sendable (_ frame: [UInt8]) async -> Void
  ) throws(HybridError) -> HybridSession {
    let session = state.withLock { state -> HybridSession? in
      guard !state.isClosed else { return nil }
      state.lastId += 1
      let session = HybridSession(id: HybridSession.ID(state.lastId), bridge: self, send: send)
      state.sessions[session.id] = session
      return session
    }
    guard let session else { throw HybridError(.closed, "The bridge was closed. Start a new one.") }
    return session
  }

  /// The number of sessions that have not ended.
  public var sessionCount: Int { state.withLock { $0.sessions.count } }

  /// Sends an event to all pages.
  public func send(event name: String, detail: JSONValue) async {
    let frame = HybridResponse.event(name, detail)
    for session in state.withLock({ Array($0.sessions.values) }) { await session.deliver(frame) }
  }

  /// Sends an event to one session, if it has not ended.
  func send(event name: String, detail: JSONValue, to session: HybridSession.ID) async {
    guard let session = state.withLock({ $0.sessions[session] }) else { return }
    await session.deliver(HybridResponse.event(name, detail))
  }

  /// Ends all sessions and waits for running calls. No new sessions can be opened afterwards.
  public func close() async {
    let sessions = state.withLock { state in
      state.isClosed = true
      return Array(state.sessions.values)
    }
    for session in sessions { session.end() }
    for session in sessions { await session.waitUntilEnded() }
    let followers = state.withLock { Array($0.followers.values) }
    for follower in followers { follower.cancel() }
    for follower in followers { await follower.value }
  }

  /// Runs what follows a call, until the bridge is closed.
  func start(_ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.lastFollower += 1
      let number = state.lastFollower
      state.followers[number] = Task { [self] in
        await work()
        forgetFollower(number)
      }
    }
  }

  private func forgetFollower(_ number: Int) {
    state.withLock { $0.followers[number] = nil }
  }

  /// Reads or changes what is known of the current user.
  func withUsers<Result>(_ body: (inout UserChanges) -> Result) -> Result {
    state.withLock { body(&$0.users) }
  }

  func forget(_ session: HybridSession.ID) {
    state.withLock { $0.sessions[session] = nil }
  }

  /// Logs a difference between the versions of a page and the bridge, only once.
  func noteVersion(_ version: String?) {
    let version = version ?? ""
    guard version != Self.javaScriptVersion else { return }
    let isFirst = state.withLock { state in
      defer { state.hasLoggedVersion = true }
      return !state.hasLoggedVersion
    }
    guard isFirst else { return }
    let relation =
      PluginVersion.isOlder(version, than: Self.javaScriptVersion) ? "older" : "newer"
    HybridLogger.log.warning(
      "A page's JavaScript has version '\(version)', \(relation) than \(Self.javaScriptVersion) of the bridge."
    )
  }
}
