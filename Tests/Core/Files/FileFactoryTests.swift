import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// CO-136, CO-137, BX-53: requests for files against their exact method, path, query, header fields and
/// body.
@Suite struct FileFactoryTests {
  private let root = "/services/data/v66.0/connect"

  private func checkGet(
    _ request: RestRequest, _ target: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(request.method == .get, sourceLocation: sourceLocation)
    #expect(request.target() == target, sourceLocation: sourceLocation)
    #expect(request.body == nil && request.upload == nil, sourceLocation: sourceLocation)
    #expect(
      request.headers == [try #require(HTTPField.Name("X-Chatter-Entity-Encoding")): "false"],
      sourceLocation: sourceLocation)
  }

  @Test(.covers("CO-136"))
  func `lists of files, in pages`() throws {
    try checkGet(.ownedFilesList(), "\(root)/files/users/me")
    try checkGet(.ownedFilesList(userId: "005A", page: 2), "\(root)/files/users/005A?page=2")
    try checkGet(.filesInUsersGroups(page: 0), "\(root)/files/users/me/filter/groups")
    try checkGet(
      .filesInUsersGroups(userId: "005A", page: 1),
      "\(root)/files/users/005A/filter/groups?page=1")
    try checkGet(
      .filesSharedWithUser(userId: "a/b", page: 3, apiVersion: "v60.0"),
      "/services/data/v60.0/connect/files/users/a%2Fb/filter/sharedwithme?page=3")
  }

