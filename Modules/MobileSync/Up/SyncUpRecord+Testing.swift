public import SalesforceSDKCommon

extension SyncUpRecord {
  /// Makes a record for calling a target in a test of its own; in a run the engine makes it.
  ///
  /// - Parameters:
  ///   - record: The record as a soup would hold it.
  ///   - id: nil takes the text in the id field.
  ///   - fieldNames: The names of the fields to send; the id and the modification date are never sent.
  ///   - externalId: Needed for an ``SyncUpAction/upsert``.
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
