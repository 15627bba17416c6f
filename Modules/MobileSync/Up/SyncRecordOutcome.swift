public import SalesforceSDKCommon

/// The outcome of one record in the last sync up that uploaded it.
///
/// Stored in the soup `syncs_outcomes`, one entry per record:
///
/// ```json
/// { "key": "accounts/5", "syncId": 12, "soupName": "accounts", "entryId": 5, "recordId": "001…",
///   "action": "update", "outcome": "succeeded", "time": 1700000000000, "error": null }
/// ```
public struct SyncRecordOutcome: Sendable, Equatable {
  /// The kind of an outcome.
  public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The stored text.
    public let rawValue: String

    /// Reads a stored text; kinds of newer versions are kept.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The server executed the action, and the entry is updated.
    public static let succeeded = Kind(rawValue: "succeeded")
    /// Not sent, because the server's record is newer or gone: the entry has a ``SyncConflict``. If
    /// another record of its tree has the conflict, ``SyncRecordOutcome/error`` says so. The entry
    /// is unchanged.
    public static let conflict = Kind(rawValue: "conflict")
    /// Rejected by the server, or by a check before sending; the entry stays dirty and has the error. If the server
    /// refused the request as a whole, since it was busy or a limit was reached (429, 503), the entry is unchanged, and
    /// the member `retryable` of ``SyncRecordOutcome/error`` is true: the next run sends the record again.
    public static let rejected = Kind(rawValue: "rejected")
    /// The request was sent and no response is recorded yet. It is recorded for creates, and for
    /// updates that could be mistaken for another user's change. After a crash, it means the same
    /// as ``unanswered``.
    public static let inFlight = Kind(rawValue: "inFlight")
    /// Sent without a response: the server may or may not have executed the action. The entry stays
    /// dirty. The next run queries the server first, so that it neither creates a second record nor
    /// mistakes its own edit for a remote one. A record that may have been created is not sent
    /// again; its entry has a ``SyncConflict`` in doubt.
    public static let unanswered = Kind(rawValue: "unanswered")
    /// The server has what this sync sends, and the entry has edits of other fields, by which it stays unsynced and
    /// which later downloads keep. ``SyncRecordOutcome/error`` names the fields.
    public static let partial = Kind(rawValue: "partial")
    /// Not sent, because the server did not return its version of the record; ``SyncRecordOutcome/error`` says so. The
    /// entry is unchanged, and the next run requests it again.
    public static let undecided = Kind(rawValue: "undecided")
    /// Not sent, because it refers to a locally created record that is not uploaded yet. It is
    /// uploaded after that record.
    public static let waiting = Kind(rawValue: "waiting")
    /// Not sent, because there was no connection, or the target left the record out of its requests;
    /// ``SyncRecordOutcome/error`` says so. The entry is unchanged, and the next run sends it.
    public static let notSent = Kind(rawValue: "notSent")
    /// Nothing to upload: the app removed or cleaned the entry, its values are those that the server has, the record was
    /// created and deleted locally, or the entry has no flag.
    public static let nothingToDo = Kind(rawValue: "nothingToDo")

    /// The stored kind of a request without a response that a later run has not repeated, since the server may have
    /// executed it. Callers get ``SyncRecordOutcome/shown``.
    static let inDoubt = Kind(rawValue: "inDoubt")

