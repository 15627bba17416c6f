import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The children of a query's records: of a sub-select with many records the server returns a page of its own.
enum ChildPages {
  /// The depth of a sub-select, and the pages that were fetched for one page of a query, at every depth.
  struct Level: Sendable {
    /// The maximum depth: the platform's queries have four levels of sub-selects.
    static let maxDepth = 5
    /// The maximum number of pages for one page of a query. Each of its 2,000 records may have 50 pages of children.
    static let maxPages = 100_000

    private final class Count: Sendable { let pages = Mutex(0) }
    private let count = Count()
    private(set) var depth = 0

    /// The level of a sub-select of this one.
    var next: Level {
      var level = self
      level.depth += 1
      return level
    }

    /// Counts one more page; false if it is one too many.
    func allowsPage() -> Bool {
      depth <= Self.maxDepth
        && count.pages.withLock { pages in
          pages += 1
          return pages <= Self.maxPages
        }
    }
  }

  /// The records with all their children.
  ///
  /// The rest of each sub-select is fetched, at every depth, and the member gets the form of one that was complete at once:
  /// `{"totalSize": 600, "done": true, "records": […]}`. Other records stay as they are.
  ///
  /// - Parameter level: That of the records.
  /// - Throws: As ``SyncContext/json(for:)``; ``SyncError`` `unexpectedResponse` if an incomplete list leads to no further
  ///   page, or its pages do not end, see ``PageTrail``; if lists are nested deeper than ``Level/maxDepth`` or the records
  ///   have more than ``Level/maxPages`` pages of children.
  static func complete(
    _ records: JSONSlice, of request: RestRequest, at level: Level, in context: SyncContext
  ) async throws -> [JSONSlice] {
    // Nearly all pages have no such list, and most no sub-select.
    guard records.mentionsNextPage else { return Array(records.elements) }
    var completed: [JSONSlice] = []
    for record in records.elements {
      completed.append(try await complete(record: record, of: request, at: level, in: context))
    }
    return completed
  }

  private static func complete(
    record: JSONSlice, of request: RestRequest, at level: Level, in context: SyncContext
  ) async throws -> JSONSlice {
    guard record.mentionsNextPage else { return record }
    var changed: [(key: String, value: JSONValue)] = []
    for (name, list) in record.members {
      guard list.kind == .object, list.mentionsNextPage, let children = list[SyncKeys.records],
        children.kind == .array
      else { continue }
      let isDone = list[SyncKeys.done]?.bool
      let next = isDone == true ? nil : list[SyncKeys.nextRecordsURL]?.string
      if next == nil ? isDone == false : next == "" {
        throw SyncContext.unexpectedForm(
          record, of: request,
          expected: "a record whose '\(name)' are complete or lead to another page")
      }
      var all = try await complete(children, of: request, at: level.next, in: context)
      if let next {
        all += try await IdQuery.allRecords(
          of: .queryMore(nextRecordsURL: next), at: level.next, in: context)
      }
      var members = list.value.object ?? [:]
      if next != nil {
        members[SyncKeys.nextRecordsURL] = nil
        members[SyncKeys.done] = true
      }
      members[SyncKeys.records] = .array(all.map(\.value))
      changed.append((name, .object(members)))
    }
    return changed.isEmpty ? record : try record.setting(changed)
  }
}

extension JSONSlice {
  /// Whether the text has the key of a further page anywhere; it may also be part of a value.
  fileprivate var mentionsNextPage: Bool {
    withUTF8 { $0.contains(text: SyncKeys.nextRecordsURL) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes of a text stand somewhere. It looks at about one of as many bytes as the text has (Horspool).
  fileprivate func contains(text: String) -> Bool {
    let wanted = Array(text.utf8)
    let last = wanted.count - 1
    var steps = [Int](repeating: wanted.count, count: 256)
    for (index, byte) in wanted.dropLast().enumerated() { steps[Int(byte)] = last - index }
    var start = 0
    while start + last < count {
      let end = self[start + last]
      if end == wanted[last], self[start..<start + last].elementsEqual(wanted.dropLast()) {
        return true
      }
      start += steps[Int(end)]
    }
    return false
  }
}
