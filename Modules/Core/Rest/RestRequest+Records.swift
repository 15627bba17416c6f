import HTTPTypes
public import SalesforceSDKCommon

// The factories of CO-131 for one record. Ids, field names and values in a path are encoded.
extension RestRequest {
  /// One record by its id.
  ///
  /// - Parameter fields: The fields to fetch; empty for all.
  public static func retrieve(
    object: String, id: String, fields: [String] = [], apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(
      path: record(object, id, apiVersion),
      query: fields.isEmpty ? [] : [RestQueryItem("fields", fields.joined(separator: ","))])
  }

  /// Creates a record. The response is 201 with `{id, success, errors}`.
  public static func create(
    object: String, fields: RestFields, apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(method: .post, path: sobject(object, apiVersion)).with(json: fields.body)
  }

  /// Changes fields of a record. The response is 204.
  ///
  /// - Parameter ifUnmodifiedSince: The server refuses with 412 if the record changed after this
  ///   time, in whole seconds.
  public static func update(
    object: String, id: String, fields: RestFields, ifUnmodifiedSince: SalesforceDate? = nil,
    apiVersion: String? = nil
  ) -> RestRequest {
    var request = RestRequest(method: .patch, path: record(object, id, apiVersion))
      .with(json: fields.body)
    if let date = ifUnmodifiedSince {
      request.headers[.ifUnmodifiedSince] = date.httpText
    }
    return request
  }

  /// Creates a record, or changes the one whose external id matches. A status 300 means several matches.
  ///
  /// - Parameter externalId: `nil` always creates.
  /// - Throws: ``RestError`` `invalidRequest` if `fields` contains the external id, which the
  ///   server refuses.
  public static func upsert(
    object: String, externalIdField: String, externalId: String?, fields: RestFields,
    apiVersion: String? = nil
  ) throws(RestError) -> RestRequest {
    guard !fields.has(externalIdField) else {
      throw RestError(
        .invalidRequest,
        "The fields of an upsert must not hold the external id \(externalIdField). Leave it out.")
    }
    let field = "\(sobject(object, apiVersion))/\(PercentEncoding.encode(externalIdField))"
    guard let externalId else {
      return RestRequest(method: .post, path: "\(field)/").with(json: fields.body)
    }
    return RestRequest(method: .patch, path: "\(field)/\(PercentEncoding.encode(externalId))")
      .with(json: fields.body)
  }

  /// Deletes a record. The response is 204.
  public static func delete(
    object: String, id: String, apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(method: .delete, path: record(object, id, apiVersion))
  }

  private static func record(_ object: String, _ id: String, _ apiVersion: String?) -> String {
    "\(sobject(object, apiVersion))/\(PercentEncoding.encode(id))"
  }
}
