public import SalesforceSDKCommon

extension SyncUpRecord {
  /// Creates a record for tests that call a target directly; in a run, the engine creates it.
  ///
  /// - Parameters:
  ///   - record: The record as in a soup.
  ///   - id: nil means the text in the id field.
  ///   - fieldNames: The names of the fields to send; the id and the modification date are never
  ///     sent.
  ///   - externalId: Required for an ``SyncUpAction/upsert``.
  public init(
    entryId: Int64 = 1, record: JSONSlice, action: SyncUpAction, objectType: String,
    id: String? = nil, fieldNames: [String], externalId: ExternalId? = nil,
    names: SyncFieldNames = SyncFieldNames()
  ) {
    self.init(
      entryId: entryId, record: record, action: action, objectType: objectType,
      id: id ?? record[names.id]?.string, fieldNames: fieldNames, externalId: externalId,
      unsentFields: [names.id, names.modificationDate])
  }
}

extension SyncUpRecord.ExternalId {
  /// Names a field and a record's value for it.
  public init(_ field: String, _ value: String) {
    self.init(field: field, value: value)
  }
}
