import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// Downloads into files, whole and in parts, over real sockets.
@Suite struct DownloadTests {
  /// A server of one resource, which can break off and knows ranges.
  private final class Resource: Sendable {
    struct State {
      var content: [UInt8]
      var tag: String? = "\"v1\""
      var acceptsRanges = true
      /// How many bytes of a body are sent before the connection is closed; one for each request.
      var cuts: [Int] = []
      var ranges: [String?] = []
      /// The most bytes of a response to a range.
      var partLimit: Int?
      var tellsTotal = true
      /// Whether what was requested as a whole comes as a part too.
      var isAlwaysPart = false
      /// How far the ends of a part are from what its header says.
      var errors = (first: 0, last: 0)
      var status: String?
    }
    let state: Mutex<State>

    init(_ content: [UInt8]) { state = Mutex(State(content: content)) }

    func answer(_ request: SocketServer.Request, _ connection: SocketServer.Connection) -> Bool {
      let (head, body, isCut) = state.withLock { state -> (String, [UInt8], Bool) in
        state.ranges.append(request.header("Range"))
        if let status = state.status {
          return ("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n", Array("[]".utf8), false)
        }
        var start = 0
        let total = state.content.count
        if state.acceptsRanges, let range = request.header("Range"),
          request.header("If-Range") == state.tag,
          let first = Int(range.dropFirst("bytes=".count).dropLast())
        {
          guard first < total else {
            return ("HTTP/1.1 416 No\r\nContent-Length: 0\r\n", [], false)
          }
          start = first
        }
        let end = start > 0 ? min(total, start + (state.partLimit ?? total)) : total
        let ends = "\(start + state.errors.first)-\(end - 1 + state.errors.last)"
        var head =
          start > 0 || state.isAlwaysPart
          ? "HTTP/1.1 206 Part\r\n"
            + "Content-Range: bytes \(ends)/\(state.tellsTotal ? "\(total)" : "*")\r\n"
          : "HTTP/1.1 200 OK\r\n"
        head += "Content-Length: \(end - start)\r\nContent-Type: a/b\r\n"
        if state.acceptsRanges { head += "Accept-Ranges: bytes\r\n" }
        if let tag = state.tag { head += "ETag: \(tag)\r\n" }
        let cut = state.cuts.isEmpty ? nil : state.cuts.removeFirst()
        return (
          head, Array(state.content[start..<end].prefix(cut ?? total)), cut != nil
        )
      }
      connection.send(Array("\(head)\r\n".utf8) + body)
      return !isCut
    }
  }

  private let folder: TemporaryFolder
  private let resource: Resource
  private let server: SocketServer
  private let content: [UInt8]
  private var file: URL { folder.file("file.bin") }
  private var part: URL { folder.file("file.bin.part") }

  init() throws {
    folder = try TemporaryFolder()
    let content = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    self.content = content
    let resource = Resource(content)
    self.resource = resource
    server = try SocketServer { resource.answer($0, $1) }
  }

  private func client(_ policy: RetryPolicy = .never) -> RestClient {
    RestClient(
      transport: URLSessionTransport(),
      options: .init(
        retries: policy, chance: { 0 }))
  }

