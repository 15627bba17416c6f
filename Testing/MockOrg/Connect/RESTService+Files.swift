import Foundation
import GRDB
import SalesforceSDKCommon

/// `/connect/files`: documents with their versions, contents and shares.
extension RESTService {
  func files(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    switch path.count {
    case 2 where path[0] == "users":
      if request.method == "POST" { return try uploadFile(request, userID: connectUser(path[1])) }
      try request.allow("GET,HEAD,POST")
      return try fileList(
        request, path, where: "document.\"OwnerId\" = ?", [connectUser(path[1]).databaseValue])
    case 4 where path[0] == "users" && path[2] == "filter":
      try request.allow("GET,HEAD")
      let user = try connectUser(path[1])
      // The org has no groups, so what is in a user's groups is nothing.
      let condition =
        path[3] == "sharedwithme"
        ? """
        document."OwnerId" != ? AND document."Id" IN (SELECT "ContentDocumentId" \
        FROM "ContentDocumentLink" WHERE "LinkedEntityId" = ?1 AND "IsDeleted" = 0)
        """ : "document.\"OwnerId\" = ? AND 0"
      guard path[3] == "sharedwithme" || path[3] == "groups" else { throw ServerError.notFound() }
      return try fileList(request, path, where: condition, [user.databaseValue])
    case 2 where path[0] == "batch":
      try request.allow("GET,HEAD")
      return try fileBatch(path[1].split(separator: ",").map(String.init))
    case 1:
      let id = try documentID(path[0])
      if request.method == "DELETE" {
        try RecordWriter(
          transaction: transaction, object: transaction.object(named: "ContentDocument")
        ).delete(id: id)
        return .empty()
      }
      if request.method == "POST" {
        return try uploadFile(request, userID: transaction.userID, document: id)
      }
      try request.allow("DELETE,GET,HEAD,POST")
      let file = try file(id, version: version(of: request))
      return .json { write(file, to: &$0) }
    case 2 where path[1] == "content":
      try request.allow("GET,HEAD")
      let file = try file(documentID(path[0]), version: version(of: request))
      return content(of: file)
    case 2 where path[1] == "rendition":
      try request.allow("GET,HEAD")
      return try rendition(request, id: documentID(path[0]))
    case 2 where path[1] == "file-shares":
      try request.allow("GET,HEAD")
      return try fileShares(request, id: documentID(path[0]))
    default: throw ServerError.notFound()
    }
  }

  // MARK: Finding

  private struct File {
    let row: Row
    var id: String { row["id"] }
    var number: String { row["number"] ?? "1" }
    var fileExtension: String? { row["extension"] }
  }

  private static let columns = """
    document."Id" AS id, version."Title" AS title, version."Description" AS description, \
    version."VersionNumber" AS number, version."ContentSize" AS size, \
    version."FileExtension" AS extension, version."FileType" AS type, document."OwnerId" AS owner, \
    document."CreatedDate" AS created, version."LastModifiedDate" AS modified, \
    version."PathOnClient" AS path, version."Id" AS version, version."Checksum" AS checksum
    """

  private func documentID(_ text: String) throws(ServerError) -> String {
    guard let id = RecordID.normalized(text), id.hasPrefix("069") else { throw .notFound() }
    return id
  }

  private func version(of request: OrgRequest) throws(ServerError) -> Int? {
    guard let text = request[query: "versionNumber"], !text.isEmpty else { return nil }
    guard let number = Int(text), number > 0 else {
      throw ServerError(
        "ILLEGAL_QUERY_PARAMETER_VALUE", "\(text) is no value of versionNumber.")
    }
    return number
  }

  private func file(_ id: String, version: Int?) throws -> File {
    let condition =
      version == nil ? "version.\"IsLatest\" = 1" : "version.\"VersionNumber\" = ?2"
    var arguments: [DatabaseValue] = [id.databaseValue]
    if let version { arguments.append(String(version).databaseValue) }
    let row = try Row.fetchOne(
      transaction.database,
      sql: """
        SELECT \(Self.columns) FROM "ContentDocument" AS document JOIN "ContentVersion" AS version \
        ON version."ContentDocumentId" = document."Id" \
        WHERE document."Id" = ?1 AND document."IsDeleted" = 0 AND \(condition)
        """, arguments: StatementArguments(arguments))
    guard let row else { throw ServerError.notFound() }
    return File(row: row)
  }

