import SalesforceSDKCommon

/// The effect of the server's response on an entry.
enum SyncUpEffect: Sendable, Equatable {
  /// The record is gone on both sides: remove the entry.
  case removeEntry
  /// The record equals the server's: clear its flags and set the id, if there is a new one.
  case clean(newId: String?)
  /// The server lost the record: create it again, once.
  case recreate
  /// The server lost the record, and the app decides about the edit.
  case deletedThere
  /// The entry stays dirty and stores the server's error.
  case keepError(JSONValue)
  /// The server's record is newer: the entry stays as it is.
  case conflict
  /// It is unknown whether the server executed the action.
  case unanswered
  /// The server's response is implausible, so it is unknown whether the action was executed; the
  /// entry stores the reason.
  case unexpected(JSONValue)

  /// Whether the server has what the entry says.
  var isAccepted: Bool {
    switch self {
    case .removeEntry, .clean: true
    default: false
    }
  }

  /// Decides by the outcome.
  ///
  /// - Parameters:
  ///   - mayRecreate: True in overwrite mode, in the first call for this record.
  ///   - merges: Whether a change on the other side is a conflict.
  init(
    _ outcome: SyncUpOutcome, of record: SyncUpRecord, mayRecreate: Bool, merges: Bool = false
  ) {
    switch (outcome, record.action) {
    case (.succeeded, .delete), (.gone, .delete):
      self = .removeEntry
    case (.succeeded(nil), _) where record.makesRecord && !record.hasServersId:
      // A clean entry under an id of our own would never meet its record again.
      self = .unanswered
    case (.succeeded(let id), _):
      self = .clean(newId: record.action == .update ? nil : id)
    case (.gone, .update) where mayRecreate:
      self = .recreate
    case (.gone, .update) where merges:
      self = .deletedThere
    case (.gone(let error), _), (.rejected(let error), _):
      self = .keepError(error)
    case (.outdated, _):
      self = .conflict
    case (.unanswered, _):
      self = .unanswered
    }
  }
}

/// The write to an entry whose record the server has accepted or deleted.
///
/// An entry that was edited since it was read keeps the edit and stays dirty.
enum EntryChange: Sendable, Equatable {
  /// Write it back with these flags, this id (nil leaves it), and without the last error.
  case write(RecordFlags, id: String?)
  /// Remove it.
  case remove
  /// Leave it as it is.
  case leave

  /// The server has made or changed the record.
  ///
  /// An edited entry takes the server's id, if there is a new one, and nothing else; one that was
  /// created locally becomes one that was edited locally, so that the next run sends the edit to that
  /// record.
  ///
  /// - Parameter isPartial: Whether something of the record was not sent, by which it stays unsynced.
  static func accepted(
    sent: JSONSlice, now: JSONSlice, newId: String?, isPartial: Bool = false
  ) -> EntryChange {
    if isSame(sent, now), !isPartial { return .write(.clean, id: newId) }
    guard let newId else { return .leave }
    var flags = RecordFlags(of: now)
    if flags.created {
      flags.created = false
      flags.updated = flags.updated || !flags.deleted
    }
    return .write(flags, id: newId)
  }

  /// The server has deleted the record.
  ///
  /// An entry that is wanted again, because the deletion was taken back since, is created again by the
  /// next run.
  static func deleted(sent: JSONSlice, now: JSONSlice) -> EntryChange {
    var flags = RecordFlags(of: now)
    if isSame(sent, now) || flags.deleted { return .remove }
    flags.local = true
    flags.created = true
    return .write(flags, id: nil)
  }

  private static func isSame(_ sent: JSONSlice, _ now: JSONSlice) -> Bool {
    sent.utf8.elementsEqual(now.utf8)
  }
}