  @Test(.covers("CO-136"))
  func `a file's details, contents, renditions and shares`() throws {
    try checkGet(.fileDetails(id: "069A"), "\(root)/files/069A")
    try checkGet(.fileDetails(id: "069A", version: 2), "\(root)/files/069A?versionNumber=2")
    try checkGet(.batchFileDetails(ids: ["069A", "069B"]), "\(root)/files/batch/069A,069B")
    try checkGet(.fileContents(id: "069A"), "\(root)/files/069A/content")
    try checkGet(
      .fileContents(id: "069A", version: 1), "\(root)/files/069A/content?versionNumber=1")
    try checkGet(.fileRendition(id: "069A"), "\(root)/files/069A/rendition?type=THUMB120BY90")
    try checkGet(
      .fileRendition(id: "069A", version: 3, rendition: .pdf, page: 2),
      "\(root)/files/069A/rendition?type=PDF&page=2&versionNumber=3")
    try checkGet(.fileShares(id: "069A", page: 1), "\(root)/files/069A/file-shares?page=1")
    #expect(
      [FileRendition.pdf, .flash, .slide, .thumbnail120x90, .thumbnail240x180, .thumbnail720x480]
        .map(\.rawValue)
        == ["PDF", "FLASH", "SLIDE", "THUMB120BY90", "THUMB240BY180", "THUMB720BY480"])
  }

  @Test(.covers("CO-136", "BX-53"))
  func `a community stands in the path`() throws {
    try checkGet(
      .fileDetails(id: "069A", communityId: "0DB1"), "\(root)/communities/0DB1/files/069A")
    try checkGet(
      .ownedFilesList(page: 1, communityId: "0DB1"),
      "\(root)/communities/0DB1/files/users/me?page=1")
    let place = "\(root)/communities/0DB1"
    for (request, path) in [
      (try RestRequest.filesInUsersGroups(communityId: "0DB1"), "/files/users/me/filter/groups"),
      (
        try .filesSharedWithUser(communityId: "0DB1"), "/files/users/me/filter/sharedwithme"
      ), (try .batchFileDetails(ids: ["069A"], communityId: "0DB1"), "/files/batch/069A"),
      (
        try .fileRendition(id: "069A", communityId: "0DB1"),
        "/files/069A/rendition?type=THUMB120BY90"
      ), (try .fileContents(id: "069A", communityId: "0DB1"), "/files/069A/content"),
      (try .fileShares(id: "069A", communityId: "0DB1"), "/files/069A/file-shares"),
    ] { try checkGet(request, place + path) }
    let picture = UploadBody([1])
    #expect(
      RestRequest.uploadFile(picture, name: "a", communityId: "0DB1").target()
        == "\(place)/files/users/me")
    #expect(
      try RestRequest.uploadProfilePhoto(
        userId: "005A", picture, name: "me.png", mimeType: "image/png", communityId: "0DB1"
      ).target() == "\(place)/user-profiles/005A/photo")
  }

  @Test(.covers("CO-136"))
  func `shares are records`() throws {
    let share = try RestRequest.addFileShare(fileId: "069A", entityId: "005B", type: .collaborator)
    #expect(share.method == .post)
    #expect(share.target() == "/services/data/v66.0/sobjects/ContentDocumentLink")
    #expect(
      text(share.body)
        == #"{"ContentDocumentId":"069A","LinkedEntityId":"005B","ShareType":"C"}"#)
    #expect(FileShareType.viewer.rawValue == "V")
    let delete = try RestRequest.deleteFileShare(shareId: "06AA")
    #expect(delete.method == .delete)
    #expect(delete.target() == "/services/data/v66.0/sobjects/ContentDocumentLink/06AA")
  }

  @Test(.covers("CO-136"))
  func `arguments that make no sense are refused before the network`() {
    let calls: [() throws -> RestRequest] = [
      { try .fileDetails(id: "") }, { try .fileDetails(id: "a", version: 0) },
      { try .batchFileDetails(ids: []) }, { try .batchFileDetails(ids: ["a", ""]) },
      { try .fileContents(id: "a", version: -1) }, { try .fileRendition(id: "a", page: -1) },
      { try .fileRendition(id: "a", rendition: .init(rawValue: "")) },
      { try .ownedFilesList(userId: "") }, { try .filesSharedWithUser(page: -1) },
      { try .fileShares(id: "", page: 0) }, { try .deleteFileShare(shareId: "") },
      { try .addFileShare(fileId: "", entityId: "b", type: .viewer) },
      { try .addFileShare(fileId: "a", entityId: "", type: .viewer) },
      {
        try .uploadProfilePhoto(
          userId: "", UploadBody([1]), name: "a.png", mimeType: "image/png")
      },
    ]
    for call in calls {
      #expect {
        _ = try call()
      } throws: {
        ($0 as? RestError)?.code == .invalidRequest
      }
    }
  }

  @Test(.covers("CO-137"))
  func `an upload is one form of two parts`() throws {
    let request = RestRequest.uploadFile(
      UploadBody(Array("line\r\n--B".utf8)), name: "a \"b\"\r\n\\é.txt", title: "T",
      description: "D\"", mimeType: "text/plain", communityId: nil, apiVersion: nil,
      form: MultipartBody(boundary: "B0UND"))
    #expect(request.method == .post)
    #expect(request.target() == "\(root)/files/users/me")
    #expect(request.headers[.contentType] == "multipart/form-data; boundary=B0UND")
    let body = """
      --B0UND\r
      Content-Disposition: form-data; name="json"\r
      Content-Type: application/json; charset=UTF-8\r
      \r
      {"title":"T","desc":"D\\""}\r
      --B0UND\r
      Content-Disposition: form-data; name="fileData"; filename="a \\"b\\"%0D%0A\\\\é.txt"\r
      Content-Type: text/plain\r
      \r
      line\r
      --B\r
      --B0UND--\r

      """
    #expect(text(try request.upload?.bytes()) == body)
    #expect(request.upload?.length == Int64(body.utf8.count))
  }

  @Test(.covers("CO-137"))
  func `no text of a part makes another header field`() throws {
    var form = MultipartBody(boundary: "B")
    form.add("a\nb", text: "x", contentType: "text/plain; charset=\"UTF-8\"\r\nX-Evil: 1\r\n\r\n")
    #expect(
      text(try form.body.bytes())
        == "--B\r\nContent-Disposition: form-data; name=\"a%0Ab\"\r\n"
        + "Content-Type: text/plain; charset=\"UTF-8\"%0D%0AX-Evil: 1%0D%0A%0D%0A\r\n\r\nx\r\n--B--\r\n"
    )
  }

  @Test(.covers("CO-137"))
  func `without title and description there is no part for them`() throws {
    let request = RestRequest.uploadFile(
      UploadBody([]), name: "n", title: nil, description: nil,
      mimeType: "application/octet-stream", communityId: "0DB1", apiVersion: "v60.0",
      form: MultipartBody(boundary: "B"))
    #expect(
      request.target() == "/services/data/v60.0/connect/communities/0DB1/files/users/me")
    #expect(
      text(try request.upload?.bytes())
        == "--B\r\nContent-Disposition: form-data; name=\"fileData\"; filename=\"n\"\r\n"
        + "Content-Type: application/octet-stream\r\n\r\n\r\n--B--\r\n")
    let described = RestRequest.uploadFile(UploadBody([1]), name: "n", description: "d")
    #expect(text(try described.upload?.bytes()).contains(#"{"desc":"d"}"#))
    #expect(described.headers[.contentType] != request.headers[.contentType])
  }

  @Test(.covers("CO-136", "BX-53"))
  func `a picture of a user is uploaded`() throws {
    let request = try RestRequest.uploadProfilePhoto(
      userId: "005A", UploadBody([1, 2]), name: "me.png", mimeType: "image/png", communityId: nil,
      apiVersion: nil, form: MultipartBody(boundary: "B"))
    #expect(request.method == .post)
    #expect(request.target() == "\(root)/user-profiles/005A/photo")
    #expect(
      try request.upload?.bytes()
        == Array(
          "--B\r\nContent-Disposition: form-data; name=\"fileUpload\"; filename=\"me.png\"\r\nContent-Type: image/png\r\n\r\n"
            .utf8) + [1, 2] + Array("\r\n--B--\r\n".utf8))
  }

  @Test(.covers("CO-137"))
  func `a file is read when it is sent, as often as it is`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("data")
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try Data(content).write(to: file)
    let body = try UploadBody([1]) + UploadBody(file: file) + UploadBody([2])
    #expect(body.length == 200_002)
    for _ in 0..<2 { #expect(try body.bytes() == [1] + content + [2]) }
    // What was added later is not part of it; what is missing is reported.
    try Data(content + [9]).write(to: file)
    #expect(try body.bytes() == [1] + content + [2])
    try Data(content.dropLast()).write(to: file)
    #expect(throws: TransportError.self) { try body.bytes() }
    #expect {
      _ = try UploadBody(file: folder.file("none"))
    } throws: {
      ($0 as? TransportError)?.code == .unreadableBody
    }
    #expect(throws: TransportError.self) { try UploadBody(file: folder.url) }
    // A pipe without a writer is refused at once.
    try #require(mkfifo(folder.file("pipe").path, 0o600) == 0)
    #expect(throws: TransportError.self) { try UploadBody(file: folder.file("pipe")) }
  }

  @Test(.covers("CO-132"))
  func `a file is no part of a composite request`() throws {
    var request = RestRequest(method: .post, path: "/{v}/sobjects/Account")
    request.upload = UploadBody(Array("{}".utf8))
    #expect(throws: RestError.self) {
      try RestRequest.composite([CompositeSubrequest(referenceId: "a", request)])
    }
    #expect(throws: RestError.self) { try RestRequest.compositeBatch([request]) }
  }
}
