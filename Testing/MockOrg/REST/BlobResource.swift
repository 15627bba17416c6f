import Foundation
import GRDB
import SalesforceSDKCommon

/// The contents of base64 fields as files.
struct BlobResource: Resource {
  let call: RESTCall

  /// `/sobjects/ContentVersion/ID/VersionData`, or the range of it that the request names.
  func content() throws -> OrgResponse {
    guard let id = RecordID.normalized(call["record"]) else { throw ServerError.notFound() }
    return try Self.content(of: call["blob"], in: object, id: id, transaction, request)
  }

  /// The content of a field of one record.
  static func content(
    of field: String, in object: ObjectSchema, id: String, _ transaction: OrgTransaction,
    _ request: OrgRequest
  ) throws -> OrgResponse {
    guard let field = object.field(named: field), field.type == .base64 else {
      throw ServerError.notFound()
    }
    try RecordWriter(transaction: transaction, object: object).existing(id)
    let text = try String.fetchOne(
      transaction.database,
      sql: """
        SELECT \(RecordTable.quoted(field.name)) FROM \(object.table.name) WHERE "Id" = ?
        """, arguments: [id])
    guard let text, let data = Data(base64Encoded: text) else { return .empty() }
    return OrgResponse(status: 200, body: Array(data), contentType: "application/octet-stream")
      .part(for: request)
  }
}

extension OrgRequest {
  /// The members of a create or an update: the body itself, or the JSON part of a multipart body with
  /// its files put into their fields.
  func members(for object: ObjectSchema) throws -> JSONSlice {
    guard headers["content-type"]?.lowercased().hasPrefix("multipart/") == true else {
      return try self.object()
    }
    let parts = try Multipart.parts(of: self)
    guard
      let json = parts.first(where: {
        $0.contentType?.lowercased().contains("json") == true && $0.fileName == nil
      })
    else {
      throw ServerError("INVALID_MULTIPART_REQUEST", "The multipart body has no part in JSON.")
    }
    var members = try JSONSlice(parsingBody: json.body)
    for part in parts where part.fileName != nil || part.contentType?.contains("json") != true {
      guard let field = object.field(named: part.name), field.type == .base64 else {
        throw ServerError(
          "INVALID_MULTIPART_REQUEST",
          "The part \(part.name) is not the name of a field of \(object.name) that keeps a file.")
      }
      members = try members.setting(
        [(key: field.name, value: .string(Data(part.body).base64EncodedString()))])
    }
    return members
  }
}

extension OrgResponse {
  /// The range of the body that the request names, as 206; 416 if the body has no such bytes. A request for several
  /// ranges, or with a range in another form, gets all of it.
  fileprivate func part(for request: OrgRequest) -> OrgResponse {
    var whole = self
    whole.headers.append((name: "Accept-Ranges", value: "bytes"))
    guard let text = request.headers["range"], text.hasPrefix("bytes=") else { return whole }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]), ends[1].isEmpty || Int(ends[1]) != nil else {
      return whole
    }
    guard first < body.count else {
      return OrgResponse(
        status: 416, headers: [(name: "Content-Range", value: "bytes */\(body.count)")])
    }
    let last = min(Int(ends[1]) ?? Int.max, body.count - 1)
    guard last >= first else { return whole }
    var part = whole
    part.status = 206
    part.body = Array(body[first...last])
    part.headers.append((name: "Content-Range", value: "bytes \(first)-\(last)/\(body.count)"))
    return part
  }
}
