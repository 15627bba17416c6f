import GRDB
import SalesforceSDKCommon

extension RecordWriter {
  /// Changes the record that an external id names, or creates it.
  ///
  /// - Throws: ``ServerError`` also if the id is the record's own and no record has it, or if several have the value.
  func upsert(
    _ members: JSONSlice, by field: FieldSchema, _ value: DatabaseValue
  ) throws -> RecordResult {
    let found = try ids(where: field, is: value)
    switch found.count {
    case 0:
      if field.type == .id { throw ServerError.invalidCrossReference() }
      return RecordResult(id: try create(members, externalID: (field, value)), created: true)
    case 1:
      try update(id: found[0], members)
      return RecordResult(id: found[0], created: false)
    default:
      throw ServerError(
        "DUPLICATE_EXTERNAL_ID",
        "\(field.name): more than one record found for external id field: \(found)", fields: [])
    }
  }
}
