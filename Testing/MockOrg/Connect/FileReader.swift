import GRDB
import SalesforceSDKCommon

/// Finds documents with one of their versions, and shows them.
struct FileReader {
  struct File {
    let row: Row
    var id: String { row["id"] }
    var number: String { row["number"] ?? "1" }
    var fileExtension: String? { row["extension"] }
  }

  static let columns = """
    document."Id" AS id, version."Title" AS title, version."Description" AS description, \
    version."VersionNumber" AS number, version."ContentSize" AS size, \
    version."FileExtension" AS extension, version."FileType" AS type, document."OwnerId" AS owner, \
    document."CreatedDate" AS created, version."LastModifiedDate" AS modified, \
    version."PathOnClient" AS path, version."Id" AS version, version."Checksum" AS checksum
    """

  let transaction: OrgTransaction

  static func documentID(_ text: String) throws(ServerError) -> String {
    guard let id = RecordID.normalized(text), id.hasPrefix("069") else { throw .notFound() }
    return id
  }

  /// A document with the version of a number, or the latest.
  func file(_ id: String, version: Int? = nil) throws -> File {
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

  func json(of file: File) -> ResponseJSON {
    let row = file.row
    let url = "\(transaction.versionPath)/connect/files/\(file.id)"
    let owner: String = row["owner"] ?? ""
    let texts: [(String, String?)] = [
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
    ]
    var json = ResponseJSON.object(texts.map { ($0.0, .string(orNull: $0.1)) })
    json.append([
      "contentSize": .integer((row["size"] as Int?) ?? 0), "isInMyFileSync": false,
      "isMajorVersion": true,
      "owner": [
        "id": .string(owner), "type": "User",
        "url": "\(transaction.versionPath)/chatter/users/\(owner)",
      ],
    ])
    return json
  }
}
