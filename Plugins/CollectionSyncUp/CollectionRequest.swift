import HTTPTypes
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The requests of the collection resource, written straight from the stored texts of records.
enum CollectionRequest {
  /// Returns the request for a group of records with the same action and object type.
  static func make(
    _ action: SyncUpAction, _ type: String, _ group: [SyncUpRecord]
  ) throws -> RestRequest {
    switch action {
    case .create: return request(.post, "", group)
    case .update: return request(.patch, "", group)
    case .upsert:
      let field = group.first?.externalId?.field ?? SyncKeys.defaultIdField
      let path = [type, field].map { "/" + PercentEncoding.encode($0) }.joined()
      return request(.patch, path, group)
    case .delete:
      return try RestRequest.collectionDelete(ids: group.compactMap(\.id))
    }
  }

  private static func request(
    _ method: HTTPRequest.Method, _ place: String, _ group: [SyncUpRecord]
  ) -> RestRequest {
    var writer = JSONWriter(capacity: 256 * group.count)
    writer.beginObject()
    writer.key("allOrNone")
    writer.bool(false)
    writer.key("records")
    writer.beginArray()
    for record in group { write(record, to: &writer) }
    writer.endArray()
    writer.endObject()
    return RestRequest(
      method: method, path: "/{v}/composite/sobjects\(place)",
      headers: [.contentType: "application/json"], body: writer.bytes)
  }

  /// One record: its type first, as the server demands, then what identifies it, then the fields.
  private static func write(_ record: SyncUpRecord, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key(SyncKeys.attributes)
    writer.beginObject()
    writer.key(SyncKeys.type)
    writer.string(record.objectType)
    writer.endObject()
    var identifying: String?
    if record.action == .update, let id = record.id {
      identifying = SyncKeys.defaultIdField
      writer.key(SyncKeys.defaultIdField)
      writer.string(id)
    } else if let externalId = record.externalId, let value = record.record[externalId.field] {
      identifying = externalId.field
      writer.key(externalId.field)
      writer.raw(value)
    }
    for (name, value) in record.values where name != identifying {
      writer.key(name)
      writer.raw(value)
    }
    writer.endObject()
  }
}

/// The responses of the collection resource.
enum CollectionResponse {
  /// Reads the outcome of one result:
  /// `{"id": "…", "success": true, "errors": [{"statusCode": "…", …}]}`.
  static func outcome(_ result: JSONSlice, of action: SyncUpAction) -> SyncUpOutcome {
    guard let success = result["success"]?.bool else { return .unanswered }
    if success { return .accepted(id: result[SyncKeys.responseId]?.string, of: action) }
    guard let error = result["errors"]?[0]?.value else {
      return .rejected([
        "statusCode": "UNKNOWN", "message": "The server refused the record and gave no reason.",
        "fields": [],
      ])
    }
    // The first also means a lookup that points nowhere; only of a record that is to exist already
    // can it mean that the record is gone.
    let isGone = ["INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"]
      .contains(error["statusCode"]?.string)
    return isGone && (action == .update || action == .delete) ? .gone(error) : .rejected(error)
  }
}
