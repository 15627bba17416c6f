import Foundation
import GRDB
import SalesforceSDKCommon

/// `/connect/files/ID`: a document with its contents and shares.
struct FileResource: Resource {
  let call: RESTCall

  private var files: FileReader { FileReader(transaction: transaction) }

  func retrieve() throws -> OrgResponse { .json(files.json(of: try file())) }

  func delete() throws -> OrgResponse {
    let id = try FileReader.documentID(call["id"])
    try RecordWriter(
      transaction: transaction, object: transaction.object(named: "ContentDocument")
    ).delete(id: id)
    return .empty()
  }

  /// The version of the document that the request names, or the latest.
  private func file() throws -> FileReader.File {
    let id = try FileReader.documentID(call["id"])
    guard let text = request[query: "versionNumber"], !text.isEmpty else {
      return try files.file(id)
    }
    guard let number = Int(text), number > 0 else {
      throw ServerError(
        "ILLEGAL_QUERY_PARAMETER_VALUE", "\(text) is no value of versionNumber.")
    }
    return try files.file(id, version: number)
  }

  /// `/connect/files/batch/ID,ID`.
  func batch() throws -> OrgResponse {
    let responses = try call["ids"].split(separator: ",").map { text -> OrgResponse in
      do {
        return .json(files.json(of: try files.file(FileReader.documentID(String(text)))))
      } catch let error as ServerError {
        return OrgResponse(error)
      }
    }
    return try .batch(of: responses)
  }

  // MARK: Contents

  func content() throws -> OrgResponse { content(of: try file()) }

  private func content(of file: FileReader.File) -> OrgResponse {
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

  func rendition() throws -> OrgResponse {
    let type = request[query: "type"] ?? "THUMB120BY90"
    let file = try file()
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

  // MARK: Shares

  func shares() throws -> OrgResponse {
    let id = try FileReader.documentID(call["id"])
    _ = try files.file(id)
    let (number, size) = try connectPage()
    let rows = try Row.fetchAll(
      transaction.database,
      sql: """
        SELECT "Id", "LinkedEntityId", "ShareType" FROM "ContentDocumentLink" \
        WHERE "ContentDocumentId" = ? AND "IsDeleted" = 0 ORDER BY rowid \
        LIMIT \(size + 1) OFFSET \(number * size)
        """, arguments: [id])
    let links = pageLinks(
      url("connect/files/\(id)/file-shares"), number, size, hasMore: rows.count > size)
    return .json([
      "currentPageUrl": links.current, "nextPageUrl": links.next,
      "shares": .array(rows.prefix(size)) { row in
        let entity: String = row[1]
        let object = transaction.schema.object(keyPrefix: entity.prefix(3))?.name ?? "Name"
        return [
          "entity": [
            "id": .string(entity), "type": .string(object),
            "url": .string(url("sobjects/\(object)/\(entity)")),
          ],
          "id": .string(row[0]), "sharingType": .string(row[2] ?? "V"),
        ]
      },
    ])
  }
}

extension Resource {
  /// The URLs of the pages of a list; null for those that there are not.
  func pageLinks(
    _ url: String, _ number: Int, _ size: Int, hasMore: Bool
  ) -> (current: ResponseJSON, next: ResponseJSON, previous: ResponseJSON) {
    func link(_ number: Int) -> ResponseJSON { "\(url)?page=\(number)&pageSize=\(size)" }
    return (link(number), hasMore ? link(number + 1) : .null, number > 0 ? link(number - 1) : .null)
  }
}
