import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// What the URLSession transport makes of servers, good and bad, over real sockets.
@Suite struct TransportTests {
  private let transport = URLSessionTransport()

  private func code(
    _ request: TransportRequest, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async -> TransportError.Code? {
    await #expect(throws: TransportError.self, sourceLocation: sourceLocation) {
      try await transport.send(request)
    }?.code
  }

  @Test(.covers("CO-117.2"))
  func `a request arrives as it was created, and the response as it was sent`()
    async throws
  {
    let server = try SocketServer { _, connection in
      connection.send(
        SocketServer.answer(
          "{\"ä\":1}", status: "201 Created", headers: "X-One: a\r\nX-Two: b, c\r\n"))
      return true
    }
    let response = try await transport.send(
      TransportRequest(
        method: .patch, url: server.url("/a%20b?q=%2B"),
        headers: [.authorization: "Bearer t", .contentType: "application/json", .userAgent: "me"],
        body: Array("{}".utf8)))
    #expect(response.status == 201)
    #expect(text(response.body) == "{\"ä\":1}")
    #expect(response.headers[try #require(HTTPField.Name("X-One"))] == "a")
    #expect(response.headers[try #require(HTTPField.Name("X-Two"))] == "b, c")
    let request = try #require(server.requests.first)
    #expect(request.head.hasPrefix("PATCH /a%20b?q=%2B HTTP/1.1"))
    #expect(request.header("Authorization") == "Bearer t")
    #expect(request.header("Content-Type") == "application/json")
    #expect(request.header("User-Agent") == "me")
    #expect(request.header("Content-Length") == "2")
    #expect(request.header("Cookie") == nil)
    #expect(text(request.body) == "{}")
  }

  @Test(.covers("CO-130.1", "CO-56"))
  func `connections are kept alive and cookies are not`() async throws {
    let numbers = Mutex<Set<Int>>([])
    let server = try SocketServer { request, connection in
      numbers.withLock { _ = $0.insert(connection.number) }
      connection.send(SocketServer.answer("{}", headers: "Set-Cookie: sid=secret; Path=/\r\n"))
      return true
    }
    for _ in 0..<20 {
      let response = try await transport.send(TransportRequest(method: .get, url: server.url()))
      #expect(response.status == 200)
    }
    #expect(numbers.withLock { $0.count } == 1)
    #expect(server.requests.allSatisfy { $0.header("Cookie") == nil })
  }

