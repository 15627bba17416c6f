import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension UploadEntry {
  /// The request that creates the file: a multipart body with the fields, and the content, which is decrypted while it is
  /// sent.
  func request(to parentId: String, _ content: FileContent) -> RestRequest {
    var fields = JSONObject()
    if isAttachment {
      fields["Name"] = .string(name)
      fields["ParentId"] = .string(parentId)
    } else {
      fields["Title"] = .string(title)
      fields["PathOnClient"] = .string(path)
      fields[documentId == nil ? "FirstPublishLocationId" : "ContentDocumentId"] = .string(parentId)
    }
    if let info { fields["Description"] = .string(info) }
    var form = MultipartBody()
    form.add(
      isAttachment ? "entity_attachment" : "entity_content",
      UploadBody(Array(JSONValue.object(fields).text.utf8)),
      contentType: "application/json; charset=UTF-8")
    form.add(
      isAttachment ? "Body" : "VersionData",
      UploadBody(length: content.size) { count, offset in try content.read(count, at: offset) },
      fileName: name, contentType: "application/octet-stream")
    let object = isAttachment ? "Attachment" : "ContentVersion"
    var request = RestRequest(method: .post, path: "/{v}/sobjects/\(object)")
    request.setBody(form)
    return request
  }
}

/// What a failed request means for the file that it sent.
enum UploadFailure {
  /// Nothing was created, and the file is not the reason: the upload ends, and the file stays queued.
  case notSent(any Error)
  /// Nothing was created now; a later upload may succeed.
  case delayed(String)
  /// The server refuses the file.
  case refused(UploadEntry.Refusal)
  /// The server may have created the file.
  ///
  /// - Parameter mayArrive: Whether it may still do so after this.
  case unknown(any Error, mayArrive: Bool)

  init(_ error: any Error) {
    guard let error = error as? RestError else {
      // A session that cannot be refreshed is noticed before anything is sent, or by a refusal of the request.
      self = error is CancellationError ? .unknown(error, mayArrive: true) : .notSent(error)
      return
    }
    let known = FileSyncError.sending(error, of: "the upload of a file")
    guard let status = error.status else {
      switch error.code {
      case .unreadableFile:
        self = .refused(
          UploadEntry.Refusal(
            kind: .rejected, errorCode: nil,
            message: "The stored content is damaged. Remove the file, and add it again."))
      case .notAuthenticated, .insecureURL, .invalidRequest, .untrustedServer:
        self = .notSent(known)
      default:
        self = error.hasNoConnection ? .notSent(known) : .unknown(known, mayArrive: true)
      }
      return
    }
    let server = error.serverErrors.first
    let message = server?.message ?? error.message
    switch (status, server?.errorCode) {
    case (401, _), (429, _), (_, "REQUEST_LIMIT_EXCEEDED"): self = .notSent(known)
    case (400...499, "UNABLE_TO_LOCK_ROW"): self = .delayed(message)
    case (408, _): self = .unknown(known, mayArrive: true)
    case (400...499, let code):
      let isOrphan = code == "ENTITY_IS_DELETED" || code == "INVALID_CROSS_REFERENCE_KEY"
      self = .refused(
        UploadEntry.Refusal(
          kind: isOrphan ? .orphaned : .rejected, errorCode: code, message: message))
    // The server itself failed, and has ended its transaction.
    case (500, _): self = .unknown(known, mayArrive: false)
    default: self = .unknown(known, mayArrive: true)
    }
  }
}

extension RestError {
  /// Whether there was no connection to the server, so that nothing was sent.
  fileprivate var hasNoConnection: Bool {
    guard let code = (cause as? URLError)?.code else { return false }
    return [
      .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
    ].contains(code)
  }
}
