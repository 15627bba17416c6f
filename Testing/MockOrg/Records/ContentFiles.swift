import Crypto
import Foundation
import GRDB

/// What the platform does by itself when a file is uploaded: a first version gets a document and a link
/// to its owner, a later one takes the place of the one before.
struct ContentFiles {
  let transaction: OrgTransaction

  /// Completes a version that was just created.
  ///
  /// - Throws: ``ServerError`` if a place where the file is to be published is not there.
  func complete(version id: String, of object: ObjectSchema) throws {
    guard let documents = transaction.schema.object(named: "ContentDocument") else { return }
    let row = try Row.fetchOne(
      transaction.database,
      sql: """
        SELECT "ContentDocumentId", "Title", "PathOnClient", "VersionData", "Description", "OwnerId", \
        "FirstPublishLocationId" FROM \(object.table.name) WHERE "Id" = ?
        """, arguments: [id])
    guard let row else { return }
    let path: String? = row[2]
    let data = Data(base64Encoded: (row[3] as String?) ?? "") ?? Data()
    let fileExtension = path.flatMap { Self.fileExtension(of: $0) }
    let checksum = Insecure.MD5.hash(data: data).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
    let document: String
    var number = 1
    if let known: String = row[0] {
      document = known
      number =
        try Int.fetchOne(
          transaction.database,
          sql: """
            SELECT COUNT(*) FROM \(object.table.name) WHERE "ContentDocumentId" = ?
            """, arguments: [known]) ?? 1
      try transaction.database.execute(
        sql: """
          UPDATE \(object.table.name) SET "IsLatest" = 0 WHERE "ContentDocumentId" = ? AND "Id" != ?
          """, arguments: [known, id])
    } else {
      document = transaction.ids.next(prefix: documents.keyPrefix ?? "069")
    }
    try transaction.database.execute(
      sql: """
        UPDATE \(object.table.name) SET "ContentDocumentId" = ?, "IsLatest" = 1, "VersionNumber" = ?, \
        "ContentSize" = ?, "FileExtension" = ?, "FileType" = ?, "Checksum" = ?, \
        "ContentModifiedDate" = ?, "VersionDataUrl" = ? WHERE "Id" = ?
        """,
      arguments: [
        document, String(number), data.count, fileExtension, Self.fileType(of: fileExtension),
        checksum, transaction.stamp, transaction.baseURL + Self.downloadPath(of: id), id,
      ])
    let values: [String: (any DatabaseValueConvertible)?] = [
      "Title": row[1] as String?, "Description": row[4] as String?, "OwnerId": row[5] as String?,
      "LatestPublishedVersionId": id, "ContentSize": data.count, "FileExtension": fileExtension,
      "FileType": Self.fileType(of: fileExtension), "PublishStatus": "P", "SharingOption": "A",
      "ContentModifiedDate": transaction.stamp,
    ]
    if number > 1 || (row[0] as String?) != nil {
      try transaction.database.execute(
        sql: """
          UPDATE \(documents.table.name) SET "Title" = ?, "LatestPublishedVersionId" = ?, \
          "ContentSize" = ?, "FileExtension" = ?, "FileType" = ?, "LastModifiedDate" = ?, \
          "ContentModifiedDate" = ?, "SystemModstamp" = ? WHERE "Id" = ?
          """,
        arguments: [
          row[1] as String?, id, data.count, fileExtension, Self.fileType(of: fileExtension),
          transaction.stamp, transaction.stamp, transaction.stamp, document,
        ])
      return
    }
    try insert(values, into: documents, id: document)
    try link(document, to: transaction.userID, shareType: "I")
    if let place: String = row[6], place != transaction.userID {
      try link(document, to: place, shareType: "V")
    }
  }

  private func link(_ document: String, to entity: String, shareType: String) throws {
    guard let links = transaction.schema.object(named: "ContentDocumentLink") else { return }
    try insert(
      [
        "ContentDocumentId": document, "LinkedEntityId": entity, "ShareType": shareType,
        "Visibility": "AllUsers",
      ], into: links, id: transaction.ids.next(prefix: links.keyPrefix ?? "06A"))
  }

  private func insert(
    _ values: [String: (any DatabaseValueConvertible)?], into object: ObjectSchema, id: String
  ) throws {
    var row = [DatabaseValue](repeating: .null, count: object.table.columns.count)
    for (field, value) in values {
      guard let position = object.index(ofField: field).flatMap({ object.table.positions[$0] })
      else { continue }
      row[position] = value?.databaseValue ?? .null
    }
    try RecordWriter(transaction: transaction, object: object).insert(row, id: id)
  }

  /// Where a version's content can be downloaded with a session.
  static func downloadPath(of version: String) -> String {
    "/" + (downloadRoot + [version]).joined(separator: "/")
  }

  /// The path of downloads without the version's id.
  static let downloadRoot = ["sfc", "servlet.shepherd", "version", "download"]

  /// What stands behind the last point of a file's name.
  static func fileExtension(of path: String) -> String? {
    let name = path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
    guard let point = name.lastIndex(of: "."), point > name.startIndex else { return nil }
    let text = name[name.index(after: point)...].lowercased()
    return text.isEmpty ? nil : text
  }

  private static let types: [String: (type: String, mime: String)] = [
    "txt": ("TEXT", "text/plain"), "csv": ("CSV", "text/csv"), "html": ("HTML", "text/html"),
    "xml": ("XML", "application/xml"), "json": ("JSON", "application/json"),
    "pdf": ("PDF", "application/pdf"), "png": ("PNG", "image/png"), "jpg": ("JPG", "image/jpeg"),
    "jpeg": ("JPEG", "image/jpeg"), "gif": ("GIF", "image/gif"), "zip": ("ZIP", "application/zip"),
    "doc": ("WORD", "application/msword"), "xls": ("EXCEL", "application/vnd.ms-excel"),
    "mp4": ("MP4", "video/mp4"),
  ]

  static func fileType(of fileExtension: String?) -> String {
    fileExtension.map { types[$0]?.type ?? $0.uppercased() } ?? "UNKNOWN"
  }

  static func mimeType(of fileExtension: String?) -> String {
    fileExtension.flatMap { types[$0]?.mime } ?? "application/octet-stream"
  }
}
