public import SalesforceSDKCommon

/// A record that was changed locally and on the server, in a way that the merge mode does not resolve: the
/// app or its user decides.
///
/// While a conflict is open, the entry stays unsynced and is not sent:
///
/// - If mode ``SyncMergeMode/mergeFields`` found the conflict, a sync up in any mode skips the
///   entry. Fields that only the server changed are already merged into the entry.
/// - If mode ``SyncMergeMode/leaveIfChanged`` found it, the entry stays as it is. A sync up in the
///   two modes that detect conflicts skips the entry; a sync up in mode ``SyncMergeMode/overwrite``
///   sends it and ends the conflict.
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
  /// The kind of a conflict: the change on each side.
  public struct Kind: Sendable, Hashable, CustomStringConvertible {
    /// The stored text.
    public let rawValue: String

    private init(_ rawValue: String) { self.rawValue = rawValue }

    /// Changed on both sides. In mode ``SyncMergeMode/mergeFields`` the fields are those that both sides
    /// have changed to different values; in mode ``SyncMergeMode/leaveIfChanged`` all that differ.
    public static let fields = Kind("fields")
    /// Deleted locally, changed on the server.
    public static let deletedHere = Kind("deletedHere")
    /// Changed locally, deleted on the server.
    public static let deletedThere = Kind("deletedThere")
    /// Changed on the server to unknown values: the target cannot fetch them, or the server refused
    /// to return them. The fields are the local changes. In a tree, this may be a record without
    /// local changes; the changes of its tree are then skipped.
    public static let changedThere = Kind("changedThere")
    /// Created locally and sent, and the response was lost: the server may have the record. The
    /// entry is not sent again before ``SyncResolution/record(_:)`` or ``SyncResolution/create``
    /// decides. The fields are the sent fields, with the sent values as `base` and the values of
    /// the first of ``SyncConflict/candidates`` as `theirs`. If there are no candidates, neither
    /// target nor server could search for the record, or the server may still create it: see
    /// ``SyncConflict/heldUntil``.
    public static let inDoubt = Kind("inDoubt")

    /// Two entries of the soup represented the record, with different unsynced values. They are now
    /// one entry with the later values; the values of the other entry are ``Field/theirs``. A field
    /// `__locally_deleted__` means that the other entry was deleted locally. The next sync up
    /// uploads the resolution.
    public static let localEdits = Kind("localEdits")

    /// A child of a tree was edited or created locally, but cannot be uploaded: its parent was
    /// deleted on the server or is not in the parents' soup. ``SyncConflict/missingParent`` names
    /// the parent. ``SyncResolution/detach``, ``SyncResolution/recreateParent`` and
    /// ``SyncResolution/theirs`` decide.
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

  /// The three values of a field. A nil value is absent on that side or unknown.
  public struct Field: Sendable, Equatable {
    /// The field's name.
    public let name: String
    /// The value of the base version.
    public let base: JSONValue?
    /// The local value.
    public let mine: JSONValue?
    /// The server's value.
    public let theirs: JSONValue?

    /// Creates a field of a conflict, for comparisons.
    public init(name: String, base: JSONValue?, mine: JSONValue?, theirs: JSONValue?) {
      self.name = name
      self.base = base
      self.mine = mine
      self.theirs = theirs
    }
  }

  /// A record of the server that may be the locally created one.
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
    /// The child's field that contains this id.
    public let field: String
    /// Whether the server requires a parent, so the child cannot be detached.
    public let isRequired: Bool
    let names: SyncFieldNames
  }

  /// The soup.
  public let soupName: String
  /// The entry's entry id.
  public let entryId: Int64
  /// The record's id on the server; for a record in doubt, its local id.
  public let recordId: String
  /// The kind of the conflict.
  public let kind: Kind
  /// The fields in conflict; for a deletion, the fields that the other side changed.
  public let fields: [Field]
  /// The sync that detected the conflict.
  public let syncId: Int64
  /// The merge mode of that sync.
  public let mergeMode: SyncMergeMode
  /// The time of its detection, in milliseconds since 1970.
  public let time: Int64
  /// The names of the id and date fields in the soup's syncs.
  let names: SyncFieldNames
  /// The server's record as far as it was fetched; nil if it is gone.
  let theirs: JSONObject?
  /// For a record in doubt, the possible matches on the server, best first; empty for other kinds.
  public let candidates: [Candidate]
  /// For a record in doubt that the server may still create, the time of the server's until which it may, in
  /// milliseconds since 1970; otherwise nil. Each run before that searches for the record; a run after that sends it if
  /// the server does not have it.
  public let heldUntil: Int64?
  /// The missing parent, for kind ``Kind/parentMissing``; nil for other kinds.
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
    candidates: [Candidate] = [], heldUntil: Int64? = nil, missingParent: MissingParent? = nil,
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
    self.heldUntil = heldUntil
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
      } ?? [], heldUntil: json["heldUntil"]?.int64,
      missingParent: json["missingParent"].flatMap(MissingParent.init(json:)),
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
    if let heldUntil { object["heldUntil"] = .integer(heldUntil) }
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
