import Foundation
import GRDB
import SalesforceSDKCommon

/// `/connect/files/users/ID`: the files of a user, and uploads.
struct FileListResource: Resource {
  let call: RESTCall

  private var files: FileReader { FileReader(transaction: transaction) }

  func owned() throws -> OrgResponse {
    let user = try connectUser()
    return try list("users/\(call["user"])", where: "document.\"OwnerId\" = ?", user)
  }

  func sharedWithMe() throws -> OrgResponse {
    try list(
      "users/\(call["user"])/filter/sharedwithme",
      where: """
        document."OwnerId" != ? AND document."Id" IN (SELECT "ContentDocumentId" \
        FROM "ContentDocumentLink" WHERE "LinkedEntityId" = ?1 AND "IsDeleted" = 0)
        """, connectUser())
  }

  /// The org has no groups, so what is in a user's groups is nothing.
  func inGroups() throws -> OrgResponse {
    try list(
      "users/\(call["user"])/filter/groups", where: "document.\"OwnerId\" = ? AND 0", connectUser())
  }

  private func list(
    _ path: String, where condition: String, _ argument: String
  ) throws -> OrgResponse {
    let (number, size) = try connectPage()
    let rows = try Row.fetchAll(
      transaction.database,
      sql: """
        SELECT \(FileReader.columns) FROM "ContentDocument" AS document JOIN "ContentVersion" AS version \
        ON version."ContentDocumentId" = document."Id" AND version."IsLatest" = 1 \
        WHERE document."IsDeleted" = 0 AND \(condition) \
        ORDER BY document."LastModifiedDate" DESC, document.rowid DESC \
        LIMIT \(size + 1) OFFSET \(number * size)
        """, arguments: [argument])
    let links = pageLinks(
      url("connect/files/\(path)"), number, size, hasMore: rows.count > size)
    return .json([
      "currentPageUrl": links.current,
      "files": .array(rows.prefix(size)) { files.json(of: FileReader.File(row: $0)) },
      "nextPageUrl": links.next, "previousPageUrl": links.previous,
    ])
  }

  // MARK: Uploads

  func upload() throws -> OrgResponse { try upload(to: nil, userID: connectUser()) }

  /// Adds a version to the document that the path names.
  func uploadVersion() throws -> OrgResponse {
    try upload(to: FileReader.documentID(call["id"]), userID: transaction.userID)
  }

  private func upload(to document: String?, userID: String) throws -> OrgResponse {
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
    let members: [(String, String?)] = [
      ("Title", text("title") ?? name), ("PathOnClient", name),
      ("Description", text("desc") ?? text("description")),
      ("VersionData", Data(data.body).base64EncodedString()), ("ContentDocumentId", document),
    ]
    let record = ResponseJSON.object(
      members.compactMap { name, value in value.map { (name, .string($0)) } })
    let versions = try transaction.object(named: "ContentVersion")
    let id = try RecordWriter(transaction: transaction, object: versions)
      .create(record.slice)
    let made = try String.fetchOne(
      transaction.database,
      sql: "SELECT \"ContentDocumentId\" FROM \"ContentVersion\" WHERE \"Id\" = ?", arguments: [id])
    let file = try files.file(made ?? "")
    return .json(files.json(of: file), status: 201)
  }
}
