public import SalesforceSDKCommon

/// The change that a dirty record needs on the server.
public enum SyncUpAction: String, Sendable, Equatable {
  /// Create the record.
  case create
  /// Create the record, or change the one with the same external id.
  case upsert
  /// Update the record.
  case update
  /// Delete the record.
  case delete
}

/// A local record to upload, as the engine read it.
public struct SyncUpRecord: Sendable {
  /// The record's entry id.
  public internal(set) var entryId: Int64
  /// The record as stored.
  public internal(set) var record: JSONSlice
  /// The action on the server.
  public internal(set) var action: SyncUpAction
  /// The object type, such as `Account`.
  public internal(set) var objectType: String
  /// The value of the id field: the server's id, or one that was created locally.
  public internal(set) var id: String?
  /// The names of the fields to send; the record may lack some.
  public internal(set) var fieldNames: [String]
  /// The field and value by which the server finds the record; set for an ``SyncUpAction/upsert``.
  public internal(set) var externalId: ExternalId?
  /// The names of the id and the modification date field, which are never sent.
  var unsentFields: [String]
  /// Fields that are left out and have to go later.
  var leftOut: Set<String> = []
  /// The edited fields that this sync does not upload, in alphabetical order: by them the entry stays unsynced, for a
  /// sync that does.
  var otherEdits: [String] = []
  /// The action of an earlier run whose response was lost, and that the server has executed; nil if there is none.
  var recovered: SyncUpAction?
  /// Whether there are fields that go later.
  var isPartial: Bool { !leftOut.isEmpty }
  /// Whether those were all.
  var isEmptied: Bool { isPartial && fieldNames.isEmpty }

  /// A field that identifies a record on the server, and a record's value for it.
  public struct ExternalId: Sendable, Hashable {
    /// The field's name.
    public let field: String
    /// The record's value.
    public let value: String
  }

  /// The fields to send, in the order of the list: missing members are omitted, null is kept.
  ///
  /// The values are those of the stored text and are not copied. A name with dots is a path into
  /// the record. Cost: one lookup per name.
  public var values: [(name: String, value: JSONSlice)] {
    fieldNames.compactMap { name in
      if unsentFields.contains(name) || SyncKeys.neverSent.contains(name) { return nil }
      if let value = record[name] { return (name, value) }
      guard name.utf8.contains(UInt8(ascii: ".")) else { return nil }
      var value: JSONSlice? = record
      for key in name.split(separator: ".") { value = value?[String(key)] }
      return value.map { (name, $0) }
    }
  }

  /// The names of the sent fields that are the record's own, and not another's by a path.
  var columns: [String] { values.map(\.name).filter { !$0.contains(".") } }

  /// The fields that are sent and hold one of `ids`.
  func fieldsReferring(to ids: Set<String>) -> Set<String> {
    if ids.isEmpty { return [] }
    return Set(values.filter { LocalIdIndex.refers($0, to: ids) }.map(\.name))
  }

  /// The record without some of its fields.
  func leavingOut(_ names: Set<String>) -> SyncUpRecord {
    var record = self
    record.fieldNames.removeAll(where: names.contains)
    record.leftOut = names
    return record
  }

  /// The record with these fields alone.
  func sending(_ names: [String]) -> SyncUpRecord {
    var record = self
    record.fieldNames = names
    return record
  }

  /// The record with the stored text of now, which differs in nothing that was edited.
  func asStored(_ entry: JSONSlice) -> SyncUpRecord {
    var record = self
    record.record = entry
    return record
  }

  /// The record as the server knows it, under its new id if it was created on the server.
  func accepted(as newId: String?) -> SyncUpRecord {
    var record = self
    record.id = newId ?? id
    return record
  }

  /// The record of the entry that its own has become one with; nil if it has not.
  func moved(to entryId: Int64?) -> SyncUpRecord {
    var record = self
    record.entryId = entryId ?? self.entryId
    return record
  }

