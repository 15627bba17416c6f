public import SalesforceSDKCommon

/// A decision about a conflict.
public struct SyncResolution: Sendable, Equatable {
  enum Choice: Sendable, Equatable {
    case mine, theirs
    case values(JSONObject)
    case record(String)
    case create
    case detach
    case recreateParent
  }
  let choice: Choice

  /// The local changes are uploaded: the entry's values as they are now, the deletion, or, if the server's
  /// record was deleted and the entry was not, the record created again under a new id. A field that only the
  /// server has changed takes the server's value.
  public static let mine = SyncResolution(choice: .mine)
  /// The server's version is kept: the entry takes its values, is restored or is removed. Unknown
  /// values arrive with the next sync down. A child whose parent is missing loses its edit; a child
  /// that the server does not have is removed.
  public static let theirs = SyncResolution(choice: .theirs)
  /// The fields get these values, which are uploaded; other fields in conflict take the server's
  /// values. A record that was deleted on one side is restored with these values.
  public static func values(_ values: JSONObject) -> SyncResolution {
    SyncResolution(choice: .values(values))
  }
  /// For a conflict of kind ``SyncConflict/Kind/inDoubt``: the record with this id is the locally
  /// created one. The entry takes its id and, in fields without later edits, its values; later
  /// edits are uploaded. If another entry has the id, the two entries are united, with the edits of
  /// both.
  public static func record(_ id: String) -> SyncResolution {
    SyncResolution(choice: .record(id))
  }
  /// For a conflict of kind ``SyncConflict/Kind/inDoubt``: the server does not have the record; the next sync up
  /// creates it.
  public static let create = SyncResolution(choice: .create)
  /// For a conflict of kind ``SyncConflict/Kind/parentMissing``: the child no longer refers to a
  /// parent, and the next sync up uploads it without one. Refused if the server requires a parent.
  public static let detach = SyncResolution(choice: .detach)
  /// For a conflict of kind ``SyncConflict/Kind/parentMissing``: the next sync up creates the
  /// parent again from its entry, and its children then refer to the new parent. Refused if the
  /// parents' soup has no entry for it.
  public static let recreateParent = SyncResolution(choice: .recreateParent)
}
