import SalesforceSDKCommon
import SmartStore

/// The local edits that a sync down keeps in one soup.
enum EditProtection: Sendable {
  /// No record: these records are never edited.
  case nothing
  /// Every record that is dirty when its page is saved.
  case allEdits
  /// Records that became dirty, or were edited again, since the run began, and those with edits that a sync up has
  /// left out: other edits are replaced.
  case editsSince([Int64: EditMark])

  /// A dirty record as it was when the run began.
  struct EditMark: Sendable, Equatable {
    let lastModified: Int64
    /// A hash of the content, which distinguishes two edits within the same millisecond.
    let contentHash: Int
  }

  /// Remembers the dirty records of each soup for a run in `mode`.
  static func begin(
    _ mode: SyncMergeMode, _ layout: DownloadLayout, in store: SmartStore
  ) async throws -> [EditProtection] {
    guard layout.isEditable else { return layout.places.map { _ in .nothing } }
    guard mode == .overwrite else { return layout.places.map { _ in .allEdits } }
    return try await store.read { reader in
      var protections: [EditProtection] = []
      for place in layout.places {
        protections.append(.editsSince(try marks(of: place.records, in: reader)))
      }
      return protections
    }
  }

  private static func marks(
    of records: SyncSoup, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: EditMark] {
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
  }

  /// The values of `field`, among those given, that records which must stay as they are have.
  ///
  /// - Parameter field: The id field, or the one that holds a parent's id.
  func protectedValues(
    among values: [String], of field: String, _ records: SyncSoup,
    in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    if case .nothing = self { return [] }
    var protected: Set<String> = []
    var unchangedByDate: [Int64: String] = [:]
    for dirty in try records.dirty(with: field, among: values, in: transaction) {
      guard let value = dirty.id else { continue }
      if case .editsSince(let marks) = self,
        marks[dirty.entryId]?.lastModified == dirty.lastModified
      {
        unchangedByDate[dirty.entryId] = value
      } else {
        protected.insert(value)
      }
    }
    if case .editsSince(let marks) = self, !unchangedByDate.isEmpty {
      let entryIds = Array(unchangedByDate.keys)
      let edits = try EditedFields(soupName: records.soupName).edits(of: entryIds, in: transaction)
      for (entryId, record) in try transaction.entries(entryIds, of: records.soupName) {
        let isKept = edits[entryId].map { $0.isKept && !$0.names(in: record).isEmpty } ?? false
        guard isKept || record.contentHash != marks[entryId]?.contentHash else { continue }
        if let value = unchangedByDate[entryId] { protected.insert(value) }
      }
    }
    return protected
  }
}

extension EditProtection {
  /// The ids of records that were brought before as they come now, and edited locally since.
  ///
  /// They come again because of a late-commit window, or because an interrupted run resumes. Their dates are
  /// compared: of a record that the server changed once more within the second of its date the edit stays too, and the
  /// next sync up decides by its merge mode, as for an edit that was made after the download.
  func idsThatCameBefore(
    _ part: PagePart, until seenUntil: Int64, dateField: String, _ records: SyncSoup,
    in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    guard case .editsSince = self, seenUntil > 0 else { return [] }
    var dates: [String: Int64] = [:]
    for (id, entry) in zip(part.ids, part.entries) {
      guard let date = ServerDate.milliseconds(of: entry[dateField]), date <= seenUntil else {
        continue
      }
      dates[id] = date
    }
    if dates.isEmpty { return [] }
    let dirty = try records.dirty(with: records.idField, among: Array(dates.keys), in: transaction)
    let entries = try transaction.entries(dirty.map(\.entryId), of: records.soupName)
    return Set(
      entries.compactMap { _, entry in
        guard let id = entry[records.idField]?.string,
          let date = ServerDate.milliseconds(of: entry[dateField]), date == dates[id]
        else { return nil }
        return id
      })
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
