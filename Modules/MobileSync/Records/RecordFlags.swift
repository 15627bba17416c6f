import SalesforceSDKCommon

/// The four flags that say what a record needs.
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

  /// The flags of a row whose record is to be sent.
  init(toSend record: SyncUpRecord) {
    let isNew = record.makesRecord
    self.init(local: true, created: isNew, updated: !isNew, deleted: false)
  }

  /// Reads the flags of a soup entry: true, 1, "1" and "true" are true, everything else is false.
  init(of record: JSONSlice) {
    self.init(
      local: Self.isTrue(record[SyncKeys.local]),
      created: Self.isTrue(record[SyncKeys.locallyCreated]),
      updated: Self.isTrue(record[SyncKeys.locallyUpdated]),
      deleted: Self.isTrue(record[SyncKeys.locallyDeleted]))
  }

  /// The members to splice into a record.
  var members: [(key: String, value: JSONValue)] {
    [
      (SyncKeys.local, .bool(local)), (SyncKeys.locallyCreated, .bool(created)),
      (SyncKeys.locallyUpdated, .bool(updated)), (SyncKeys.locallyDeleted, .bool(deleted)),
    ]
  }

  private static func isTrue(_ value: JSONSlice?) -> Bool {
    guard let value else { return false }
    switch value.kind {
    case .bool: return value.bool == true
    case .number: return value.int64 == 1
    case .string: return value.string == "1" || value.string == "true"
    default: return false
    }
  }
}