  /// The record to create again, because the server no longer has it.
  func recreated(with fields: SyncUpFieldChoice) -> SyncUpRecord {
    var record = self
    record.externalId = fields.externalId(of: record.record)
    record.action = record.externalId == nil ? .create : .upsert
    record.fieldNames = fields.create.filter { !leftOut.contains($0) }
    return record
  }

  /// The record as it is to be changed.
  func asUpdate(with fields: SyncUpFieldChoice) -> SyncUpRecord {
    var record = self
    record.externalId = nil
    record.action = .update
    record.fieldNames = fields.lacks(.update) ? fields.create : fields.update
    return record
  }

  /// Whether the server is to make the record.
  var makesRecord: Bool { action == .create || action == .upsert }

  /// The id by which the server knew a record that it has deleted, and that is to be created again; nil if it is none.
  static func lostId(of entry: JSONSlice, idField: String) -> String? {
    guard let id = entry[idField]?.string, !id.isEmpty, !SyncKeys.isLocalId(id) else { return nil }
    let flags = RecordFlags(of: entry)
    return flags.created && !flags.deleted ? id : nil
  }

  /// The id of a record that was created locally; nil if it has none of those.
  static func localId(of entry: JSONSlice, idField: String) -> String? {
    entry[idField]?.string.flatMap { SyncKeys.isLocalId($0) ? $0 : nil }
  }

  /// Whether the id is one by which the server may know the record, and not one that was created locally.
  var hasServersId: Bool { id.map { !$0.isEmpty && !SyncKeys.isLocalId($0) } ?? false }
}

/// The fields of one run: the target's lists, or those of the options.
///
/// A sync may have a list for one action alone, and then uploads nothing by the other.
struct SyncUpFieldChoice: Sendable {
  private let createList: [String]?
  private let updateList: [String]?
  let names: SyncFieldNames
  let externalIdField: String?
  /// Whether a record without a value for that field gets one before it is sent.
  let fillsExternalId: Bool

  /// The fields of creates, upserts and re-creations; empty without a list.
  var create: [String] { createList ?? [] }
  /// The fields of updates; empty without a list.
  var update: [String] { updateList ?? [] }
  /// The fields of both lists.
  var all: [String] { create + update }
  /// The field that holds a record's id.
  var idField: String { names.id }
  /// The field that holds a record's modification date.
  var dateField: String { names.modificationDate }

  /// Creates the choice with the given lists and names.
  init(
    create: [String], update: [String], names: SyncFieldNames, externalIdField: String?,
    fillsExternalId: Bool = false
  ) {
    self.fillsExternalId = fillsExternalId
    createList = create
    updateList = update
    self.names = names
    self.externalIdField = externalIdField
  }

  /// - Throws: ``SyncError`` `noFields` if neither the target nor the options have a list.
  init(target: any SyncUpTarget, options: SyncOptions) throws(SyncError) {
    let fields = target.fields
    createList = fields.createFieldlist ?? options.fieldlist
    updateList = fields.updateFieldlist ?? options.fieldlist
    guard createList != nil || updateList != nil else {
      throw SyncError(
        .noFields,
        "No fields specified: give the sync's options a field list, or its target lists for creates "
          + "and updates.")
    }
    names = SyncFieldNames(
      id: target.idFieldName, modificationDate: target.modificationDateFieldName)
    externalIdField = fields.externalIdFieldName
    fillsExternalId = fields.fillsExternalId
  }

  /// Whether there is no list of fields for an action. A deletion needs none.
  func lacks(_ action: SyncUpAction) -> Bool {
    switch action {
    case .create, .upsert: createList == nil
    case .update: updateList == nil
    case .delete: false
    }
  }

  /// The record's value for the external id field, unless it is absent, null, empty or a local id.
  func externalId(of record: JSONSlice) -> SyncUpRecord.ExternalId? {
    guard let field = externalIdField,
      let value = SyncUpRecord.ExternalId.text(of: record[field]), !SyncKeys.isLocalId(value)
    else { return nil }
    return SyncUpRecord.ExternalId(field: field, value: value)
  }
}

