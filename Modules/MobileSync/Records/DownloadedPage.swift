import SalesforceSDKCommon
import SmartStore

/// A page as it came, looked through before it is saved.
struct DownloadedPage<Cursor: Sendable>: Sendable {
  let records: [JSONSlice]
  /// The records' ids, in the same order.
  let ids: [String]
  /// The newest modification date; -1 if a record has none that can be read.
  let latest: Int64
  let totalSize: Int?
  let next: Cursor?

  /// Looks through a page.
  ///
  /// - Throws: ``SyncError`` `recordWithoutId` if a record cannot be matched to a row.
  init(_ page: SyncPage<Cursor>, idField: String, dateField: String) throws(SyncError) {
    var ids: [String] = []
    ids.reserveCapacity(page.records.count)
    var latest: Int64 = -1
    var hasAllDates = true
    for record in page.records {
      guard let id = record[idField]?.string, !id.isEmpty else {
        throw SyncError(
          .recordWithoutId,
          "A downloaded record has no text in its id field '\(idField)', so it cannot be matched to a "
            + "soup entry. Let the target fetch that field, or name another with idFieldName.")
      }
      ids.append(id)
      if hasAllDates {
        if let date = ServerDate.milliseconds(of: record[dateField]) {
          latest = max(latest, date)
        } else {
          hasAllDates = false
        }
      }
    }
    records = page.records
    self.ids = ids
    self.latest = hasAllDates ? latest : -1
    totalSize = page.totalSize
    next = page.next
  }
}

/// Which local edits a sync down leaves alone.
enum EditProtection: Sendable {
  /// Every record that is dirty when its page is saved.
  case allEdits
  /// Records that became dirty, or were edited again, since the run began: what was dirty before is
  /// replaced.
  case editsSince([Int64: EditMark])

  /// A dirty record as it was when the run began.
  struct EditMark: Sendable, Equatable {
    let lastModified: Int64
    /// Tells apart two edits within the same millisecond.
    let contentHash: Int
  }

  /// Remembers the dirty records for a run in `mode`.
  static func begin(
    _ mode: SyncMergeMode, _ records: SoupRecords, in store: SmartStore
  ) async throws -> EditProtection {
    guard mode == .overwrite else { return .allEdits }
    return .editsSince(
      try await store.read { reader in
        let dirty = try records.dirty(in: reader)
        let lastModified = Dictionary(
          dirty.map { ($0.entryId, $0.lastModified) }, uniquingKeysWith: { _, last in last })
        var marks: [Int64: EditMark] = [:]
        for start in stride(from: 0, to: dirty.count, by: SyncLimits.recordsPerRead) {
          let slice = dirty[start..<min(start + SyncLimits.recordsPerRead, dirty.count)]
          for (entryId, record) in try reader.entries(slice.map(\.entryId), of: records.soupName) {
            marks[entryId] = EditMark(
              lastModified: lastModified[entryId] ?? -1, contentHash: record.contentHash)
          }
        }
        return marks
      })
  }

  /// The ids, among those of a page, of the records that must stay as they are.
  func protectedIds(
    among pageIds: [String], _ records: SoupRecords,
    in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    var protected: Set<String> = []
    var unchangedByDate: [Int64: String] = [:]
    for dirty in try records.dirty(among: pageIds, in: transaction) {
      guard let id = dirty.id else { continue }
      if case .editsSince(let marks) = self,
        marks[dirty.entryId]?.lastModified == dirty.lastModified
      {
        unchangedByDate[dirty.entryId] = id
      } else {
        protected.insert(id)
      }
    }
    if case .editsSince(let marks) = self, !unchangedByDate.isEmpty {
      let entryIds = Array(unchangedByDate.keys)
      for (entryId, record) in try transaction.entries(entryIds, of: records.soupName)
      where record.contentHash != marks[entryId]?.contentHash {
        if let id = unchangedByDate[entryId] { protected.insert(id) }
      }
    }
    return protected
  }
}

/// Writes downloaded records into their soup.
enum PageWriter {
  /// Saves the records of one page that `protection` does not hold back: flags false, last error
  /// removed, the sync's id set, matched to rows by their id.
  static func save<Cursor>(
    _ page: DownloadedPage<Cursor>, _ records: SoupRecords, syncId: Int64,
    protection: EditProtection, in transaction: borrowing StoreTransaction
  ) throws {
    guard !page.records.isEmpty else { return }
    let protected = try protection.protectedIds(among: page.ids, records, in: transaction)
    var saved = page.records
    if !protected.isEmpty {
      saved = zip(page.records, page.ids).filter { !protected.contains($0.1) }.map(\.0)
    }
    try transaction.upsert(
      slices: saved,
      setting: RecordFlags.clean.members + [(SyncKeys.syncId, .integer(syncId))],
      removing: [SyncKeys.lastError], soup: records.soupName, externalIdPath: records.idField)
  }
}

extension JSONSlice {
  /// A hash of the text as written, equal within one process only.
  fileprivate var contentHash: Int {
    withUTF8 { bytes in
      var hasher = Hasher()
      hasher.combine(bytes: bytes)
      return hasher.finalize()
    }
  }
}