    /// The stored text.
    public var description: String { rawValue }
  }

  /// The sync that included the record.
  public let syncId: Int64
  /// The record's soup.
  public let soupName: String
  /// The record's entry id.
  public let entryId: Int64
  /// The value of its id field: the server's id if there is one.
  public let recordId: String?
  /// The action; nil if nothing was sent. A create whose response was lost stays a create when a later run finds the
  /// record.
  public let action: SyncUpAction?
  /// The kind of the outcome.
  public let kind: Kind
  /// The time of the outcome, in milliseconds since 1970.
  public let time: Int64
  /// The error of the server or of the check before sending; nil unless the record was rejected, not sent, undecided,
  /// skipped because of another record, sent without some of its edits, or not sent again because the server may have
  /// created it.
  public let error: JSONValue?

  init(
    syncId: Int64, soupName: String, entryId: Int64, recordId: String?, action: SyncUpAction?,
    kind: Kind, time: Int64, error: JSONValue? = nil
  ) {
    self.syncId = syncId
    self.soupName = soupName
    self.entryId = entryId
    self.recordId = recordId
    self.action = action
    self.kind = kind
    self.time = time
    self.error = error?.redacted
  }

  /// Reads a stored outcome; nil if it is none.
  init?(json: JSONSlice) {
    guard let syncId = json["syncId"]?.int64, let soupName = json["soupName"]?.string,
      let entryId = json["entryId"]?.int64, let kind = json["outcome"]?.string
    else { return nil }
    var error = json["error"]?.value
    if error == .null { error = JSONValue?.none }
    self.init(
      syncId: syncId, soupName: soupName, entryId: entryId, recordId: json["recordId"]?.string,
      action: json["action"]?.string.flatMap(SyncUpAction.init(rawValue:)),
      kind: Kind(rawValue: kind), time: json["time"]?.int64 ?? 0,
      error: error)
  }

  /// Whether the server may have created or changed this record without an acknowledged response.
  var isLost: Bool {
    action != nil && action != .delete && Kind.unacknowledged.contains(kind)
  }

  /// The outcome as callers get it: a create in doubt is in conflict, and an update is undecided.
  var shown: SyncRecordOutcome {
    kind == .inDoubt ? with(action == .update ? .undecided : .conflict, error) : self
  }

  /// The same of the entry that the record's own has become one with; nil if it has not.
  func moved(to entryId: Int64?) -> SyncRecordOutcome {
    guard let entryId else { return self }
    return SyncRecordOutcome(
      syncId: syncId, soupName: soupName, entryId: entryId, recordId: recordId, action: action,
      kind: kind, time: time, error: error)
  }

  /// The same, with the reason why the record is not sent again.
  func held(because error: JSONValue) -> SyncRecordOutcome { with(.inDoubt, error) }

  private func with(_ kind: Kind, _ error: JSONValue?) -> SyncRecordOutcome {
    SyncRecordOutcome(
      syncId: syncId, soupName: soupName, entryId: entryId, recordId: recordId, action: action,
      kind: kind, time: time, error: error)
  }

  /// One entry per record, whichever sync sent it last.
  var key: String { "\(soupName)/\(entryId)" }

  /// The stored form.
  var json: JSONObject {
    [
      "key": .string(key), "syncId": .integer(syncId), "soupName": .string(soupName),
      "entryId": .integer(entryId), "recordId": recordId.map { .string($0) } ?? .null,
      "action": action.map { .string($0.rawValue) } ?? .null, "outcome": .string(kind.rawValue),
      "time": .integer(time), "error": error ?? .null,
    ]
  }
}

extension SyncRecordOutcome.Kind {
  /// The stored kinds of requests that were sent, or were about to be, and whose responses are not known.
  static let unacknowledged = [inFlight, unanswered, inDoubt]
}

extension Set<SyncRecordOutcome.Kind> {
  /// The outcomes after which the server certainly has nothing of the record.
  static let notAccepted: Set = [.rejected, .conflict, .notSent, .undecided, .waiting]
}

/// The number of records of a sync up by outcome.
public struct SyncOutcomeCounts: Sendable, Equatable {
  /// Executed by the server.
  public var succeeded = 0
  /// Without anything to upload.
  public var nothingToDo = 0
  /// Not sent, or not with all edits: because of a change on the server, because the server's version is unknown,
  /// because a referenced record has to be uploaded first, because there was no connection, or because the sync does
  /// not send an edited field.
  public var skipped = 0
  /// Rejected, or sent without a response. The entries stay dirty.
  public var failed = 0

  /// Creates counts of 0.
  public init() {}

  mutating func add(_ kind: SyncRecordOutcome.Kind, _ count: Int = 1) {
    switch kind {
    case .succeeded: succeeded += count
    case .nothingToDo: nothingToDo += count
    case .conflict, .inDoubt, .notSent, .partial, .undecided, .waiting: skipped += count
    default: failed += count
    }
  }
}
