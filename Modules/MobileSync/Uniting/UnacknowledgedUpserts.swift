import SalesforceSDKCommon
import SmartStore

/// The entries of a soup with unacknowledged upserts: a downloaded record with the external id of
/// such an entry is its record.
struct UnacknowledgedUpserts: Sendable {
  private let marks: [SyncUpRecord.ExternalId: UnacknowledgedMark]

  /// Reads them; nil if there are none, which costs two queries.
  init?(of soupName: String, in store: SmartStore) async throws {
    let lost = try await OutcomeStore(store: store).lost(.upsert, in: soupName)
    if lost.isEmpty { return nil }
    marks = Dictionary(
      lost.values.compactMap { mark in mark.externalId.map { ($0, mark) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Makes the entries represent the records of a page that have their external ids.
  func adopt(
    _ page: PagePart, _ union: EntryUnion, in transaction: borrowing StoreTransaction
  ) throws {
    let fields = Set(marks.keys.map(\.field))
    var found: [EntryAdoption.Found] = []
    for (id, entry) in zip(page.ids, page.entries) {
      for field in fields {
        guard let value = SyncUpRecord.ExternalId.text(of: entry[field]),
          let mark = marks[SyncUpRecord.ExternalId(field: field, value: value)]
        else { continue }
        found.append(
          EntryAdoption.Found(
            entryId: mark.outcome.entryId, id: id, origin: .sent(mark), fields: mark.fields))
      }
    }
    try EntryAdoption(union: union).adopt(found, in: transaction)
  }
}
