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
  /// What the server has stays: the entry takes its values, comes back, or is removed. Values that are not
  /// known here come with the next sync down. A child whose parent is missing loses its edit; one that the server
  /// does not have is removed.
  public static let theirs = SyncResolution(choice: .theirs)
  /// The fields get these values, which go to the server; a field in conflict that is not among them
  /// takes the server's. A record that was deleted on one side comes back with them.
  public static func values(_ values: JSONObject) -> SyncResolution {
    SyncResolution(choice: .values(values))
  }
  /// For a conflict of kind ``SyncConflict/Kind/inDoubt``: the record with this id is the one that was created
  /// here. The entry takes its id; a field that was not edited since takes its value; edits since then are
  /// uploaded. Another entry that has the id becomes one with this one, its edits included.
  public static func record(_ id: String) -> SyncResolution {
    SyncResolution(choice: .record(id))
  }
  /// For a conflict of kind ``SyncConflict/Kind/inDoubt``: the server does not have the record; the next sync up
  /// creates it.
  public static let create = SyncResolution(choice: .create)
  /// For a conflict of kind ``SyncConflict/Kind/parentMissing``: the child refers to no parent any more, and the next
  /// sync up uploads it so. Refused where the server keeps no child without a parent.
  public static let detach = SyncResolution(choice: .detach)
  /// For a conflict of kind ``SyncConflict/Kind/parentMissing``: the next sync up creates the parent again, from its
  /// entry, and its children follow it. Refused if the parents' soup has no entry for it.
  public static let recreateParent = SyncResolution(choice: .recreateParent)
}
