/// What became of one record of a request that carries several.
struct RecordResult {
  var id: String?
  var created: Bool?
  var error: ServerError?

  /// The form of collections: errors with `statusCode`.
  var json: ResponseJSON {
    var json: ResponseJSON = id.map { ["id": .string($0)] } ?? [:]
    json.append([
      "success": .bool(error == nil), "errors": .array([error?.recordJSON].compactMap(\.self)),
    ])
    if let created, error == nil { json.append(["created": .bool(created)]) }
    return json
  }

  static let rolledBack = ServerError(
    "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    "Record rolled back because not all records were valid and the request was using AllOrNone header",
    fields: [])
}
