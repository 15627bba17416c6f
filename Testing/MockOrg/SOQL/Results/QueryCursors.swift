import Synchronization

/// A result of several pages: which records it has, found once.
struct QueryCursor: Sendable {
  let query: SOQLQuery
  /// The rowids of the result in order.
  let keys: [Int64]
  let batchSize: Int
  let userID: String
}

/// The results whose next pages a client may still ask for.
final class QueryCursors: Sendable {
  private struct State {
    var cursors: [String: QueryCursor] = [:]
    var order: [String] = []
    var last = 0
    var keyCount = 0
  }

  /// The oldest results are discarded for a new one beyond these numbers: of results, and of records in
  /// all of them.
  private static let capacity = (results: 2000, keys: 8_000_000)

  private let state = Mutex(State())

  /// Keeps a result and gives it a locator.
  func insert(_ cursor: QueryCursor) -> String {
    state.withLock { state in
      state.last += 1
      let locator = RecordID.make(prefix: "01g", number: state.last)
      state.cursors[locator] = cursor
      state.order.append(locator)
      state.keyCount += cursor.keys.count
      while state.order.count > 1,
        state.order.count > Self.capacity.results || state.keyCount > Self.capacity.keys
      {
        let oldest = state.cursors.removeValue(forKey: state.order.removeFirst())
        state.keyCount -= oldest?.keys.count ?? 0
      }
      return locator
    }
  }

  func cursor(_ locator: String) -> QueryCursor? { state.withLock { $0.cursors[locator] } }

  /// Gives up all results.
  func removeAll() {
    state.withLock { state in
      state.cursors = [:]
      state.order = []
      state.keyCount = 0
    }
  }
}
