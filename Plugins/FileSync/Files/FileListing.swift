import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// Queries the server for the files of records.
struct FileListing: Sendable {
  /// How many ids a query names: an address has room for 16 KB.
  static let idsPerQuery = 200

  let client: RestClient

  /// The documents of records, as pairs of document and record.
  func links(ofRecords ids: [String]) async throws -> [(file: String, record: String)] {
    let records = try await query(
      "SELECT ContentDocumentId, LinkedEntityId FROM ContentDocumentLink WHERE LinkedEntityId IN "
        + list(ids))
    return try records.map { record in
      (try text("ContentDocumentId", of: record), try text("LinkedEntityId", of: record))
    }
  }

  /// The newest versions of documents; those that the user may not read are missing.
  func documents(_ ids: [String]) async throws -> [ListedFile] {
    var files: [ListedFile] = []
    for start in stride(from: 0, to: ids.count, by: Self.idsPerQuery) {
      let page = Array(ids[start..<min(start + Self.idsPerQuery, ids.count)])
      files += try await versions(where: "IsLatest = true AND ContentDocumentId IN \(list(page))")
        .map(\.file)
    }
    return files
  }

  /// Versions of documents, those first that were created first, with the path that their client gave.
  func versions(
    where condition: String
  ) async throws -> [(file: ListedFile, isLatest: Bool, path: String?)] {
    let records = try await query(
      "SELECT Id, ContentDocumentId, Title, FileExtension, ContentSize, Checksum, ContentModifiedDate, "
        + "SystemModstamp, IsLatest, PathOnClient FROM ContentVersion WHERE \(condition) "
        + "ORDER BY CreatedDate, Id")
    return try records.map { record in
      let file = ListedFile(
        id: try text("ContentDocumentId", of: record), isAttachment: false,
        title: record["Title"]?.string ?? "", fileExtension: record["FileExtension"]?.string,
        version: FileVersion(
          id: try text("Id", of: record), size: try size("ContentSize", of: record),
          checksum: record["Checksum"]?.string?.lowercased(),
          stamp: record["SystemModstamp"]?.string,
          changed: record["ContentModifiedDate"]?.string))
      return (file, record["IsLatest"]?.bool ?? false, record["PathOnClient"]?.string)
    }
  }

  /// The attachments of records, with the record of each.
  func attachments(
    ofRecords ids: [String]
  ) async throws -> [(file: ListedFile, record: String)] {
    try await attachments(where: "ParentId IN " + list(ids))
  }

  /// What the server has of a file now; nil if it is gone.
  func file(_ id: String, isAttachment: Bool) async throws -> ListedFile? {
    isAttachment
      ? try await attachments(where: "Id IN " + list([id])).first?.file
      : try await documents([id]).first
  }

  /// Attachments, with the record of each.
  func attachments(
    where condition: String
  ) async throws -> [(file: ListedFile, record: String)] {
    try await query(
      "SELECT Id, ParentId, Name, BodyLength, LastModifiedDate, SystemModstamp FROM Attachment WHERE "
        + condition
    ).map { record in
      let id = try text("Id", of: record)
      let name = record["Name"]?.string ?? ""
      let file = ListedFile(
        id: id, isAttachment: true, title: name, fileExtension: Self.fileExtension(of: name),
        version: FileVersion(
          id: id, size: try size("BodyLength", of: record), checksum: nil,
          stamp: record["SystemModstamp"]?.string, changed: record["LastModifiedDate"]?.string))
      return (file, try text("ParentId", of: record))
    }
  }

  private static func fileExtension(of name: String) -> String? {
    guard let point = name.lastIndex(of: "."), point > name.startIndex else { return nil }
    let text = name[name.index(after: point)...]
    return text.isEmpty ? nil : String(text)
  }

  /// All records of a query.
  private func query(_ soql: String) async throws -> [JSONSlice] {
    var records: [JSONSlice] = []
    var bound = PageBound<String>()
    var next: RestRequest? = .query(soql)
    while let request = next {
      do {
        let json = try await client.send(request).json()
        guard let page = json["records"], page.kind == .array else {
          throw Self.unexpected("a list of records")
        }
        records += page.elements
        let address = json["nextRecordsUrl"]?.string
        let fault = address.flatMap { address in
          bound.follow(
            address, count: page.count, first: page.elements.first { _ in true }?.textHash,
            total: json["totalSize"]?.int64.map { Int(clamping: $0) })
        }
        if let fault {
          throw FileSyncError(
            .unexpectedResponse,
            fault.reason
              + " Call refresh() again; if it fails again, the server's paging is at fault.")
        }
        next = address.map { .queryMore(nextRecordsURL: $0) }
      } catch {
        throw FileSyncError.sending(error, of: "the list of files")
      }
    }
    return records
  }

  private func text(_ field: String, of record: JSONSlice) throws(FileSyncError) -> String {
    guard let text = record[field]?.string, !text.isEmpty else {
      throw Self.unexpected("a record with the field '\(field)'")
    }
    return text
  }

  private func size(_ field: String, of record: JSONSlice) throws(FileSyncError) -> Int64 {
    guard let size = record[field]?.int64, 0...RestClient.defaultMaxDownloadBytes ~= size else {
      throw Self.unexpected("a file with a size of at most 16 GB in '\(field)'")
    }
    return size
  }

  private static func unexpected(_ expected: String) -> FileSyncError {
    FileSyncError(
      .unexpectedResponse, "The response to the query of files is not \(expected).")
  }

  private func list(_ ids: [String]) -> String { SOQLLiteral.list(ids) }
}
