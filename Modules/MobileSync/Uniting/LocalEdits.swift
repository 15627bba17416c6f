import SalesforceSDKCommon

/// A decision between the unsynced values of two entries that became one.
///
/// It is not certain that the server has either value, so the chosen value stays unsynced and the
/// base version is unchanged: the next sync up compares and uploads the value like any edit.
struct LocalEdits {
  let conflict: SyncConflict

  init(_ conflict: SyncConflict) { self.conflict = conflict }

  /// The entry with the values of `choice`.
  func resolved(_ entry: JSONSlice, _ choice: SyncResolution.Choice) throws -> JSONSlice {
    var flags = RecordFlags(of: entry)
    var members = conflict.fields.compactMap { field -> (key: String, value: JSONValue)? in
      if field.name == SyncKeys.locallyDeleted { return nil }
      // An entry that a download has replaced since gets its former values back.
      let mine = flags.local ? entry[field.name]?.value : field.mine
      let value =
        switch choice {
        case .mine, .record, .create, .detach, .recreateParent: mine
        case .theirs: field.theirs
        case .values(let values): values[field.name] ?? field.theirs
        }
      return (field.name, value ?? .null)
    }
    if case .values(let values) = choice {
      let given = values.filter { key, _ in
        !members.contains { $0.key == key } && !SyncKeys.neverSent.contains(key)
          && key != conflict.names.id
      }
      members += given.map { (key: $0.key, value: $0.value) }
    }
    if let deletion = conflict.fields.first(where: { $0.name == SyncKeys.locallyDeleted }) {
      switch choice {
      case .mine, .record, .create, .detach, .recreateParent: break
      case .theirs: flags.deleted = deletion.theirs == true
      case .values: flags.deleted = false
      }
    }
    flags.local = true
    flags.updated = !flags.deleted && !flags.created
    return try entry.setting(members + flags.members, removing: [SyncKeys.lastError])
  }
}
