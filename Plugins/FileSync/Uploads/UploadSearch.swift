import Crypto
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// What the server has of a file that was sent without an acknowledgement.
enum UploadFinding: Sendable {
  case found(ListedFile, isLatest: Bool)
  case missing
  case inDoubt([QueuedFile.Candidate], String)
}

/// Searches the server for uploads that were not acknowledged.
///
/// The path of a version names its entry in the queue, so that no other version is taken for it. Attachments have no such
/// field: one that the record did not have before, and that has the same bytes, is the one that was sent.
struct UploadSearch: Sendable {
  let listing: FileListing
  let client: RestClient

  /// Searches for what a queued file became.
  ///
  /// - Throws: ``FileSyncError`` `transport`, `server`, `unexpectedResponse`.
  func find(_ entry: UploadEntry, _ mark: UploadEntry.Mark) async throws -> UploadFinding {
    do {
      return entry.isAttachment
        ? try await attachment(entry, mark) : try await version(entry, mark)
    } catch let error as FileSyncError where error.code == .server {
      guard let cause = error.cause as? RestError, cause.status == 400 else { throw error }
      // Queries by this field are not allowed to the user. Any other failure may pass.
      let reason = cause.serverErrors.first?.message ?? cause.message
      return .inDoubt([], "The server cannot be searched for it: \(reason)")
    }
  }

  private func version(
    _ entry: UploadEntry, _ mark: UploadEntry.Mark
  ) async throws -> UploadFinding {
    if let id = mark.acceptedId {
      let found = try await listing.versions(where: "Id = \(SOQLLiteral.text(id))")
      if let first = found.first { return .found(first.file, isLatest: first.isLatest) }
    }
    let isOwn = "PathOnClient LIKE \(SOQLLiteral.text(entry.pathPrefix + "%"))"
    var found: [(file: ListedFile, isLatest: Bool, path: String?)]
    if let document = entry.documentId, !UploadEntry.isKey(document) {
      found = try await listing.versions(
        where: "ContentDocumentId = \(SOQLLiteral.text(document)) AND \(isOwn)")
    } else {
      found = try await listing.versions(where: isOwn)
    }
    if found.isEmpty, entry.documentId == nil {
      // Files that the server has given to another owner are found by their record alone.
      let documents = try await listing.links(ofRecords: [mark.parentId]).map(\.file)
      for start in stride(from: 0, to: documents.count, by: FileListing.idsPerQuery) {
        let page = documents[start..<min(start + FileListing.idsPerQuery, documents.count)]
        found += try await listing.versions(
          where: "ContentDocumentId IN \(SOQLLiteral.list(page)) AND \(isOwn)")
      }
    }
    let sent = entry.content.version
    if let own = found.first(where: { $0.file.version.hasBytes(of: sent) }) {
      return .found(own.file, isLatest: own.isLatest)
    }
    if found.isEmpty { return .missing }
    return .inDoubt(
      found.map { QueuedFile.Candidate($0.file.version) },
      "The server has a version with its path, but with other bytes.")
  }

  private func attachment(
    _ entry: UploadEntry, _ mark: UploadEntry.Mark
  ) async throws -> UploadFinding {
    if let id = mark.acceptedId, let file = try await listing.file(id, isAttachment: true) {
      return .found(file, isLatest: true)
    }
    let known = Set(mark.before ?? [])
    let candidates = try await listing.attachments(
      where: "ParentId = \(SOQLLiteral.text(mark.parentId)) ORDER BY CreatedDate, Id"
    ).map(\.file).filter { !known.contains($0.id) && $0.version.size == entry.bytes }
    for candidate in candidates {
      if try await checksum(ofAttachment: candidate.id) == entry.content.version.checksum {
        return .found(candidate, isLatest: true)
      }
    }
    return .missing
  }

  /// The version or the attachment with an id; nil if the server has none.
  func file(
    _ id: String, of entry: UploadEntry
  ) async throws -> (file: ListedFile, isLatest: Bool)? {
    if entry.isAttachment {
      return try await listing.file(id, isAttachment: true).map { ($0, true) }
    }
    return try await listing.versions(where: "Id = \(SOQLLiteral.text(id))").first.map {
      ($0.file, $0.isLatest)
    }
  }

  private func checksum(ofAttachment id: String) async throws -> String {
    var request = RestRequest(path: "/{v}/sobjects/Attachment/\(PercentEncoding.encode(id))/Body")
    request.maxResponseBytes = Int(clamping: RestClient.defaultMaxDownloadBytes)
    do {
      return try await client.withStream(to: request) { stream in
        var digest = Insecure.MD5()
        for try await piece in stream.body { digest.update(data: piece) }
        return Hex.encode(digest.finalize())
      }
    } catch {
      throw FileSyncError.sending(error, of: "the content of an attachment")
    }
  }
}