  private func fileList(
    _ request: OrgRequest, _ path: [String], where condition: String, _ arguments: [DatabaseValue]
  ) throws -> OrgResponse {
    let (number, size) = try page(of: request)
    let rows = try Row.fetchAll(
      transaction.database,
      sql: """
        SELECT \(Self.columns) FROM "ContentDocument" AS document JOIN "ContentVersion" AS version \
        ON version."ContentDocumentId" = document."Id" AND version."IsLatest" = 1 \
        WHERE document."IsDeleted" = 0 AND \(condition) \
        ORDER BY document."LastModifiedDate" DESC, document.rowid DESC \
        LIMIT \(size + 1) OFFSET \(number * size)
        """, arguments: StatementArguments(arguments))
    let url = "\(transaction.versionPath)/connect/files/\(path.joined(separator: "/"))"
    return .json { writer in
      writer.beginObject()
      writer.key("currentPageUrl")
      writer.string("\(url)?page=\(number)&pageSize=\(size)")
      writer.key("files")
      writer.beginArray()
      for row in rows.prefix(size) { write(File(row: row), to: &writer) }
      writer.endArray()
      writer.key("nextPageUrl")
      writer.string(
        orNull: rows.count > size ? "\(url)?page=\(number + 1)&pageSize=\(size)" : nil)
      writer.key("previousPageUrl")
      writer.string(orNull: number > 0 ? "\(url)?page=\(number - 1)&pageSize=\(size)" : nil)
      writer.endObject()
    }
  }

  private func fileBatch(_ ids: [String]) throws -> OrgResponse {
    let results = try ids.map { text -> OrgResponse in
      do {
        let file = try file(documentID(text), version: nil)
        return .json { write(file, to: &$0) }
      } catch let error as ServerError {
        return OrgResponse(error)
      }
    }
    return try .batch(of: results)
  }

  // MARK: Contents

  private func content(of file: File) -> OrgResponse {
    let version: String = file.row["version"]
    let text = try? String.fetchOne(
      transaction.database, sql: "SELECT \"VersionData\" FROM \"ContentVersion\" WHERE \"Id\" = ?",
      arguments: [version])
    let data = Data(base64Encoded: text ?? "") ?? Data()
    return OrgResponse(
      status: 200, body: Array(data), contentType: ContentFiles.mimeType(of: file.fileExtension))
  }

  /// One transparent pixel: the org draws no pictures of files.
  private static let pixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

  private func rendition(_ request: OrgRequest, id: String) throws -> OrgResponse {
    let type = request[query: "type"] ?? "THUMB120BY90"
    let file = try file(id, version: version(of: request))
    switch type.uppercased() {
    case "THUMB120BY90", "THUMB240BY180", "THUMB720BY480":
      return OrgResponse(
        status: 200, body: Array(Data(base64Encoded: Self.pixel) ?? Data()),
        contentType: "image/png")
    case "PDF" where file.fileExtension == "pdf": return content(of: file)
    case "PDF", "FLASH", "SLIDE": throw ServerError.notFound()
    default:
      throw ServerError("ILLEGAL_QUERY_PARAMETER_VALUE", "\(type) is no type of rendition.")
    }
  }

  private func uploadFile(
    _ request: OrgRequest, userID: String, document: String? = nil
  ) throws -> OrgResponse {
    let parts = try Multipart.parts(of: request)
    guard let data = parts.first(where: { $0.name == "fileData" }) else {
      throw ServerError("MISSING_ARGUMENT", "The part fileData is missing.")
    }
    let json = try parts.first { $0.name == "json" }.map { try JSONSlice(parsingBody: $0.body) }
    func text(_ name: String) -> String? {
      json?[name]?.string
        ?? parts.first { $0.name == name }.map { String(decoding: $0.body, as: UTF8.self) }
    }
    let name = data.fileName ?? "file"
    var writer = JSONWriter()
    writer.beginObject()
    for (key, value) in [
      ("Title", text("title") ?? name), ("PathOnClient", name),
      ("Description", text("desc") ?? text("description")),
      ("VersionData", Data(data.body).base64EncodedString()), ("ContentDocumentId", document),
    ] as [(String, String?)] {
      guard let value else { continue }
      writer.key(key)
      writer.string(value)
    }
    writer.endObject()
    let versions = try transaction.object(named: "ContentVersion")
    let id = try RecordWriter(transaction: transaction, object: versions)
      .create(JSONSlice(parsing: writer.bytes))
    let made = try String.fetchOne(
      transaction.database,
      sql: "SELECT \"ContentDocumentId\" FROM \"ContentVersion\" WHERE \"Id\" = ?", arguments: [id])
    let file = try file(made ?? "", version: nil)
    return .json(201) { write(file, to: &$0) }
  }