  @Test func `many requests at once all get a response`() async throws {
    let server = try SocketServer { request, connection in
      connection.send(SocketServer.answer(request.path))
      return true
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          let path = "/\(number)"
          let response = try await self.transport.send(
            TransportRequest(method: .get, url: server.url(path)))
          #expect(text(response.body) == path)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: [204, 304, 400, 401, 403, 404, 412, 500, 503])
  func `every status is a response`(status: Int) async throws {
    let server = try SocketServer { _, connection in
      connection.send(
        "HTTP/1.1 \(status) X\r\nWWW-Authenticate: Token\r\n"
          + (status == 204 || status == 304 ? "\r\n" : "Content-Length: 2\r\n\r\n[]"))
      return true
    }
    let response = try await transport.send(TransportRequest(method: .get, url: server.url()))
    #expect(response.status == status)
  }

  @Test(arguments: ["Basic realm=\"x\"", "Bearer", "Token"])
  func `a challenge gets no response`(challenge: String) async throws {
    let server = try SocketServer { _, connection in
      connection.send(
        SocketServer.answer(
          "[]", status: "401 Unauthorized", headers: "WWW-Authenticate: \(challenge)\r\n"))
      return true
    }
    let response = try await transport.send(
      TransportRequest(method: .get, url: server.url(), headers: [.authorization: "Bearer t"]))
    #expect(response.status == 401)
    #expect(text(response.body) == "[]")
    #expect(server.requests.count == 1)
  }

  @Test(.covers("CO-128.1"), arguments: [301, 302, 303, 307, 308])
  func `a redirect is a response, not followed by the transport`(status: Int) async throws {
    let server = try SocketServer { request, connection in
      connection.send(
        SocketServer.answer("moved", status: "\(status) Moved", headers: "Location: /other\r\n"))
      return true
    }
    for method: HTTPRequest.Method in [.get, .post] {
      let response = try await transport.send(
        TransportRequest(
          method: method, url: server.url("/first"), body: method == .post ? [1] : nil))
      #expect(response.status == status)
      #expect(response.headers[.location] == "/other")
    }
    #expect(server.requests.map(\.path) == ["/first", "/first"])
  }

  @Test func `a chunked response is put together`() async throws {
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for _ in 0..<100 { connection.send("A\r\n0123456789\r\n") }
      connection.send("0\r\n\r\n")
      return true
    }
    let response = try await transport.send(TransportRequest(method: .get, url: server.url()))
    #expect(response.body.count == 1000)
  }

  @Test func `a body of 8 MB arrives whole, there and back`() async throws {
    let server = try SocketServer { request, connection in
      connection.send(
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n".utf8)
          + request.body)
      return true
    }
    let body = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let response = try await transport.send(
      TransportRequest(method: .post, url: server.url(), body: body))
    #expect(response.body == body)
  }

  @Test func `a response that is cut is a typed error`() async throws {
    let answers = [
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"records\":[",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhe",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ]
    for answer in answers {
      let server = try SocketServer { _, connection in
        connection.send(answer)
        return false
      }
      let code = await code(TransportRequest(method: .get, url: server.url()))
      #expect(code == .truncated, "\(answer)")
      #expect(code?.isRetryable == true)
    }
  }

  @Test func `a response longer than allowed is refused, announced or not`() async throws {
    let server = try SocketServer { request, connection in
      if request.path == "/announced" {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n")
      } else {
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        // Without end: only a client that hangs up ends it.
        for _ in 0..<10_000 {
          connection.send("2710\r\n\(String(repeating: "x", count: 10_000))\r\n")
        }
      }
      connection.waitForClose()
      return false
    }
    for path in ["/announced", "/endless"] {
      let code = await code(
        TransportRequest(method: .get, url: server.url(path), maxResponseBytes: 100_000))
      #expect(code == .tooLarge)
    }
  }

  @Test func `the length that a response to HEAD tells is not refused, since no body comes`()
    async throws
  {
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
      return true
    }
    let response = try await transport.send(
      TransportRequest(method: .head, url: server.url(), maxResponseBytes: 1000))
    #expect(response.headers[.contentLength] == "1000000")
    #expect(response.body.isEmpty)
  }

  @Test(.covers("CO-119"))
  func `waiting for a free connection is no silence of the server`() async throws {
    let mayRespond = Latch()
    let server = try SocketServer { request, connection in
      if request.path == "/slow" {
        mayRespond.waitOnThread()
      }
      if request.path != "/silent" { connection.send(SocketServer.answer(request.path)) }
      return true
    }
    let narrow = URLSessionTransport(maxConnectionsPerHost: 1)
    let slow = TransportRequest(method: .get, url: server.url("/slow"))
    let first = Task.immediate { try await narrow.send(slow) }
    let fast = TransportRequest(method: .get, url: server.url("/fast"), timeout: .seconds(2))
    let second = Task.immediate { try await narrow.send(fast) }
    // Four requests without a response take longer to time out.
    for _ in 0..<4 {
      let silent = TransportRequest(
        method: .get, url: server.url("/silent"), timeout: .milliseconds(550))
      #expect(await code(silent) == .timedOut)
    }
    mayRespond.open()
    #expect(text(try await first.value.body) == "/slow")
    #expect(text(try await second.value.body) == "/fast")
  }

  @Test(.covers("CO-129"))
  func `a request that is cancelled while it waits for a connection is never sent`()
    async throws
  {
    let arrived = Latch()
    let server = try SocketServer { request, connection in
      guard request.path != "/first" else {
        arrived.open()
        connection.waitForClose()
        return false
      }
      connection.send(SocketServer.answer(request.path))
      return true
    }
    let narrow = URLSessionTransport(maxConnectionsPerHost: 1)
    let tasks = ["/first", "/second", "/third"].map { path in
      let request = TransportRequest(method: .get, url: server.url(path))
      return Task.immediate { try await narrow.send(request) }
    }
    try await arrived.wait()
    // The second waits; the third does too, and gets its place when the first has left.
    tasks[1].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    tasks[0].cancel()
    #expect(text(try await tasks[2].value.body) == "/third")
    #expect(server.requests.map(\.path) == ["/first", "/third"])
  }

  @Test(.covers("CO-119", "BX-49.1"))
  func `a silent server times out`() async throws {
    let server = try SocketServer { request, connection in
      if request.path == "/half" {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1")
      }
      connection.waitForClose()
      return false
    }
    for path in ["/", "/half"] {
      let code = await code(
        TransportRequest(method: .get, url: server.url(path), timeout: .milliseconds(150)))
      #expect(code == .timedOut)
    }
  }

  @Test func `a server that is not there is unreachable`() async throws {
    let port: Int
    do {
      port = try SocketServer { _, _ in false }.port
    }
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
    #expect(await code(TransportRequest(method: .get, url: url)) == .unreachable)
  }

  @Test func `a server that hangs up without a response is unreachable`() async throws {
    let server = try SocketServer { _, _ in false }
    #expect(await code(TransportRequest(method: .get, url: server.url())) == .unreachable)
  }

  @Test(arguments: [HTTPRequest.Method.post, .patch, .put])
  func `a request whose kept-alive connection ends before the response is not sent again`(
    method: HTTPRequest.Method
  ) async throws {
    let server = try SocketServer { request, connection in
      guard request.path == "/first" else { return false }
      connection.send(SocketServer.answer("{}"))
      return true
    }
    _ = try await transport.send(TransportRequest(method: .get, url: server.url("/first")))
    let code = await code(
      TransportRequest(method: method, url: server.url("/second"), body: Array("{}".utf8)))
    #expect(code == .unreachable)
    #expect(server.requests.map(\.path) == ["/first", "/second"])
    // The transport works on.
    let response = try await transport.send(
      TransportRequest(method: .get, url: server.url("/first")))
    #expect(response.status == 200)
  }

  @Test func `bytes that are not HTTP are a typed error`() async throws {
    let server = try SocketServer { _, connection in
      connection.send("SSH-2.0-OpenSSH_9.2\r\n\r\n")
      return false
    }
    let code = await code(TransportRequest(method: .get, url: server.url()))
    #expect(code == .malformed || code == .unreachable)
  }

  @Test(.covers("CO-129"))
  func `cancelling the task closes the connection`() async throws {
    let arrived = Latch(), closed = Latch()
    let server = try SocketServer { _, connection in
      arrived.open()
      connection.waitForClose()
      closed.open()
      return false
    }
    let url = server.url()
    let task = Task { try await transport.send(TransportRequest(method: .get, url: url)) }
    try await arrived.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    // Only the peer's close lets the server go on.
    try await closed.wait()
  }

  @Test(.covers("CO-129"))
  func `a request that was cancelled before it began is never sent`() async throws {
    let answer = BufferedResponse()
    let exchange = Exchange(
      TransportRequest(method: .post, url: try #require(URL(string: "https://acme.example/"))),
      into: answer)
    exchange.cancel()
    let sent = Mutex(0)
    await #expect(throws: CancellationError.self) {
      _ = try await withCheckedThrowingContinuation { continuation in
        answer.resume(continuation)
        let isSent = exchange.begin(cancelTask: {}) { sent.withLock { $0 += 1 } }
        #expect(!isSent)
      }
    }
    #expect(sent.withLock { $0 } == 0)
  }

  @Test func `plain http never leaves this machine`() async throws {
    let url = try #require(URL(string: "http://example.com/"))
    #expect(await code(TransportRequest(method: .get, url: url)) == .insecureURL)
  }
}
