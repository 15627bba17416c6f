import SalesforceSDKCommon

/// The records of a request that carries several.
struct RecordCollection {
  /// Most records that one call creates, changes or deletes.
  static let limit = 200
  /// How often the type of record may change in one call, and one more.
  private static let chunkLimit = 10

  let records: [JSONSlice]
  let allOrNone: Bool

  /// Reads the body of a request.
  init(of request: OrgRequest) throws(ServerError) {
    let body = try request.object()
    guard let list = body["records"], list.kind == .array else {
      throw .jsonParser("The property 'records' has to be an array at [line:1, column:1]")
    }
    records = Array(list.elements)
    allOrNone = body["allOrNone"]?.bool ?? false
    try Self.checkCount(records.count, limit: Self.limit)
    if let record = records.first(where: { $0.kind != .object }) {
      let (line, column) = TextPosition.of(offset: record.utf8.startIndex, in: request.body)
      throw .jsonParser("A record has to be a JSON object at [line:\(line), column:\(column)]")
    }
    try Self.checkChunks(
      records.map { $0["attributes"]?["type"]?.string?.lowercased() ?? "" })
  }

  /// Records of one type that stand side by side are worked off together; such runs are few in a call.
  static func checkChunks(_ types: [String]) throws(ServerError) {
    let chunks = zip(types, types.dropFirst()).count { $0 != $1 } + 1
    if chunks > chunkLimit {
      throw ServerError(
        "LIMIT_EXCEEDED",
        "Cannot have more than \(chunkLimit) chunks in a single operation. Please rearrange the data "
          + "to reduce chunking.")
    }
  }

  static func checkCount(_ count: Int, limit: Int) throws(ServerError) {
    if count == 0 {
      throw ServerError("MISSING_ARGUMENT", "At least one record is required in this call")
    }
    if count > limit {
      throw ServerError(
        "EXCEEDED_ID_LIMIT",
        "record limit reached. cannot submit more than \(limit) records into this call")
    }
  }
}

/// The values that occur more than once in a call, which may name each record once.
struct Repetitions {
  private var repeated: Set<String> = []

  init(_ values: [String?]) {
    var seen: Set<String> = []
    for case let value? in values where !seen.insert(value).inserted { repeated.insert(value) }
  }

  func refuse(_ value: String, what: String) throws(ServerError) {
    if repeated.contains(value) {
      throw ServerError("DUPLICATE_VALUE", "Duplicate \(what) specified: \(value)", fields: [])
    }
  }
}

extension OrgTransaction {
  /// The object that a record of a request names in its attributes.
  func objectType(of record: JSONSlice) throws(ServerError) -> ObjectSchema {
    guard let name = record["attributes"]?["type"]?.string else {
      throw ServerError(
        "INVALID_INPUT", "Please provide attributes.type for the record.", fields: [])
    }
    guard let object = schema.object(named: name) else {
      throw ServerError(
        "INVALID_TYPE",
        "sObject type '\(name)' is not supported. If you are attempting to use a custom object, be "
          + "sure to append the '__c' after the entity name. Please reference your WSDL or the "
          + "describe call for the appropriate names.", fields: [])
    }
    return object
  }
}
