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
  }

  /// The oldest result is given up for a new one beyond this number.
  private static let capacity = 50

  private let state = Mutex(State())

  /// Keeps a result and gives it a locator.
  func insert(_ cursor: QueryCursor) -> String {
    state.withLock { state in
      state.last += 1
      let locator = RecordID.make(prefix: "01g", number: state.last)
      state.cursors[locator] = cursor
      state.order.append(locator)
      if state.order.count > Self.capacity { state.cursors[state.order.removeFirst()] = nil }
      return locator
    }
  }

  func cursor(_ locator: String) -> QueryCursor? { state.withLock { $0.cursors[locator] } }

  /// Gives up all results.
  func removeAll() {
    state.withLock { state in
      state.cursors = [:]
      state.order = []
    }
  }
}
