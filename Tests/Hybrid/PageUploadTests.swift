import Foundation
import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceReact
import SalesforceSDKCommon
import TestSupport
import Testing

/// Do files of the device get from a page to the org, and back?
struct PageUploadTests {
  /// The services that send requests, each with its action.
  private static let services = [
    (AccountServiceTests.network, "pgSendRequest"), ("SFNetReactBridge", "sendRequest"),
    ("SalesforceNetReactBridge", "sendRequest"),
  ]

  /// Runs `body` with a page of a host that allows uploads from a folder with a file of these bytes.
  private func withFile(
    _ bytes: [UInt8],
    _ body: (Page, _ file: URL, _ requests: () -> Int) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let file = folder.file("a picture.bin")
      try Data(bytes).write(to: file)
      try await TestHost.withOrg(
        modules: ReactModules.plugins, adjust: { $0.uploadFolders = [folder.url] }
      ) { host, org in
        org.clearRequestLog()
        try await body(try Page(host.bridge), file) { org.requestLog.count }
      }
    }
  }

  @Test(.covers("HT-8", "HT-45"), arguments: services)
  func `a file is sent as a part, fields as parts of their own, and it comes back as base64`(
    service: String, action: String
  ) async throws {
    // More than one buffer, with every byte and all line ends.
    let bytes = (0..<200_003).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }
    try await withFile(bytes) { page, file, _ in
      let uploaded = try await page.value(
        service, action,
        [
          "endPoint": "/services/data", "path": "/v66.0/connect/files/users/me",
          "method": "POST", "queryParams": ["title": "Grüße", "desc": "two\r\nlines"],
          "headerParams": ["X-Connect-Bearer-Urls": "true"],
          "fileParams": [
            "fileData": [
              "fileUrl": .string(file.absoluteString), "fileName": "picture.bin",
              "fileMimeType": "application/octet-stream",
            ]
          ],
        ])
      let id = try #require(uploaded?["id"]?.string)
      #expect(uploaded?["title"] == "Grüße")
      #expect(uploaded?["contentSize"]?.int64 == Int64(bytes.count))
      let content = try await page.value(
        service, action,
        [
          "endPoint": "/services/data", "returnBinary": true,
          "path": .string("/v66.0/connect/files/\(id)/content"),
        ])
      let received = try #require(Data(base64Encoded: content?["encodedBody"]?.string ?? ""))
      #expect(received == Data(bytes))
      #expect(content?["contentType"]?.string?.isEmpty == false)
    }
  }

  @Test(.covers("HT-8", "HT-45"), arguments: services)
  func `a field that is an object is sent as a part in JSON, such as json`(
    service: String, action: String
  ) async throws {
    try await withFile([1, 2, 3]) { page, file, _ in
      let fileParams: JSONValue = ["fileData": ["fileUrl": .string(file.absoluteString)]]
      let uploaded = try await page.value(
        service, action,
        [
          "endPoint": "/services/data", "path": "/v66.0/connect/files/users/me",
          "method": "POST", "queryParams": ["json": ["title": "From the JSON part"]],
          "fileParams": fileParams,
        ])
      #expect(uploaded?["title"] == "From the JSON part")
      let version = try await page.value(
        service, action,
        [
          "endPoint": "/services/data", "path": "/v66.0/sobjects/ContentVersion",
          "method": "POST",
          "queryParams": ["entity_content": ["PathOnClient": "a.bin", "Title": "As a record"]],
          "fileParams": ["VersionData": ["fileUrl": .string(file.absoluteString)]],
        ])
      #expect(version?["success"] == true)
    }
  }

  @Test(.covers("HT-45"), arguments: services)
  func `a picture of the user is uploaded`(service: String, action: String) async throws {
    try await withFile([0x89, 0x50]) { page, file, _ in
      let photo = try await page.value(
        service, action,
        [
          "endPoint": "/services/data", "path": "/v66.0/connect/user-profiles/me/photo",
          "method": "POST", "queryParams": ["cropX": "0"],
          "headerParams": ["X-Connect-Bearer-Urls": "true"],
          "fileParams": [
            "fileUpload": ["fileUrl": .string(file.absoluteString), "fileMimeType": "image/png"]
          ],
        ])
      #expect(photo?["largePhotoUrl"]?.string?.contains("/profilephoto/") == true)
    }
  }

  @Test(.covers("HT-8", "HT-45"), arguments: services)
  func `a file that cannot be read fails the call, and nothing is sent`(
    service: String, action: String
  ) async throws {
    try await withFile([1]) { page, file, requests in
      let missing = file.deletingLastPathComponent().appending(path: "none.bin")
      let response = try await page.call(
        service, action,
        [
          "endPoint": "/services/data", "path": "/v66.0/connect/files/users/me",
          "method": "POST",
          "fileParams": ["fileData": ["fileUrl": .string(missing.absoluteString)]],
        ])
      #expect(response["status"] == "error")
      #expect(requests() == 0)
    }
  }
}
