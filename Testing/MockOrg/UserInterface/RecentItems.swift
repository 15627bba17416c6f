import Synchronization

/// Which records each user has had to do with last.
final class RecentItems: Sendable {
  /// What the platform keeps of an object.
  private static let capacity = 200
  private let state = Mutex<[String: [String]]>([:])

  /// Notes that a user has seen, made or changed a record.
  func view(_ id: String, by userID: String) {
    state.withLock { items in
      if items[userID]?.first == id { return }
      items[userID, default: []].removeAll { $0 == id }
      items[userID, default: []].insert(id, at: 0)
      if items[userID, default: []].count > Self.capacity { items[userID]?.removeLast() }
    }
  }

  /// A user's records, the last one first.
  func items(of userID: String) -> [String] { state.withLock { $0[userID] ?? [] } }

  func removeAll() { state.withLock { $0 = [:] } }
}
