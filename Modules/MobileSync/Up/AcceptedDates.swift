import SalesforceSDKCommon
import SmartStore

/// A stage that writes the new modification dates of accepted records into their entries, so that
/// they can be edited and sent again without a sync down (MS-205).
///
/// A date is taken only if nothing shows a change by another user or device since the record was
/// sent: the server's values are those that were sent, or a form of them that the server makes as
/// it stores them, the other fields of the entry are as they were, and the date is not later than
/// the response. Otherwise the entry keeps its date, and the next run finds a conflict. An entry
/// that was removed, or represents another record by now, stays as it is.
struct AcceptedDates: Sendable {
  let scope: SyncUpScope

  /// Fetches the dates of records.
  func fetch(of records: [SyncUpRecord], on target: some SyncUpTarget) async throws {
    let context = scope.completingBatch.context
    let sentUntil = scope.context.serverClock.now
    let byType = Dictionary(grouping: records.filter { $0.id != nil }, by: \.objectType)
    for type in byType.keys.sorted() {
      let group = byType[type] ?? []
      var proved: [Int64: (record: SyncUpRecord, date: JSONValue, values: JSONObject)] = [:]
      if let fetcher = target as? any RemoteRecordFetching {
        let results = try await stored(group, fetcher, context)
        for (record, result) in zip(group, results) {
          guard case .record(let remote) = result,
            let date = remote[scope.fields.dateField]?.value, Self.isOwn(date, sentUntil),
            let values = ownValues(of: record, remote)
          else { continue }
          proved[record.entryId] = (record, date, values)
        }
      } else {
        let results = try await target.remoteDates(of: group, in: context)
        for (record, result) in zip(group, results) {
          guard case .modified(let milliseconds) = result else { continue }
          let date = JSONValue.string(SalesforceDate(milliseconds: milliseconds).text)
          if Self.isOwn(date, sentUntil) { proved[record.entryId] = (record, date, [:]) }
        }
      }
      let known = proved
      if known.isEmpty { continue }
      try await scope.store.inTransaction(durability: .normal) { transaction in
        var written: [JSONSlice] = []
        for (entryId, entry) in try transaction.entries(
          known.keys.sorted(), of: scope.context.soupName)
        {
          guard let (record, date, values) = known[entryId],
            entry[scope.fields.idField]?.string == record.id
          else { continue }
          let members = values.filter { name, _ in
            ServerEquality.same(entry[name]?.value, record.record[name]?.value)
          }
          written.append(
            try entry.setting(members.map { ($0.key, $0.value) } + [(scope.fields.dateField, date)])
          )
        }
        try scope.write(written, in: transaction)
        try ResultWriter(scope: scope).keep(
          known.values.map { ($0.record, $0.values) }, in: transaction)
      }
    }
  }

  /// The server's versions of records that were just sent, with all fields that the entries have, or, if the server
  /// refuses those, with the ones that were sent.
  private func stored(
    _ group: [SyncUpRecord], _ target: some RemoteRecordFetching, _ context: SyncContext
  ) async throws -> [RemoteRecord] {
    let names = scope.fields.names
    let sent = SOQLNames.appending(
      group.flatMap(\.columns), to: [names.modificationDate])
    let fields = SOQLNames.appending(
      group.flatMap { record in
        record.record.members
          .filter { names.isData($0.key) && $0.value.kind != .object && $0.value.kind != .array }
          .map(\.key)
      }, to: [names.modificationDate])
    let results = try await target.remoteRecords(of: group, fields: fields, in: context)
    let isRefused = results.allSatisfy { if case .unknown = $0 { true } else { false } }
    if !isRefused || Set(fields) == Set(sent) { return results }
    return try await target.remoteRecords(of: group, fields: sent, in: context)
  }

  /// Whether a date is not later than the response to the sending, as far as that is known.
  private static func isOwn(_ date: JSONValue, _ sentUntil: Int64?) -> Bool {
    guard let date = date.string.flatMap(SalesforceDate.parse)?.milliseconds else { return false }
    return sentUntil.map { date <= $0 } ?? true
  }

  /// The values that the server has put into another form as it stored them; nil if it has any that is neither
  /// what was sent nor what the entry had.
  private func ownValues(
    of record: SyncUpRecord, _ remote: JSONSlice
  ) -> JSONObject? {
    let names = scope.fields.names
    let sent = Set(record.values.map(\.name))
    var forms: JSONObject = [:]
    for (name, value) in remote.members where names.isData(name) {
      guard let own = record.record[name] else { continue }
      let (mine, stored) = (own.value, value.value)
      if mine == stored { continue }
      let isSame = ServerEquality.same(mine, stored)
      guard isSame || sent.contains(name) && ServerEquality.mayBeStored(mine, as: stored) else {
        return nil
      }
      // With the server's date the entry counts as downloaded: it has to have the server's spelling, too.
      if sent.contains(name) { forms[name] = stored }
    }
    return forms
  }
}
