import SalesforceSDKCommon
import SmartStore

/// Records that the server has lost, and the decisions about them.
struct LostRecords: Sendable {
  /// The records to create again.
  var records: [SyncUpRecord] = []
  /// The entries of existing records to send again when the records that they refer to exist.
  var later: [Int64] = []
  /// Existing records with lookups to missing records.
  var refused: [SyncUpRecord] = []

  init() {}

  /// Prepares records for being created again: fields that refer to one of
  /// them are left out, and go once the records have new ids.
  ///
  /// The platform returns the same error for a record with a lookup to a missing record and for a
  /// record that is gone. Creating the first with that lookup is refused. Creating it without the
  /// lookup (because it refers to a lost record, or the fields of creates lack it) would duplicate
  /// it. Such records are queried first.
  ///
  /// Reads the dirty entries of all soups once in a run.
  init(
    _ recreated: [SyncUpRecord], _ target: some SyncUpTarget, _ scope: SyncUpScope,
    _ references: inout UploadReferences?
  ) async throws {
    var lost = Set(recreated.filter(\.hasServersId).compactMap(\.id))
    if lost.isEmpty {
      records = recreated
      return
    }
    let doubtful = recreated.filter { record in
      !record.fieldsReferring(to: lost).isEmpty || Self.createLacksReference(record, scope.fields)
    }
    let existing = try await Self.notGone(doubtful, target, scope)
    lost.subtract(existing.compactMap(\.id))
    for record in existing {
      if !record.fieldsReferring(to: lost).isEmpty, references?.isLastPass != true {
        later.append(record.entryId)
      } else {
        refused.append(record)
      }
    }
    let kept = Set(existing.map(\.entryId))
    records = recreated.filter { !kept.contains($0.entryId) }
    if lost.isEmpty { return }
    try await Self.note(lost, scope, &references)
    records = records.map { record in
      let fields = record.fieldsReferring(to: lost)
      return fields.isEmpty ? record : record.leavingOut(fields.union(record.leftOut))
    }
  }

  /// Makes the ids of lost records count as references from now on.
  private static func note(
    _ lost: Set<String>, _ scope: SyncUpScope, _ references: inout UploadReferences?
  ) async throws {
    var known: UploadReferences
    if let references {
      known = references
    } else {
      known = UploadReferences(
        index: try await LocalRecordIndex(scope.store, scope.uses), places: [:], unsent: [:],
        leftOut: [:], waiting: [], lost: [])
    }
    if !known.isComplete {
      known.places = try await known.index.references(in: scope.store, .all)
      known.isComplete = true
    }
    known.lost.formUnion(lost)
    for id in lost where known.places[id] != nil { known.unsent[id] = scope.context.soupName }
    references = known
  }

  /// Whether an update of the record sends a reference that its creation would not send: if that one points nowhere,
  /// the server refuses the update as if the record were gone, and accepts the creation.
  static func createLacksReference(_ record: SyncUpRecord, _ fields: SyncUpFieldChoice) -> Bool {
    record.sending(fields.update.filter { !fields.create.contains($0) }).values
      .contains { LocalIdIndex.isReference($0) }
  }

  /// Those of the records that the server has, or of which it does not say.
  static func notGone(
    _ records: [SyncUpRecord], _ target: some SyncUpTarget, _ scope: SyncUpScope
  ) async throws -> [SyncUpRecord] {
    var left: [SyncUpRecord] = []
    let byType = Dictionary(grouping: records, by: \.objectType)
    for (_, group) in byType.sorted(by: { $0.key < $1.key }) {
      let dates: [RemoteDate]
      do {
        dates = try await target.remoteDates(of: group, in: scope.completingBatch.context)
      } catch let error as SyncError where error.code != .closed {
        dates = []
      }
      left += group.enumerated().filter { $0.offset >= dates.count || dates[$0.offset] != .gone }
        .map(\.element)
    }
    return left
  }
}
