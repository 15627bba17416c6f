import Synchronization

/// What the control endpoint keeps: who may use it, and snapshots by name.
final class ControlState: Sendable {
  private struct State {
    var tokens: Set<String> = []
    var snapshots: [String: MockOrgSnapshot] = [:]
    var address = ""
  }

  private let state = Mutex(State())
  /// The key with which a browser opens the start page; it stands in the connection document alone.
  let pageKey = Sessions.randomText(40)
  /// What a browser gets that opens the start page with the key.
  let cookie = Sessions.randomText(40)

  /// Lets the holder of a token in, whatever becomes of the session that the token stands for.
  func admit(_ token: String) { state.withLock { _ = $0.tokens.insert(token) } }

  func isAdmitted(_ token: String) -> Bool { state.withLock { $0.tokens.contains(token) } }

  /// Notes where a server has begun to serve the org.
  func serve(at address: String) { state.withLock { $0.address = address } }

  /// Where the org was served last; empty if it never was.
  var address: String { state.withLock { $0.address } }

  func keep(_ snapshot: MockOrgSnapshot, as name: String) {
    state.withLock { $0.snapshots[name] = snapshot }
  }

  func snapshot(_ name: String) -> MockOrgSnapshot? { state.withLock { $0.snapshots[name] } }

  var snapshotNames: [String] { state.withLock { $0.snapshots.keys.sorted() } }
}
