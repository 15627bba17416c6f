import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Brings the new modification dates of records that the server has just taken into their rows, so
  /// that they can be edited and sent again without a sync down (MS-205).
  ///
  /// Somebody else's change between the sending and this call gets lost if the record is then edited
  /// here and sent again; therefore it runs directly after the sending. A row that was removed, or
  /// stands for another record by now, stays as it is.
  func fetchDates(
    of records: [SyncUpRecord], _ target: some SyncUpTarget, _ plan: Plan
  ) async throws {
    var completing = context
    completing.completesBatch = true
    let byType = Dictionary(grouping: records.filter { $0.id != nil }, by: \.objectType)
    for type in byType.keys.sorted() {
      let group = byType[type] ?? []
      let answers = try await target.remoteDates(of: group, in: completing)
      var dates: [Int64: (id: String?, date: Int64)] = [:]
      for (record, answer) in zip(group, answers) {
        if case .modified(let date) = answer { dates[record.entryId] = (record.id, date) }
      }
      let known = dates
      try await context.store.inTransaction(durability: .normal) { transaction in
        var written: [JSONSlice] = []
        for (entryId, row) in try transaction.entries(known.keys.sorted(), of: context.soupName) {
          guard let (id, date) = known[entryId], row[plan.fields.idField]?.string == id else {
            continue
          }
          let text = SalesforceDate(milliseconds: date).text
          written.append(try row.setting([(plan.fields.dateField, .string(text))]))
        }
        try write(written, in: transaction)
      }
    }
  }
}