extension SyncUpRecord.ExternalId {
  /// The value as text; nil if it is absent, null, empty or neither a text nor a number.
  static func text(of member: JSONSlice?) -> String? {
    let text: String?
    switch member?.kind {
    case .string: text = member?.string
    case .number: text = member?.numberText
    default: return nil
    }
    return text.flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The engine's decision about a dirty record.
enum SyncUpDecision: Sendable {
  /// Send it.
  case send(SyncUpRecord)
  /// Remove the entry: the server never had the record.
  case removeEntry(id: String?)
  /// Leave the entry: none of its flags says what to do.
  case nothing
  /// Refuse it without a request.
  case refuse(id: String?, JSONValue)

  /// Decides the action for a soup entry by its flags: a deletion before a creation before an
  /// update.
  init(entryId: Int64, record: JSONSlice, fields: SyncUpFieldChoice) {
    let flags = RecordFlags(of: record)
    let id = record[fields.idField]?.string
    let isUnknownToServer = flags.created || id.map(SyncKeys.isLocalId) ?? true

    var externalId: SyncUpRecord.ExternalId?
    let action: SyncUpAction
    if flags.deleted {
      if isUnknownToServer {
        self = .removeEntry(id: id)
        return
      }
      action = .delete
    } else if flags.created || (flags.updated && isUnknownToServer) {
      // A record that the server cannot know can only be made, whatever its flags say.
      externalId = fields.externalId(of: record)
      action = externalId == nil ? .create : .upsert
    } else if flags.updated {
      action = .update
    } else {
      self = .nothing
      return
    }

    guard let type = record[SyncKeys.attributes]?[SyncKeys.type]?.string, !type.isEmpty else {
      self = .refuse(id: id, Self.noObjectType)
      return
    }
    guard !fields.lacks(action) else {
      self = .refuse(id: id, Self.noFields(action))
      return
    }
    self = .send(
      SyncUpRecord(
        entryId: entryId, record: record, action: action, objectType: type, id: id,
        fieldNames: action == .update ? fields.update : fields.create, externalId: externalId,
        unsentFields: [fields.idField, fields.dateField]))
  }

  static let noObjectType = clientError(
    "MISSING_OBJECT_TYPE", "The record has no object type. Set its member attributes.type.")

  private static func noFields(_ action: SyncUpAction) -> JSONValue {
    let (what, key) =
      action == .update ? ("updates", "updateFieldlist") : ("creates", "createFieldlist")
    return clientError(
      "MISSING_FIELD_LIST",
      "The sync has no list of fields for \(what). Give its target \(key), or its options fieldlist."
    )
  }

  /// The error of a record that is not sent since the server did not say what it has.
  static let versionUnknown = clientError(
    "VERSION_UNKNOWN",
    "The server did not return its version of the record, so it was not sent. Run the sync again.")

  /// The same of a tree.
  static let treeVersionUnknown = clientError(
    "VERSION_UNKNOWN",
    "It is not known whether the server has changed this record or another one of its tree, so the tree was not sent. "
      + "Run the sync again.")

  /// The error of a record that was not sent.
  static func notSent(_ reason: String) -> JSONValue {
    clientError("NOT_SENT", "\(reason) The record was not sent. Run the sync again.")
  }

  /// An error in the form of the server's, created locally.
  ///
  /// - Parameter isRetryable: Whether the error has the member `retryable`: it says nothing about the record.
  static func clientError(
    _ code: String, _ message: String, isRetryable: Bool = false
  ) -> JSONValue {
    var error: JSONObject = [
      "statusCode": .string(code), "message": .string(message), "fields": .array([]),
    ]
    if isRetryable { error["retryable"] = true }
    return .object(error)
  }
}
