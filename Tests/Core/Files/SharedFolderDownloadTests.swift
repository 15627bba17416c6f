import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Downloads into a folder where other users have put files of the names that a download uses.
@Suite struct SharedFolderDownloadTests {
  private let folder: TemporaryFolder
  private var destination: URL { folder.file("report.pdf") }
  private var part: URL { folder.file("report.pdf.part") }

  init() throws { folder = try TemporaryFolder() }

  private func download() async throws {
    let server = try SocketServer { _, connection in
      connection.send(SocketServer.answer("content", headers: "ETag: \"v1\"\r\n"))
      return true
    }
    let client = RestClient(transport: URLSessionTransport(), options: .init(retries: .never))
    _ = try await client.download(RestRequest(url: server.url("/file")), to: destination)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root may give files away"), arguments: [false, true])
  func `a partial file of another user is not written to`(isNote: Bool) async throws {
    let foreign = isNote ? folder.file("report.pdf.part.json.new") : part
    try Data("foreign".utf8).write(to: foreign)
    chmod(foreign.path, 0o666)
    try #require(chown(foreign.path, 65_534, 65_534) == 0)
    let kept = try FileHandle(forUpdating: foreign)
    try? await download()
    #expect(try kept.readToEnd() == Data("foreign".utf8))
    if let attributes = try? FileManager.default.attributesOfItem(atPath: destination.path) {
      #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == Int(geteuid()))
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
  }

  @Test func `a partial file that other users may write to, or with a second name, is refused`()
    async throws
  {
    try Data("planted".utf8).write(to: part)
    chmod(part.path, 0o666)
    await #expect(throws: RestError.self) { try await download() }
    chmod(part.path, 0o600)
    let other = folder.file("other")
    try FileManager.default.linkItem(at: part, to: other)
    await #expect(throws: RestError.self) { try await download() }
    #expect(try Data(contentsOf: other) == Data("planted".utf8))
  }

  @Test(.timeLimit(.minutes(1)))
  func `a pipe in place of a partial file is refused`() async throws {
    try #require(mkfifo(part.path, 0o600) == 0)
    await #expect(throws: RestError.self) { try await download() }
  }
}
