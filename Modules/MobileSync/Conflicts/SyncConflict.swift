public import SalesforceSDKCommon

/// A record that was changed locally and on the server, in a way that the merge mode does not resolve: the
/// app or its user decides.
///
/// While a conflict is open, the entry stays unsynced and is not sent:
///
/// - A conflict that mode ``SyncMergeMode/mergeFields`` finds holds the entry back in every mode. What only
///   the server has changed is in the entry already.
/// - A conflict that mode ``SyncMergeMode/leaveIfChanged`` finds leaves the entry as it is. It holds the entry
///   back in the modes that compare; a sync up in mode ``SyncMergeMode/overwrite`` is a decision that the
///   entry wins, and ends the conflict.
///
/// Each run that compares the record again replaces the conflict, or ends it when both sides agree or the edit
/// was undone.
///
/// Stored in the soup `syncs_conflicts`, one entry per record:
///
/// ```json
/// { "key": "accounts/5", "soupName": "accounts", "entryId": 5, "recordId": "001…", "kind": "fields",
///   "fields": [{ "name": "Phone", "base": "1", "mine": "2", "theirs": "3" }],
///   "syncId": 12, "mergeMode": "MERGE_FIELDS", "time": 1700000000000 }
/// ```
public struct SyncConflict: Sendable, Equatable, Identifiable {
  /// What happened on which side.
  public struct Kind: Sendable, Hashable, CustomStringConvertible {
    /// The stored text.
    public let rawValue: String

    private init(_ rawValue: String) { self.rawValue = rawValue }

    /// Changed on both sides. In mode ``SyncMergeMode/mergeFields`` the fields are those that both sides
    /// have changed to different values; in mode ``SyncMergeMode/leaveIfChanged`` all that differ.
    public static let fields = Kind("fields")
    /// Deleted here, changed on the server.
    public static let deletedHere = Kind("deletedHere")
    /// Changed here, deleted on the server.
    public static let deletedThere = Kind("deletedThere")
    /// Changed on the server, and its values there are not known: the target cannot fetch them, or the
    /// server refused them. The fields are the local changes. Of a tree it may be a record without local
    /// changes: then those of its tree are held back.
    public static let changedThere = Kind("changedThere")
    /// Created here and sent, and the response was lost: the server may have the record. The entry is not sent
    /// again before ``SyncResolution/record(_:)`` or ``SyncResolution/create`` decides. The fields are those that
    /// were sent, with their values of then as `base`, and as `theirs` those of the first of
    /// ``SyncConflict/candidates``; without candidates the target or the server could not tell.
    public static let inDoubt = Kind("inDoubt")

    /// Two entries of the soup stood for the record, with different unsynced values. They are one entry now, which
    /// has the later values; those of the other are ``Field/theirs``. A field `__locally_deleted__` says that
    /// the other entry was deleted locally. What is resolved is uploaded by the next sync up.
    public static let localEdits = Kind("localEdits")

    /// A child of a tree was edited or created here, and its parent was deleted on the server or is not in the
    /// parents' soup, so that the child cannot be uploaded. ``SyncConflict/missingParent`` names it.
    /// ``SyncResolution/detach``, ``SyncResolution/recreateParent`` and ``SyncResolution/theirs`` decide.
    public static let parentMissing = Kind("parentMissing")

