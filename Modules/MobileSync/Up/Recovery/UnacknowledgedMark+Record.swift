import SalesforceSDKCommon

extension UnacknowledgedMark {
  /// An entry as a record that was sent, with the values of then; nil if the entry represents another record
  /// by now.
  ///
  /// A deletion since then waits until it is known whom it concerns.
  func record(of entry: JSONSlice, in scope: SyncUpScope) throws -> SyncUpRecord? {
    let isCreate = outcome.action == .create
    // The entry of a record that was to be created again says that it was edited.
    let flags = RecordFlags(local: true, created: isCreate, updated: !isCreate, deleted: false)
    let asSent = try entry.setting(self.sent + flags.members)
    guard
      case .send(let record) = scope.decision(outcome.entryId, asSent),
      // An entry under this entry id may be another record by now.
      record.action == outcome.action, record.id == outcome.recordId
    else { return nil }
    // What was left out of the request, to be sent later, is not to be found on the server.
    var sent = record.sending(self.sent.map(\.key))
    sent.leftOut = Set(leftOut)
    return sent
  }
}
