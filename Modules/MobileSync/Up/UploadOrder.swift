import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up that orders entries by their references: a locally created record comes
/// before the records that refer to it.
struct UploadOrder: Sendable {
  let scope: SyncUpScope
  /// Whether a record that refers to one of another soup, which waits itself, goes without the
  /// reference instead of waiting, too.
  let leavesOutReferences: Bool

  /// Finds references to records that the server does not have, and orders the run by them.
  ///
  /// - Parameter survey: The survey of the entries from their comparison; nil if they were not
  ///   compared.
  /// - Returns: The order and the references; both nil if no record has to wait for another.
  func order(
    _ ids: [Int64], _ survey: UploadSurvey?
  ) async throws -> (order: RunOrder?, references: UploadReferences?) {
    var found: UploadSurvey
    if let survey { found = survey } else { found = try await self.survey(ids, .unsent()) }
    if !found.lost.isEmpty { found = try await self.survey(ids, .unsent(lost: found.lost)) }
    if !found.hasUnsent, !found.hasReferences { return (nil, nil) }
    let order = found.hasReferences ? RunOrder(found.nodes) : nil
    return (order, try await references(order?.leftOut ?? [:], lost: found.lost))
  }

  /// The references of all soups to records that the server does not have. Reads all unsynced entries.
  func references(
    _ leftOut: [Int64: Set<String>], lost: Set<String>
  ) async throws -> UploadReferences {
    let index = try await LocalRecordIndex(scope.store, scope.uses)
    let places = try await index.references(in: scope.store, .unsent(lost: lost))
    return UploadReferences(
      index: index, places: places,
      unsent: try await index.unsent(Set(places.keys), in: scope.store), leftOut: leftOut,
      waiting: leavesOutReferences
        ? try await OutcomeStore(store: scope.store).waitingIds() : [], lost: lost)
  }

  private func survey(
    _ ids: [Int64], _ wanted: LocalIdIndex.Wanted
  ) async throws -> UploadSurvey {
    var survey = UploadSurvey(idField: scope.fields.idField, wanted: wanted)
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      survey.add(try await scope.entries(slice), of: slice)
    }
    return survey
  }
}

/// The data for ordering the entries of a run. Filled page by page, as the entries are read.
struct UploadSurvey: Sendable {
  let idField: String
  var wanted = LocalIdIndex.Wanted.unsent()
  private(set) var nodes: [RunOrder.Node] = []
  /// Whether the server lacks one of the records, and whether an entry refers to such a record.
  private(set) var hasUnsent = false
  private(set) var hasReferences = false
  /// The former ids of records that the server has deleted and that are to be created again.
  private(set) var lost: Set<String> = []

  init(idField: String, wanted: LocalIdIndex.Wanted = .unsent()) {
    self.idField = idField
    self.wanted = wanted
  }

  /// Adds the entries that were read for a slice of the run's entries.
  mutating func add(_ page: [(id: Int64, record: JSONSlice)], of slice: [Int64]) {
    for (entryId, entry) in page {
      let lost = SyncUpRecord.lostId(of: entry, idField: idField)
      let id = lost ?? SyncUpRecord.localId(of: entry, idField: idField)
      let references = LocalIdIndex.references(in: entry, idField: idField, wanted)
      hasReferences = hasReferences || !references.isEmpty
      hasUnsent = hasUnsent || id != nil
      if let lost { self.lost.insert(lost) }
      nodes.append(RunOrder.Node(number: entryId, name: id, references: references.sorted()))
    }
    // Entries that were removed in the meantime are still counted.
    nodes += Set(slice).subtracting(page.map(\.id)).sorted()
      .map { RunOrder.Node(number: $0, name: nil, references: []) }
  }
}
