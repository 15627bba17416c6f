public import SalesforceSDKCommon
public import SmartStore

extension StoreTransaction {
  /// Adds a record that the next sync up creates on the server.
  ///
  /// The entry gets a local id. Reference fields of other entries can use it until the server
  /// assigns the record's id.
  ///
  /// - Parameters:
  ///   - fields: The values, such as `["Name": "Harbor Repair"]`. The id may be one of
  ///     ``SyncManager/createLocalId()``.
  ///   - type: The object type, such as `Account`.
  ///   - idField: The id field of the soup's sync targets. Default: `Id`.
  /// - Returns: The entry as stored.
  /// - Throws: ``SyncError`` `invalidEdit` if the entry could never be uploaded: an id of the server, an id that
  ///   another entry has, an empty type, a soup without an index on the id field or on `__local__`;
  ///   `SmartStoreError` `unknownSoup`, `invalidEntry`.
  @discardableResult
  public borrowing func createRecord(
    _ fields: JSONObject, type: String, in soupName: String,
    idField: String = SyncKeys.defaultIdField
  ) throws -> JSONValue {
    try RecordEditor(soupName: soupName, idField: idField).create(fields, type: type, in: self)
  }

  /// Changes a record; the next sync up sends the change.
  ///
  /// The closure gets the entry as it is now, including changes that a download made since the
  /// caller read it. If the closure removes a member, it becomes null, which clears the field on
  /// the server. If it changes nothing, the entry stays as it is.
  ///
  /// - Parameter id: The value of the id field. A local id also finds an entry whose record has been uploaded.
  /// - Returns: The entry as stored.
  /// - Throws: The error of `body`; ``SyncError`` `recordNotFound`, or `invalidEdit` if the record
  ///   is deleted locally, has no object type, or the closure changed the id, a flag or another
  ///   member of sync; `SmartStoreError` `unknownSoup`, `invalidEntry`.
  @discardableResult
  public borrowing func editRecord(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField,
    _ body: (inout JSONObject) throws -> Void
  ) throws -> JSONValue {
    try RecordEditor(soupName: soupName, idField: idField).edit(id, in: self, body)
  }

  /// Marks a record as deleted; the next sync up deletes it on the server and removes the entry.
  ///
  /// Until then queries still find the entry, with `__locally_deleted__` true.
  ///
  /// - Throws: ``SyncError`` `recordNotFound`, `invalidEdit` if the record has no object type; `SmartStoreError`
  ///   `unknownSoup`.
  public borrowing func deleteRecord(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField
  ) throws {
    try RecordEditor(soupName: soupName, idField: idField).delete(id, in: self)
  }

  /// Returns a record to its base version, the last one that the server is known to have, or removes a record that
  /// was created locally. An open conflict of the record ends with the server's values.
  ///
  /// - Throws: ``SyncError`` `recordNotFound`; `cannotUndo` if no base version is kept, as in mode
  ///   ``SyncMergeMode/overwrite``, or if the server may have a record whose creation was not acknowledged;
  ///   `SmartStoreError` `unknownSoup`.
  public borrowing func undoEdit(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField
  ) throws {
    try RecordEditor(soupName: soupName, idField: idField).undo(id, in: self)
  }
}

// Values of the caller's own types.
extension StoreTransaction {
  /// Adds a record from a value; see ``createRecord(_:type:in:idField:)``.
  ///
  /// - Parameter dates: The format of dates. Default: Salesforce's.
  /// - Throws: As there, and `SmartStoreError` `invalidEntry` for a value that is not a JSON
  ///   object.
  @discardableResult
  public borrowing func createRecord(
    encoding record: some Encodable, type: String, in soupName: String,
    idField: String = SyncKeys.defaultIdField, dates: JSONDates = .salesforce
  ) throws -> JSONValue {
    try createRecord(
      try JSONObject(entry: record, dates: dates), type: type, in: soupName, idField: idField)
  }

  /// Changes a record as a value of the caller's type; see ``editRecord(id:in:idField:_:)``.
  ///
  /// Members of the entry that the type does not have stay as they are.
  ///
  /// - Parameter dates: The format of dates. Default: Salesforce's.
  /// - Throws: As there, and `SmartStoreError` `notDecodable` if the entry does not fit the type.
  @discardableResult
  public borrowing func editRecord<Record: Codable & SendableMetatype>(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField,
    as type: Record.Type,
    dates: JSONDates = .salesforce, _ body: (inout Record) throws -> Void
  ) throws -> JSONValue {
    try editRecord(id: id, in: soupName, idField: idField) { entry in
      var record: Record
      do throws(JSONError) {
        record = try JSONValue.object(entry).decode(as: type, dates: dates)
      } catch {
        throw SmartStoreError(
          .notDecodable,
          "The record '\(id)' does not fit \(type)\(error.path.map { ", at \($0)" } ?? ""). Correct the type.",
          cause: error)
      }
      let before = try JSONObject(entry: record, dates: dates)
      try body(&record)
      let after = try JSONObject(entry: record, dates: dates)
      for (key, value) in after where before[key] != value { entry[key] = value }
      for (key, _) in before where after[key] == nil { entry[key] = .null }
    }
  }
}

extension JSONObject {
  /// The JSON object that a value encodes to.
  fileprivate init(entry value: some Encodable, dates: JSONDates) throws(SmartStoreError) {
    do throws(JSONError) {
      guard let object = try JSONValue(encoding: value, dates: dates).object else {
        throw JSONError(.typeMismatch, "The value does not encode to a JSON object.")
      }
      self = object
    } catch {
      throw SmartStoreError(
        .invalidEntry,
        "Cannot write a value of \(type(of: value)) as a soup entry. Correct the type.",
        cause: error)
    }
  }
}