  private var request: RestRequest { RestRequest(url: server.url("/f")) }
  private var ranges: [String?] { resource.state.withLock { $0.ranges } }
  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  @Test func `a file is downloaded, and replaces the former one when it is complete`() async throws
  {
    try Data("old".utf8).write(to: file)
    let progress = TransferProgress()
    let updates = Task {
      var last = TransferProgress.Amounts()
      for await amounts in progress.updates() { last = amounts }
      return last
    }
    let download = try await client().download(request, to: file, progress: progress)
    #expect(download.bytes == Int64(content.count))
    #expect(download.resumedFrom == 0)
    #expect(download.contentType == "a/b")
    #expect(try Data(contentsOf: file) == Data(content))
    #expect(try names == ["file.bin"])
    let last = await updates.value
    #expect(last.received == Int64(content.count))
    #expect(last.toReceive == Int64(content.count))
    #expect(server.requests.first?.header("Accept-Encoding") == "identity")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `a download that broke off goes on where it ended`() async throws {
    try Data("old".utf8).write(to: file)
    resource.state.withLock { $0.cuts = [250_000] }
    let error = await #expect(throws: RestError.self) {
      try await client().download(request, to: file)
    }
    #expect(error?.code == .truncated)
    #expect(try Data(contentsOf: file) == Data("old".utf8))
    let start = try #require(
      try FileManager.default.attributesOfItem(atPath: part.path)[.size] as? Int)
    #expect(start > 0 && start <= 250_000)
    let download = try await client().download(request, to: file)
    #expect(download.resumedFrom == Int64(start))
    #expect(download.bytes == Int64(content.count))
    #expect(try Data(contentsOf: file) == Data(content))
    #expect(ranges == [nil, "bytes=\(start)-"])
    #expect(try names == ["file.bin"])
  }

  @Test func `one call goes on by itself, as often as the policy allows`() async throws {
    resource.state.withLock { $0.cuts = [200_000, 200_000] }
    let download = try await client(RetryPolicy(maxAttempts: 4, firstWait: .zero))
      .download(request, to: file)
    #expect(download.resumedFrom > 200_000)
    #expect(try Data(contentsOf: file) == Data(content))
    #expect(ranges.count == 3)
  }

  @Test func `the rest is requested again if the server sends less than that`() async throws {
    resource.state.withLock {
      $0.cuts = [100_000]
      $0.partLimit = 150_000
    }
    _ = try? await client().download(request, to: file)
    let start = try #require(
      try FileManager.default.attributesOfItem(atPath: part.path)[.size] as? Int)
    let progress = TransferProgress()
    let download = try await client().download(request, to: file, progress: progress)
    #expect(download.bytes == Int64(content.count))
    #expect(try Data(contentsOf: file) == Data(content))
    let asked = stride(from: start, to: content.count, by: 150_000).map { "bytes=\($0)-" }
    #expect(asked.count == 4)
    #expect(ranges == [nil] + asked)
    #expect(progress.amounts.toReceive == Int64(content.count))
    #expect(try names == ["file.bin"])
  }

  @Test func `a part that does not fit, or of a file of unknown length, is not put behind another`()
    async throws
  {
    for change: @Sendable (inout Resource.State) -> Void in [
      { $0.tellsTotal = false }, { $0.errors = (1, 0) }, { $0.errors = (0, 1) },
      { $0.errors = (0, -900_000) },
    ] {
      resource.state.withLock { state in
        state = .init(content: content)
        change(&state)
        state.cuts = [250_000]
      }
      _ = try? await client().download(request, to: file)
      let download = try await client().download(request, to: file)
      #expect(download.resumedFrom == 0)
      #expect(ranges.map { $0 == nil } == [true, false, true])
      #expect(try Data(contentsOf: file) == Data(content))
    }
  }

  @Test func `a part that was not requested, or has too many bytes, is refused`() async throws {
    resource.state.withLock {
      $0.cuts = [250_000]
      $0.partLimit = 150_000
      $0.errors = (0, -5)
    }
    _ = try? await client().download(request, to: file)
    let long = await #expect(throws: RestError.self) {
      try await client().download(request, to: file)
    }
    #expect(long?.code == .malformedResponse)
    #expect(try names == [])
    resource.state.withLock {
      $0.cuts = [250_000]
      $0.errors = (0, 0)
    }
    _ = try? await client().download(request, to: file)
    resource.state.withLock { $0.isAlwaysPart = true }
    let uncalled = await #expect(throws: RestError.self) {
      try await client().download(request, to: file, resumes: false)
    }
    #expect(uncalled?.code == .malformedResponse)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `a request that asks for a range of its own is not downloaded`() async throws {
    var change = request
    change.headers[.range] = "bytes=0-9"
    let ranged = change
    let error = await #expect(throws: RestError.self) {
      try await client().download(ranged, to: file)
    }
    #expect(error?.code == .invalidRequest)
    #expect(ranges.isEmpty)
  }

  @Test func `another version of the file is downloaded from its start`() async throws {
    resource.state.withLock { $0.cuts = [250_000] }
    _ = try? await client().download(request, to: file)
    let new = content.reversed()
    resource.state.withLock {
      $0.content = Array(new)
      $0.tag = "\"v2\""
    }
    let download = try await client().download(request, to: file)
    #expect(download.resumedFrom == 0)
    #expect(try Data(contentsOf: file) == Data(new))
  }

  @Test func `a file that became shorter is downloaded from its start`() async throws {
    resource.state.withLock { $0.cuts = [250_000] }
    _ = try? await client().download(request, to: file)
    resource.state.withLock { $0.content = [1, 2, 3] }
    let download = try await client().download(request, to: file)
    #expect(download.bytes == 3)
    #expect(try Data(contentsOf: file) == Data([1, 2, 3]))
  }

  @Test func `what is here of another address, or for no version, is not gone on with`()
    async throws
  {
    resource.state.withLock { $0.cuts = [250_000] }
    _ = try? await client().download(request, to: file)
    _ = try await client().download(RestRequest(url: server.url("/other")), to: file)
    #expect(ranges == [nil, nil])
    for change: @Sendable (inout Resource.State) -> Void in [
      { $0.tag = nil }, { $0.tag = "W/\"v1\"" }, { $0.acceptsRanges = false },
    ] {
      resource.state.withLock { state in
        change(&state)
        state.ranges = []
        state.cuts = [250_000]
      }
      _ = try? await client().download(request, to: file)
      _ = try await client().download(request, to: file)
      #expect(ranges == [nil, nil])
      #expect(try Data(contentsOf: file) == Data(content))
    }
    // Nor if the caller wants all of it.
    resource.state.withLock { state in
      state.tag = "\"v1\""
      state.acceptsRanges = true
      state.ranges = []
      state.cuts = [250_000]
    }
    _ = try? await client().download(request, to: file)
    _ = try await client().download(request, to: file, resumes: false)
    #expect(ranges == [nil, nil])
  }

  @Test func `a refusal leaves no file, and says why`() async throws {
    resource.state.withLock { $0.status = "404 Not Found" }
    let error = await #expect(throws: RestError.self) {
      try await client().download(request, to: file)
    }
    #expect(error?.code == .notFound, "\(error.map { "\($0)" } ?? "")")
    #expect(try names == [])
  }

  @Test func `a file that is longer than allowed is refused`() async throws {
    let error = await #expect(throws: RestError.self) {
      try await client().download(request, to: file, maxBytes: 1000)
    }
    #expect(error?.code == .tooLarge)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `a place that cannot be written, or is in use, is a typed error`() async throws {
    try Data().write(to: folder.file("no-folder"))
    let wrong = await #expect(throws: RestError.self) {
      try await client().download(request, to: folder.file("no-folder").appending(path: "x"))
    }
    #expect(wrong?.code == .unwritableFile)
    let held = try PartialDownload(to: file)
    let busy = await #expect(throws: RestError.self) {
      try await client().download(request, to: file)
    }
    #expect(busy?.code == .busyFile)
    withExtendedLifetime(held) {}
  }
}