  // MARK: Shares

  private func fileShares(_ request: OrgRequest, id: String) throws -> OrgResponse {
    _ = try file(id, version: nil)
    let (number, size) = try page(of: request)
    let rows = try Row.fetchAll(
      transaction.database,
      sql: """
        SELECT "Id", "LinkedEntityId", "ShareType" FROM "ContentDocumentLink" \
        WHERE "ContentDocumentId" = ? AND "IsDeleted" = 0 ORDER BY rowid \
        LIMIT \(size + 1) OFFSET \(number * size)
        """, arguments: [id])
    let url = "\(transaction.versionPath)/connect/files/\(id)/file-shares"
    return .json { writer in
      writer.beginObject()
      writer.key("currentPageUrl")
      writer.string("\(url)?page=\(number)&pageSize=\(size)")
      writer.key("nextPageUrl")
      writer.string(
        orNull: rows.count > size ? "\(url)?page=\(number + 1)&pageSize=\(size)" : nil)
      writer.key("shares")
      writer.beginArray()
      for row in rows.prefix(size) {
        let entity: String = row[1]
        let object = transaction.schema.object(keyPrefix: entity.prefix(3))
        writer.beginObject()
        writer.key("entity")
        writer.beginObject()
        writer.key("id")
        writer.string(entity)
        writer.key("type")
        writer.string(object?.name ?? "Name")
        writer.key("url")
        writer.string("\(transaction.versionPath)/sobjects/\(object?.name ?? "Name")/\(entity)")
        writer.endObject()
        writer.key("id")
        writer.string(row[0])
        writer.key("sharingType")
        writer.string(row[2] ?? "V")
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  // MARK: Writing

  private func write(_ file: File, to writer: inout JSONWriter) {
    let row = file.row
    let url = "\(transaction.versionPath)/connect/files/\(file.id)"
    let owner: String = row["owner"] ?? ""
    writer.beginObject()
    for (key, value) in [
      ("checksum", row["checksum"]), ("contentModifiedDate", row["modified"]),
      ("contentUrl", nil), ("createdDate", row["created"]), ("description", row["description"]),
      ("downloadUrl", "\(url)/content?versionNumber=\(file.number)"),
      ("externalDocumentUrl", nil), ("fileExtension", file.fileExtension),
      ("fileType", row["type"]), ("flashRenditionStatus", "Na"), ("id", file.id),
      ("lastModifiedDate", row["modified"]),
      ("mimeType", ContentFiles.mimeType(of: file.fileExtension)),
      ("modifiedDate", row["modified"]), ("name", row["title"]), ("origin", "Chatter"),
      ("pdfRenditionStatus", file.fileExtension == "pdf" ? "Success" : "Na"),
      ("publishStatus", "PrivateAccess"), ("renditionUrl", "\(url)/rendition?type=THUMB120BY90"),
      ("renditionUrl240By180", "\(url)/rendition?type=THUMB240BY180"),
      ("renditionUrl720By480", "\(url)/rendition?type=THUMB720BY480"), ("sharingOption", "Allowed"),
      ("sharingRole", owner == transaction.userID ? "Owner" : "Viewer"), ("textPreview", nil),
      ("thumb120By90RenditionStatus", "Success"), ("thumb240By180RenditionStatus", "Success"),
      ("thumb720By480RenditionStatus", "Success"), ("title", row["title"]), ("type", "File"),
      ("url", url), ("versionNumber", file.number),
    ] as [(String, String?)] {
      writer.key(key)
      writer.string(orNull: value)
    }
    writer.key("contentSize")
    writer.integer((row["size"] as Int?) ?? 0)
    writer.key("isInMyFileSync")
    writer.bool(false)
    writer.key("isMajorVersion")
    writer.bool(true)
    writer.key("owner")
    writer.beginObject()
    for (key, value) in [
      ("id", owner), ("type", "User"),
      ("url", "\(transaction.versionPath)/chatter/users/\(owner)"),
    ] {
      writer.key(key)
      writer.string(value)
    }
    writer.endObject()
    writer.endObject()
  }
}
