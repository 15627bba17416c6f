import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// What a client makes of servers that respond slowly, too little, too much, for ever, or something else
/// than asked: a typed error each time, and never more memory than the request allows.
@Suite struct BadResponseTests {
  private struct Page: Decodable, Sendable {
    struct Record: Decodable, Sendable { let Id: String }
    let totalSize: Int
    let records: [Record]
  }

  /// A client of `server`, which sends nothing twice.
  private func client(of server: SocketServer) async throws -> RestClient {
    let org = TestOrg()
    var account = org.account()
    account.credentials.instanceURL = server.url()
    let transport = URLSessionTransport()
    return RestClient(
      account: account, accounts: try await org.manager([account], transport: org.transport()),
      transport: transport, options: .init(retries: .never))
  }

  private func code(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ call: () async throws -> Void
  ) async -> RestError.Code? {
    do {
      try await call()
      Issue.record("no error", sourceLocation: sourceLocation)
    } catch let error as RestError {
      return error.code
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
  }

  /// The three ways to ask, each with a limit of 100,000 bytes.
  enum Way: CaseIterable, Sendable {
    case whole, streamed, download
  }

  private func ask(_ client: RestClient, _ way: Way, timeout: Duration = .seconds(60)) async throws
  {
    var request = RestRequest(path: "/{v}/query")
    request.timeout = timeout
    request.maxResponseBytes = 100_000
    switch way {
    case .whole: _ = try await client.send(request)
    case .streamed:
      try await client.withStream(to: request) { stream in
        var bytes = 0
        for try await piece in stream.body { bytes += piece.count }
        #expect(bytes <= 100_000)
      }
    case .download:
      try await TemporaryFolder.with { folder in
        let file = folder.file("a")
        defer { #expect(!FileManager.default.fileExists(atPath: file.path)) }
        try await client.download(request, to: file, maxBytes: 100_000)
      }
    }
  }

  @Test(.covers("CO-119", "CO-125.2"), arguments: Way.allCases)
  func `a server that falls silent is timed out`(way: Way) async throws {
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n{")
      connection.waitForClose()
      return false
    }
    let client = try await client(of: server)
    let code = await code { try await ask(client, way, timeout: .milliseconds(150)) }
    #expect(code == .timedOut)
  }

  // Only with time to spare: a machine that is too busy makes the server look silent.
  @Test(.covers("CO-119"), .enabled(if: Effort.factor > 1))
  func `a slow but not silent server is read to the end`() async throws {
    let timeout = Duration.seconds(3)
    let server = try SocketServer { request, connection in
      guard request.path.hasSuffix("/limits") else {
        connection.waitForClose()
        return false
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"a\":")
      // A sixth of the timeout lies between pieces, more than one of it in the whole.
      for _ in 0..<7 {
        usleep(500_000)
        connection.send("  ")
      }
      connection.send("}")
      return true
    }
    let client = try await client(of: server)
    var request = RestRequest.limits()
    request.timeout = timeout
    let start = ContinuousClock.now
    let answer = try await client.send(request)
    #expect(start.duration(to: .now) > timeout)
    #expect(answer.body.count == 20)
    #expect(await code { _ = try answer.json() } == .malformedResponse)
  }

  @Test(.covers("CO-125.3"), arguments: Way.allCases)
  func `a response that is cut is truncated`(way: Way) async throws {
    for answer in [
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"records\":[",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n5\r\n[1",
    ] {
      let server = try SocketServer { _, connection in
        connection.send(answer)
        return false
      }
      let client = try await client(of: server)
      #expect(await code { try await ask(client, way) } == .truncated)
    }
  }

  /// Responses without end, by what comes before the body and the piece that is repeated.
  private static let endless = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", String(repeating: "x", count: 9000)),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "2710\r\n\(String(repeating: "[", count: 10_000))\r\n"
    ),
    ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", #"{"records":[{"Id":"1"},"#),
  ]

  @Test(.covers("CO-125.3"), arguments: Way.allCases, 0..<3)
  func `a response that is too long or has no end is refused, and its connection closed`(
    way: Way, kind: Int
  ) async throws {
    let closed = Latch()
    let (head, piece) = Self.endless[kind]
    let server = try SocketServer { _, connection in
      connection.send(head)
      let pieces = Array(String(repeating: piece, count: max(1, 65_536 / piece.utf8.count)).utf8)
      // Ends when the client hangs up.
      while connection.sendUntilStalled(pieces, limit: 64 << 20) >= 64 << 20 {}
      connection.waitForClose()
      closed.open()
      return false
    }
    let client = try await client(of: server)
    #expect(await code { try await ask(client, way) } == .tooLarge)
    try await closed.wait()
  }

  @Test(.covers("CO-125.3"), arguments: Way.allCases)
  func `a small response that unpacks to a huge one is refused`(way: Way) async throws {
    let bomb = Self.zeros(megabytes: 10)
    #expect(bomb.count < 70_000)
    let server = try SocketServer { _, connection in
      connection.send(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
      connection.send(bomb)
      connection.waitForClose()
      return false
    }
    let client = try await client(of: server)
    #expect(await code { try await ask(client, way) } == .tooLarge)
  }

  /// A gzip file of zeros: one literal, and then the longest copy of what stands before, over and over.
  private static func zeros(megabytes: Int) -> [UInt8] {
    var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var bits: UInt64 = 0
    var count: UInt64 = 0
    func put(_ code: UInt64, _ length: UInt64) {
      bits |= code << count
      count += length
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        count -= 8
      }
    }
    put(0b011, 3)  // the last block, with the fixed codes
    put(0b0000_1100, 8)  // the literal 0
    for _ in 0..<(megabytes << 20) / 258 {
      put(0b1010_0011, 8)  // a copy of 258 bytes
      put(0, 5)  // from one byte before
    }
    put(0, 7)  // the end of the block
    put(0, 7)
    return bytes + [UInt8](repeating: 0, count: 8)
  }

  @Test(.covers("CO-125.3"))
  func `header fields without end are a typed error`() async throws {
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n")
      let field = Array("X-Filler: \(String(repeating: "y", count: 4000))\r\n".utf8)
      _ = connection.sendUntilStalled(field, limit: 64 << 20)
      connection.waitForClose()
      return false
    }
    let client = try await client(of: server)
    let code = await code { try await ask(client, .whole) }
    #expect(code == .unreachable || code == .malformedResponse || code == .truncated)
  }

  @Test(.covers("CO-125.3"))
  func `a refusal without end is the refusal, from as much of it as counts`()
    async throws
  {
    let server = try SocketServer { _, connection in
      connection.send(
        "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\n\r\n"
          + #"[{"errorCode":"MALFORMED_QUERY","message":"m"}]"#)
      _ = connection.sendUntilStalled([UInt8](repeating: 0x20, count: 65_536), limit: 256 << 20)
      return false
    }
    let client = try await client(of: server)
    let request = RestRequest(path: "/{v}/query")
    let error = await #expect(throws: RestError.self) {
      try await client.withStream(to: request) { _ in Issue.record("a refusal is not lent") }
    }
    #expect(error?.code == .server(400))
    #expect(error?.serverErrors.first?.errorCode == "MALFORMED_QUERY")
    #expect((error?.body.count ?? 0) <= 1 << 20)
  }

  @Test(
    .covers("CO-126"),
    arguments: [
      ("", RestError.Code.emptyResponse),
      ("<html>login</html>", .malformedResponse), ("{", .malformedResponse),
      (#"{"totalSize":NaN}"#, .malformedResponse), ("\u{0}", .malformedResponse),
      (String(repeating: "[", count: 90_000), .malformedResponse),
      ("[]", .malformedResponse), ("null", .malformedResponse), ("17", .malformedResponse),
      (#"{"totalSize":"1","records":[]}"#, .malformedResponse),
      (#"{"totalSize":1.5,"records":[]}"#, .malformedResponse),
      (#"{"totalSize":9223372036854775808,"records":[]}"#, .malformedResponse),
      (#"{"totalSize":1,"records":{}}"#, .malformedResponse),
      (#"{"totalSize":1,"records":[{"Id":null}]}"#, .malformedResponse),
      (#"{"totalSize":1,"records":[7]}"#, .malformedResponse),
      (#"{"totalSize":1}"#, .malformedResponse),
    ])
  func `what is no JSON, or JSON of another type, says so`(
    body: String, expected: RestError.Code
  ) async throws {
    let server = try SocketServer { _, connection in
      connection.send(SocketServer.answer(body, headers: "Content-Type: application/json\r\n"))
      return true
    }
    let client = try await client(of: server)
    let answer = try await client.send(RestRequest(path: "/{v}/query"))
    #expect(await code { _ = try answer.decode(as: Page.self) } == expected)
  }

  @Test(.covers("CO-126"))
  func `bytes that are no UTF-8 are no JSON`() async throws {
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
      connection.send(Array("{\"a\":\"".utf8) + [0xff] + Array("\"}".utf8))
      return true
    }
    let client = try await client(of: server)
    let answer = try await client.send(.limits())
    #expect(await code { _ = try answer.json() } == .malformedResponse)
  }

  @Test(
    .covers("CO-125.3"),
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n\r\n",
      "HTTP/9.9 200 OK\r\n\r\n",
    ])
  func `what is not HTTP is a typed error`(answer: String) async throws {
    let server = try SocketServer { _, connection in
      connection.send(answer)
      return false
    }
    let client = try await client(of: server)
    let code = await code { try await ask(client, .whole) }
    #expect(code == .unreachable || code == .malformedResponse)
  }
}
