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
  /// The kinds of ends, and of beginnings.
  public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The stored text.
    public let rawValue: String

    /// Takes a stored text; kinds of newer versions are kept.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The server did what was requested and the entry says so.
    public static let succeeded = Kind(rawValue: "succeeded")
    /// Not sent, since the server's record is newer or gone: the entry has a ``SyncConflict``, or another
    /// record of its tree has one, and then ``SyncRecordOutcome/error`` says so. The entry is as it was.
    public static let conflict = Kind(rawValue: "conflict")
    /// Refused; the entry stays dirty and holds the server's words.
    public static let rejected = Kind(rawValue: "rejected")
    /// A create, or an update that others' changes could be taken for, is on its way. Found after a
    /// crash, it means the same as ``unanswered``.
    public static let inFlight = Kind(rawValue: "inFlight")
    /// Sent without a response: the server may have done it or not. The entry stays dirty; the next run
    /// queries the server before it creates a record again or takes an edit of its own for a remote one.
    /// A record that may have been created is not sent again; its entry has a ``SyncConflict`` in doubt.
    public static let unanswered = Kind(rawValue: "unanswered")
    /// Not sent, since the server did not say what it has of the record. The entry is as it was, and the next
    /// run asks again.
    public static let undecided = Kind(rawValue: "undecided")
    /// Not sent, since it refers to a record that was created locally and was not uploaded. It is uploaded
    /// after that one.
    public static let waiting = Kind(rawValue: "waiting")
    /// Nothing was to be done: removed or cleaned by the application since, or without any
    /// flag.
    public static let nothingToDo = Kind(rawValue: "nothingToDo")

    /// The stored text.
    public var description: String { rawValue }
  }

  /// The sync that took the record.
  public let syncId: Int64
  /// The record's soup.
  public let soupName: String
  /// The record's place in the soup.
  public let entryId: Int64
  /// The value of its id field: the server's id if there is one.
  public let recordId: String?
  /// What was to be done; nil if there was nothing to send.
  public let action: SyncUpAction?
  /// What became of it.
  public let kind: Kind
  /// When that was known, in milliseconds since 1970.
  public let time: Int64
  /// What the server, or the check before sending, said; nil unless the record was refused, or held back
  /// because of another.
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
    self.error = error
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

  /// Whether the server may have made or changed this record without being heard.
  var isLost: Bool {
    action != nil && action != .delete && (kind == .inFlight || kind == .unanswered)
  }

  /// The same of the entry that the record's own has become one with; nil if it has not.
  func moved(to entryId: Int64?) -> SyncRecordOutcome {
    guard let entryId else { return self }
    return SyncRecordOutcome(
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

extension Set<SyncRecordOutcome.Kind> {
  /// The outcomes after which the server certainly has nothing of the record.
  static let notAccepted: Set = [.rejected, .conflict, .undecided, .waiting]
}

/// The number of records of a sync up by outcome.
public struct SyncOutcomeCounts: Sendable, Equatable {
  /// Done by the server, or nothing was to be done.
  public var succeeded = 0
  /// Not sent: because of a change on the server, because the server did not say, or since it refers to a
  /// record that has to go first.
  public var skipped = 0
  /// Refused, or without a response. They stay dirty.
  public var failed = 0

  /// All three are 0.
  public init() {}

  mutating func add(_ kind: SyncRecordOutcome.Kind, _ count: Int = 1) {
    switch kind {
    case .succeeded, .nothingToDo: succeeded += count
    case .conflict, .undecided, .waiting: skipped += count
    default: failed += count
    }
  }
}
