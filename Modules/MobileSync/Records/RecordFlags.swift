import SalesforceSDKCommon
import SmartStore

/// The four flags that define the action for a record.
struct RecordFlags: Sendable, Equatable {
  var local: Bool
  var created: Bool
  var updated: Bool
  var deleted: Bool

  /// A record that equals the server's.
  static let clean = RecordFlags(local: false, created: false, updated: false, deleted: false)

  init(local: Bool, created: Bool, updated: Bool, deleted: Bool) {
    self.local = local
    self.created = created
    self.updated = updated
    self.deleted = deleted
  }

  /// The flags of an entry whose record is to be sent.
  init(toSend record: SyncUpRecord) {
    let isNew = record.makesRecord
    self.init(local: true, created: isNew, updated: !isNew, deleted: false)
  }

  /// Reads the flags of a soup entry: true, 1, "1" and "true" are true, everything else is false. Any of
  /// the flags makes the entry a local one.
  init(of record: JSONSlice) {
    let created = LocalFlags.isTrue(record[SyncKeys.locallyCreated])
    let updated = LocalFlags.isTrue(record[SyncKeys.locallyUpdated])
    let deleted = LocalFlags.isTrue(record[SyncKeys.locallyDeleted])
    self.init(
      local: created || updated || deleted || LocalFlags.isTrue(record[SyncKeys.local]),
      created: created, updated: updated, deleted: deleted)
  }

  /// The members to splice into a record.
  var members: [(key: String, value: JSONValue)] {
    [
      (SyncKeys.local, .bool(local)), (SyncKeys.locallyCreated, .bool(created)),
      (SyncKeys.locallyUpdated, .bool(updated)), (SyncKeys.locallyDeleted, .bool(deleted)),
    ]
  }
}
