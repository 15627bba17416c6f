public import SalesforceSDKCommon

/// A record that was changed here and on the server, in a way that no rule can settle: an app, or the
/// person before it, decides.
///
/// As long as it is open, nothing is sent for the record, by no sync. The row stays dirty with its own
/// values; what only the server has changed is in the row already. Every sync in mode
/// ``SyncMergeMode/mergeFields`` that meets the record looks again, so a conflict goes away by itself
/// when both sides come to agree.
///
/// Stored in the soup `syncs_conflicts`, one entry per record:
///
/// ```json
/// { "key": "accounts/5", "soupName": "accounts", "entryId": 5, "recordId": "001…", "kind": "fields",
///   "fields": [{ "name": "Phone", "base": "1", "mine": "2", "theirs": "3" }],
///   "syncId": 12, "time": 1700000000000 }
/// ```
public struct SyncConflict: Sendable, Equatable, Identifiable {
  /// What happened on which side.
  public struct Kind: Sendable, Hashable, CustomStringConvertible {
    /// The stored text.
    public let rawValue: String

    private init(_ rawValue: String) { self.rawValue = rawValue }

    /// Both sides have changed the same fields, to different values.
    public static let fields = Kind("fields")
    /// Deleted here, changed on the server.
    public static let deletedHere = Kind("deletedHere")
    /// Changed here, deleted on the server.
    public static let deletedThere = Kind("deletedThere")

    /// The kind with the given text, nil if there is none.
    public init?(rawValue: String) {
      guard
        let known = [Self.fields, .deletedHere, .deletedThere]
          .first(where: { $0.rawValue == rawValue })
      else { return nil }
      self = known
    }

    /// The stored text.
    public var description: String { rawValue }
  }

  /// A field's three values. One that is nil is absent on that side, or not known.
  public struct Field: Sendable, Equatable {
    /// The field's name.
    public let name: String
    /// What both sides agreed on last.
    public let base: JSONValue?
    /// What was written here.
    public let mine: JSONValue?
    /// What the server has.
    public let theirs: JSONValue?

    /// Makes a field of a conflict, to compare with.
    public init(name: String, base: JSONValue?, mine: JSONValue?, theirs: JSONValue?) {
      self.name = name
      self.base = base
      self.mine = mine
      self.theirs = theirs
    }
  }

  /// The soup.
  public let soupName: String
  /// The row's entry id.
  public let entryId: Int64
  /// The record's id on the server.
  public let recordId: String
  /// What happened on which side.
  public let kind: Kind
  /// The fields in conflict; of a deletion, those that the other side has changed.
  public let fields: [Field]
  /// The sync that noticed.
  public let syncId: Int64
  /// When it was noticed, in milliseconds since 1970.
  public let time: Int64
  /// How the soup's syncs name the id and date fields.
  let names: RecordNames
  /// The server's record as far as it was fetched; nil if it is gone.
  let theirs: JSONObject?

  /// One conflict per record.
  public var id: String { "\(soupName)/\(entryId)" }

  init(
    soupName: String, entryId: Int64, recordId: String, kind: Kind, fields: [Field], syncId: Int64,
    time: Int64, names: RecordNames, theirs: JSONObject?
  ) {
    self.soupName = soupName
    self.entryId = entryId
    self.recordId = recordId
    self.kind = kind
    self.fields = fields
    self.syncId = syncId
    self.time = time
    self.names = names
    self.theirs = theirs
  }

  /// Reads a stored conflict; nil if it is none.
  init?(json: JSONSlice) {
    guard let soupName = json["soupName"]?.string, let entryId = json["entryId"]?.int64,
      let recordId = json["recordId"]?.string,
      let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:))
    else { return nil }
    self.init(
      soupName: soupName, entryId: entryId, recordId: recordId, kind: kind,
      fields: json["fields"].map { fields in
        fields.elements.map { field in
          Field(
            name: field["name"]?.string ?? "", base: field["base"]?.value,
            mine: field["mine"]?.value, theirs: field["theirs"]?.value)
        }
      } ?? [],
      syncId: json["syncId"]?.int64 ?? -1, time: json["time"]?.int64 ?? 0,
      names: RecordNames(
        idField: json["idField"]?.string ?? SyncKeys.defaultIdField,
        dateField: json["dateField"]?.string ?? SyncKeys.defaultModificationDateField),
      theirs: json["theirs"]?.value.object)
  }

  /// The stored form.
  public var json: JSONObject {
    var object: JSONObject = [
      "key": .string(id), "soupName": .string(soupName), "entryId": .integer(entryId),
      "recordId": .string(recordId), "kind": .string(kind.rawValue),
      "fields": .array(
        fields.map { field in
          var object: JSONObject = ["name": .string(field.name)]
          if let base = field.base { object["base"] = base }
          if let mine = field.mine { object["mine"] = mine }
          if let theirs = field.theirs { object["theirs"] = theirs }
          return .object(object)
        }),
      "syncId": .integer(syncId), "time": .integer(time), "idField": .string(names.idField),
      "dateField": .string(names.dateField),
    ]
    if let theirs { object["theirs"] = .object(theirs) }
    return object
  }
}

/// How a conflict ends.
public struct SyncResolution: Sendable, Equatable {
  enum Choice: Sendable, Equatable {
    case mine, theirs
    case values(JSONObject)
  }
  let choice: Choice

  /// What stands here goes to the server: the values of the row as they are now, the deletion, or, if
  /// the server's record was deleted and the row was not, the record made anew under a new id.
  public static let mine = SyncResolution(choice: .mine)
  /// What the server has stays: the row takes its values, comes back, or goes.
  public static let theirs = SyncResolution(choice: .theirs)
  /// The fields get these values, which go to the server; a field in conflict that is not among them
  /// takes the server's. A record that was deleted on one side comes back with them.
  public static func values(_ values: JSONObject) -> SyncResolution {
    SyncResolution(choice: .values(values))
  }
}