    /// The kind with the given text, nil if there is none.
    public init?(rawValue: String) {
      guard
        let known = [
          Self.fields, .deletedHere, .deletedThere, .changedThere, .inDoubt, .localEdits,
          .parentMissing,
        ]
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

  /// A record of the server that may be the one that was created here.
  public struct Candidate: Sendable, Equatable {
    /// The record's id.
    public let id: String
    /// Its values of the fields that were sent, and its modification date.
    public let values: JSONObject
  }

  /// The parent without which a child of a tree cannot be uploaded.
  public struct MissingParent: Sendable, Equatable {
    /// The parents' soup.
    public let soupName: String
    /// The parent's entry, which ``SyncResolution/recreateParent`` needs; nil if the soup has none.
    public let entryId: Int64?
    /// The id that the child refers to.
    public let recordId: String
    /// The child's field that holds it.
    public let field: String
    /// Whether the server keeps no child without a parent, so that it cannot be detached.
    public let isRequired: Bool
    let names: SyncFieldNames
  }

  /// The soup.
  public let soupName: String
  /// The entry's entry id.
  public let entryId: Int64
  /// The record's id on the server; of a record in doubt its local id.
  public let recordId: String
  /// What happened on which side.
  public let kind: Kind
  /// The fields in conflict; of a deletion, those that the other side has changed.
  public let fields: [Field]
  /// The sync that noticed.
  public let syncId: Int64
  /// The merge mode of that sync.
  public let mergeMode: SyncMergeMode
  /// When it was noticed, in milliseconds since 1970.
  public let time: Int64
  /// How the soup's syncs name the id and date fields.
  let names: SyncFieldNames
  /// The server's record as far as it was fetched; nil if it is gone.
  let theirs: JSONObject?
  /// The records that one in doubt may be, best first; of other kinds none.
  public let candidates: [Candidate]
  /// The parent of a conflict of kind ``Kind/parentMissing``; of other kinds nil.
  public let missingParent: MissingParent?
  /// The fields by which children refer to a record in doubt, which follow it to its id.
  let childLinks: Set<ChildLink>
  /// Whether the conflict holds back the tree of a record that may itself be clean.
  let isOfTree: Bool

  /// One conflict per record.
  public var id: String { "\(soupName)/\(entryId)" }

  init(
    soupName: String, entryId: Int64, recordId: String, kind: Kind, fields: [Field], syncId: Int64,
    mergeMode: SyncMergeMode = .mergeFields, time: Int64, names: SyncFieldNames,
    theirs: JSONObject?,
    candidates: [Candidate] = [], missingParent: MissingParent? = nil,
    childLinks: Set<ChildLink> = [], isOfTree: Bool = false
  ) {
    self.soupName = soupName
    self.entryId = entryId
    self.recordId = recordId
    self.kind = kind
    self.fields = fields
    self.syncId = syncId
    self.mergeMode = mergeMode
    self.time = time
    self.names = names
    self.theirs = theirs
    self.candidates = candidates
    self.missingParent = missingParent
    self.childLinks = childLinks
    self.isOfTree = isOfTree
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
      syncId: json["syncId"]?.int64 ?? -1,
      // Earlier versions kept conflicts of one mode.
      mergeMode: json["mergeMode"]?.string.flatMap(SyncMergeMode.init(rawValue:)) ?? .mergeFields,
      time: json["time"]?.int64 ?? 0,
      names: SyncFieldNames(
        id: json["idField"]?.string ?? SyncKeys.defaultIdField,
        modificationDate: json["dateField"]?.string ?? SyncKeys.defaultModificationDateField),
      theirs: json["theirs"]?.value.object,
      candidates: json["candidates"]?.elements.compactMap { candidate in
        guard let id = candidate["id"]?.string else { return nil }
        return Candidate(id: id, values: candidate["values"]?.value.object ?? [:])
      } ?? [], missingParent: json["missingParent"].flatMap(MissingParent.init(json:)),
      childLinks: Set(
        json["childLinks"]?.elements.compactMap { link in
          guard let soupName = link["soupName"]?.string, let field = link["field"]?.string else {
            return nil
          }
          return ChildLink(soupName: soupName, field: field)
        } ?? []),
      isOfTree: json["isOfTree"]?.bool ?? false)
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
      "syncId": .integer(syncId), "mergeMode": .string(mergeMode.rawValue), "time": .integer(time),
      "idField": .string(names.id), "dateField": .string(names.modificationDate),
    ]
    if !candidates.isEmpty {
      object["candidates"] = .array(
        candidates.map { ["id": .string($0.id), "values": .object($0.values)] })
    }
    if !childLinks.isEmpty {
      let links = childLinks.sorted { ($0.soupName, $0.field) < ($1.soupName, $1.field) }
      object["childLinks"] = .array(
        links.map { ["soupName": .string($0.soupName), "field": .string($0.field)] })
    }
    if let missingParent { object["missingParent"] = .object(missingParent.json) }
    if isOfTree { object["isOfTree"] = true }
    if let theirs { object["theirs"] = .object(theirs) }
    return object
  }
}

extension SyncConflict.MissingParent {
  /// Reads the stored form; nil if it is none.
  init?(json: JSONSlice) {
    guard let soupName = json["soupName"]?.string, let recordId = json["recordId"]?.string,
      let field = json["field"]?.string
    else { return nil }
    self.init(
      soupName: soupName, entryId: json["entryId"]?.int64, recordId: recordId, field: field,
      isRequired: json["isRequired"]?.bool ?? false,
      names: SyncFieldNames(
        id: json["idField"]?.string ?? SyncKeys.defaultIdField,
        modificationDate: json["dateField"]?.string ?? SyncKeys.defaultModificationDateField))
  }

  /// The stored form.
  var json: JSONObject {
    [
      "soupName": .string(soupName), "entryId": entryId.map { .integer($0) } ?? .null,
      "recordId": .string(recordId), "field": .string(field), "isRequired": .bool(isRequired),
      "idField": .string(names.id), "dateField": .string(names.modificationDate),
    ]
  }
}

extension SyncConflict.Field {
  /// The children of a deleted parent that were created or changed on the server.
  init(changedChildren: JSONObject) {
    self.init(
      name: SyncKeys.treeChildren, base: nil, mine: nil, theirs: .object(changedChildren))
  }
}
