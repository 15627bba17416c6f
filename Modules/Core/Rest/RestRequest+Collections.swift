import HTTPTypes
import SalesforceSDKCommon

/// One record of a collection or a tree: its object and its fields.
public struct RestRecord: Sendable, Equatable {
  /// The object's name.
  public var object: String
  /// The fields; for an update, they include `id`.
  public var fields: RestFields

  /// Creates a record.
  public init(object: String, fields: RestFields) {
    self.object = object
    self.fields = fields
  }
}

// The factories of CO-133. The response to a write is one result per record, in input order:
// ``CollectionResult`` reads it.
extension RestRequest {
  /// The maximum number of records in one write. The caller splits longer lists.
  public static let maxCollectionRecords = 200
  /// The maximum number of ids in one retrieve.
  public static let maxCollectionIds = 2000

  /// Creates up to 200 records, of one or several objects.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`.
  public static func collectionCreate(
    _ records: [RestRecord], allOrNone: Bool = false, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try write(.post, "", records, allOrNone, apiVersion)
  }

  /// Changes up to 200 records; the fields of each include its `id`.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`; `invalidRequest` if a record has no `id`.
  public static func collectionUpdate(
    _ records: [RestRecord], allOrNone: Bool = false, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    for (index, record) in records.enumerated()
    where !record.fields.has("id") && !record.fields.has("Id") {
      throw RestError(.invalidRequest, "Record \(index) of the update has no id.")
    }
    return try write(.patch, "", records, allOrNone, apiVersion)
  }

  /// Creates or changes up to 200 records of one object by an external id, which the fields of each
  /// include.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`.
  public static func collectionUpsert(
    object: String, externalIdField: String, _ records: [RestFields], allOrNone: Bool = false,
    apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    let place = "/\(PercentEncoding.encode(object))/\(PercentEncoding.encode(externalIdField))"
    return try write(
      .patch, place, records.map { RestRecord(object: object, fields: $0) }, allOrNone, apiVersion)
  }

  /// Deletes up to 200 records.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`.
  public static func collectionDelete(
    ids: [String], allOrNone: Bool = false, apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try check(ids.count, atMost: maxCollectionRecords, of: "delete")
    return RestRequest(
      method: .delete, path: "\(root(apiVersion))/composite/sobjects",
      query: [
        RestQueryItem("allOrNone", allOrNone),
        RestQueryItem("ids", ids.joined(separator: ",")),
      ])
  }

  /// Fetches fields of up to 2000 records of one object. ``RetrievedCollection`` reads the response, which
  /// has `null` for each record that is deleted or that the user may not see.
  ///
  /// - Throws: ``RestError`` `tooManyRecords`.
  public static func collectionRetrieve(
    object: String, ids: [String], fields: [String], apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    try check(ids.count, atMost: maxCollectionIds, of: "retrieve")
    var body = JSONWriter()
    body.beginObject()
    for (key, values) in [("ids", ids), ("fields", fields)] {
      body.key(key)
      body.beginArray()
      for value in values { body.string(value) }
      body.endArray()
    }
    body.endObject()
    let path = "\(root(apiVersion))/composite/sobjects/\(PercentEncoding.encode(object))"
    var request = RestRequest(method: .post, path: path).with(json: body.bytes)
    // It only reads, whatever its method is.
    request.isRepeatable = true
    return request
  }

  private static func write(
    _ method: HTTPRequest.Method, _ place: String, _ records: [RestRecord], _ allOrNone: Bool,
    _ apiVersion: String?
  ) throws(RestError) -> RestRequest {
    try check(records.count, atMost: maxCollectionRecords, of: "\(method)")
    var body = Array(#"{"allOrNone":\#(allOrNone),"records":["#.utf8)
    for (index, record) in records.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      var attributes = JSONWriter()
      attributes.beginObject()
      attributes.key("type")
      attributes.string(record.object)
      attributes.endObject()
      record.fields.append(attributes: attributes.bytes, to: &body)
    }
    body.append(contentsOf: Array("]}".utf8))
    return RestRequest(method: method, path: "\(root(apiVersion))/composite/sobjects\(place)")
      .with(json: body)
  }

  private static func check(
    _ count: Int, atMost limit: Int, of operation: String
  ) throws(RestError) {
    guard count <= limit else {
      throw RestError(
        .tooManyRecords,
        "A collection \(operation) takes \(limit) records, not \(count). Split it.")
    }
  }
}
