import SalesforceSDKCommon
import SmartStore
import Synchronization

/// The open cursors of all pages. A cursor belongs to its page and its store, and is closed with the page.
final class StoreCursors: Sendable {
  /// A cursor: the query and its totals, not the results.
  struct Cursor: Sendable {
    let id: Int64
    let spec: QuerySpec
    let totalEntries: Int64
    /// The number of changes of the current user when the cursor was opened.
    let userNumber: Int

    /// The number of pages when the cursor was opened.
    var totalPages: Int64 {
      let size = Int64(spec.pageSize)
      return totalEntries / size + (totalEntries % size == 0 ? 0 : 1)
    }

    /// The page with this index, or the first or last one if there is none.
    func nearestPage(to index: Int64) -> Int { Int(max(0, min(index, totalPages - 1))) }

    /// The form in which a page receives it (HT-26).
    func json(page: Int, entries: [UInt8]) -> HybridValue {
      let head: JSONValue = [
        "cursorId": .integer(id), "currentPageIndex": .integer(Int64(page)),
        "pageSize": .integer(Int64(spec.pageSize)), "totalEntries": .integer(totalEntries),
        "totalPages": .integer(totalPages),
      ]
      var bytes = Array(head.text.utf8)
      bytes.removeLast()
      bytes.reserveCapacity(bytes.count + entries.count + 32)
      bytes.append(contentsOf: #","currentPageOrderedEntries":"#.utf8)
      bytes.append(contentsOf: entries)
      bytes.append(UInt8(ascii: "}"))
      return HybridValue(checkedJSON: bytes)
    }
  }

  private struct State {
    var lastId: Int64 = 0
    var cursors: [HybridSession.ID: [StoreSelection: [Int64: Cursor]]] = [:]
  }

  private let state = Mutex(State())

  /// The number of open cursors.
  var count: Int {
    state.withLock { state in
      state.cursors.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
    }
  }

  func open(
    _ spec: QuerySpec, total: Int64, in store: StoreSelection, of session: HybridSession.ID,
    user: Int
  ) -> Cursor {
    state.withLock { state in
      state.lastId += 1
      let cursor = Cursor(
        id: state.lastId, spec: spec, totalEntries: total, userNumber: user)
      state.cursors[session, default: [:]][store, default: [:]][cursor.id] = cursor
      return cursor
    }
  }

  /// A cursor that is open. One on a user's store ends with the user.
  func cursor(
    _ id: Int64, in store: StoreSelection, of session: HybridSession.ID, user: Int
  ) throws(HybridError) -> Cursor {
    guard let cursor = state.withLock({ $0.cursors[session]?[store]?[id] }),
      store.isGlobal || cursor.userNumber == user
    else {
      throw HybridError(
        .invalidArguments, "Invalid cursor id: \(id). Open a cursor of this store first.")
    }
    return cursor
  }

  /// Closes a cursor. One that is not open is not an error.
  func close(_ id: Int64, in store: StoreSelection, of session: HybridSession.ID) {
    state.withLock { $0.cursors[session]?[store]?[id] = nil }
  }

  /// Closes the cursors of a page.
  func closeAll(of session: HybridSession.ID) {
    state.withLock { $0.cursors[session] = nil }
  }
}
