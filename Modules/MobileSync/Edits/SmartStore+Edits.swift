public import SalesforceSDKCommon
public import SmartStore

// The calls of `StoreTransaction`, each in a transaction of its own that is on disk on return.
extension SmartStore {
  /// Adds a record that the next sync up creates on the server.
  ///
  /// ```swift
  /// try await store.createRecord(["Name": "Harbor Repair"], type: "Account", in: "accounts")
  /// ```
  ///
  /// See ``SmartStore/StoreTransaction/createRecord(_:type:in:idField:)``.
  ///
  /// - Returns: The entry as stored; its id field has the local id.
  /// - Throws: ``SyncError`` `invalidEdit`, `store`.
  @discardableResult
  public func createRecord(
    _ fields: JSONObject, type: String, in soupName: String,
    idField: String = SyncKeys.defaultIdField
  ) async throws -> JSONValue {
    try await SyncManager.storeErrors {
      try await inTransaction {
        try $0.createRecord(fields, type: type, in: soupName, idField: idField)
      }
    }
  }

  /// Adds a record from a value of the caller's type.
  ///
  /// - Throws: ``SyncError`` `invalidEdit`, `store`.
  @discardableResult
  public func createRecord(
    encoding record: some Encodable & Sendable, type: String, in soupName: String,
    idField: String = SyncKeys.defaultIdField, dates: JSONDates = .salesforce
  ) async throws -> JSONValue {
    try await SyncManager.storeErrors {
      try await inTransaction {
        try $0.createRecord(
          encoding: record, type: type, in: soupName, idField: idField, dates: dates)
      }
    }
  }

  /// Changes a record; the next sync up sends the change.
  ///
  /// ```swift
  /// try await store.editRecord(id: id, in: "accounts") { $0["Phone"] = "555-0100" }
  /// ```
  ///
  /// The closure gets the entry as it is now. See ``SmartStore/StoreTransaction/editRecord(id:in:idField:_:)``.
  ///
  /// - Returns: The entry as stored.
  /// - Throws: The error of `body`; ``SyncError`` `recordNotFound`, `invalidEdit`, `store`.
  @discardableResult
  public func editRecord(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField,
    _ body: @Sendable (inout JSONObject) throws -> Void
  ) async throws -> JSONValue {
    try await SyncManager.storeErrors {
      try await inTransaction { try $0.editRecord(id: id, in: soupName, idField: idField, body) }
    }
  }

  /// Changes a record as a value of the caller's type. Members that the type does not have stay as
  /// they are.
  ///
  /// ```swift
  /// try await store.editRecord(id: id, in: "accounts", as: Account.self) { $0.phone = "555-0100" }
  /// ```
  ///
  /// - Returns: The entry as stored.
  /// - Throws: The error of `body`; ``SyncError`` `recordNotFound`, `invalidEdit`, `store`.
  @discardableResult
  public func editRecord<Record: Codable & SendableMetatype>(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField,
    as type: Record.Type,
    dates: JSONDates = .salesforce, _ body: @Sendable (inout Record) throws -> Void
  ) async throws -> JSONValue {
    try await SyncManager.storeErrors {
      try await inTransaction {
        try $0.editRecord(
          id: id, in: soupName, idField: idField, as: type, dates: dates, body)
      }
    }
  }

  /// Marks a record as deleted; the next sync up deletes it on the server and removes the entry.
  ///
  /// - Throws: ``SyncError`` `recordNotFound`, `invalidEdit`, `store`.
  public func deleteRecord(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField
  ) async throws {
    try await SyncManager.storeErrors {
      try await inTransaction { try $0.deleteRecord(id: id, in: soupName, idField: idField) }
    }
  }

  /// Returns a record to the last version that the server is known to have, or removes one that was created
  /// locally. See ``SmartStore/StoreTransaction/undoEdit(id:in:idField:)``.
  ///
  /// - Throws: ``SyncError`` `recordNotFound`, `cannotUndo`, `store`.
  public func undoEdit(
    id: String, in soupName: String, idField: String = SyncKeys.defaultIdField
  ) async throws {
    try await SyncManager.storeErrors {
      try await inTransaction { try $0.undoEdit(id: id, in: soupName, idField: idField) }
    }
  }
}
