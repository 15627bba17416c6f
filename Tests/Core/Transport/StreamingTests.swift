import Foundation
import HTTPTypes
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// Responses and bodies that are passed on piece by piece, over real sockets.
@Suite struct StreamingTests {
  private let transport = URLSessionTransport()

  /// The code of the failure that `call` ends with.
  private func code(_ call: () async throws -> Void) async -> TransportError.Code? {
    do {
      try await call()
    } catch let error as TransportError {
      return error.code
    } catch {
      Issue.record(error)
    }
    return nil
  }

  @Test func `a response is lent before its body is complete`() async throws {
    let mayGoOn = Latch()
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-A: b\r\n\r\none")
      mayGoOn.waitOnThread()
      connection.send("two")
      return true
    }
    let text: String = try await transport.withStream(
      to: TransportRequest(method: .get, url: server.url())
    ) { stream in
      #expect(stream.status == 200)
      #expect(stream.headers[try #require(HTTPField.Name("X-A"))] == "b")
      let pieces = stream.body.makeAsyncIterator()
      var bytes: [UInt8] = []
      while bytes.count < 3, let piece = try await pieces.next() { bytes += piece }
      #expect(bytes == Array("one".utf8))
      mayGoOn.open()
      while let piece = try await pieces.next() { bytes += piece }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(text == "onetwo")
  }

  @Test func `what a slow reader has not taken waits in a file, and other connections go on`()
    async throws
  {
    let sent = Latch()
    let content = (0..<12_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let server = try SocketServer { request, connection in
      if request.path == "/large" {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
        connection.send(content)
        sent.open()
        return false
      }
      connection.send(SocketServer.answer(request.path))
      return true
    }
    let folder = try TemporaryFolder()
    let transport = URLSessionTransport(temporaryFolder: folder.url)
    let url = server.url("/large")
    let received = try await transport.withStream(to: TransportRequest(method: .get, url: url)) {
      stream in
      // Nothing is read until the server has sent all of it: more than any socket holds.
      try await sent.wait()
      // At the same time others are served: on this connection's transport, on another's, and by streams.
      for other in [transport, URLSessionTransport()] {
        let small = try await other.send(TransportRequest(method: .get, url: server.url("/a")))
        #expect(text(small.body) == "/a")
        let streamed = try await other.withStream(
          to: TransportRequest(method: .get, url: server.url("/b"))
        ) { try await $0.body.prefix(upTo: 100) }
        #expect(text(streamed) == "/b")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
      var bytes: [UInt8] = []
      var largest = 0
      for try await piece in stream.body {
        bytes += piece
        largest = max(largest, piece.count)
      }
      #expect(largest <= DiskBuffer.memoryLimit)
      return bytes
    }
    #expect(received == content)
  }

  @Test func `without room for what a slow reader has not taken, the response ends`() async throws {
    let closed = Latch()
    let server = try SocketServer { _, connection in
      // Never complete, or the connection would be kept.
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99000000\r\n\r\n")
      connection.send([UInt8](repeating: 1, count: 9_000_000))
      connection.waitForClose()
      closed.open()
      return false
    }
    let folder = try TemporaryFolder()
    let transport = URLSessionTransport(temporaryFolder: folder.file("missing"))
    let code = await code {
      try await transport.withStream(to: TransportRequest(method: .get, url: server.url())) {
        stream in
        // Nothing is read until the rest could not be kept.
        try await closed.wait()
        for try await _ in stream.body {}
      }
    }
    #expect(code == .noRoom)
    #expect(code?.isRetryable == false)
  }

  @Test func `an unread response ends at the longest body allowed`() async throws {
    let closed = Latch()
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Type: x/y\r\n\r\n")
      _ = connection.sendUntilStalled([UInt8](repeating: 7, count: 65_536), limit: 64 << 20)
      connection.waitForClose()
      closed.open()
      return false
    }
    let code = await code {
      try await transport.withStream(
        to: TransportRequest(method: .get, url: server.url(), maxResponseBytes: 5_000_000)
      ) { stream in
        try await closed.wait()
        for try await _ in stream.body {}
      }
    }
    #expect(code == .tooLarge)
  }

  @Test func `a receiver is called where pieces arrive, and never after the end`() async throws {
    struct Own: Error {}
    let server = try SocketServer { request, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")
      connection.send(
        [UInt8](repeating: 1, count: request.path == "/whole" ? 3_000_000 : 2_000_000))
      connection.waitForClose()
      return false
    }
    let total = Mutex(0)
    try await transport.withStream(to: TransportRequest(method: .get, url: server.url("/whole"))) {
      try await $0.body.drain { piece in total.withLock { $0 += piece.count } }
    }
    #expect(total.withLock { $0 } == 3_000_000)
    await #expect(throws: Own.self) {
      try await transport.withStream(to: TransportRequest(method: .get, url: server.url())) {
        try await $0.body.drain { _ in throw Own() }
      }
    }
  }

  /// What ends a download while its receiver runs.
  enum Ending: CaseIterable { case transport, task, both }

  @Test(.covers("CO-129"), arguments: Ending.allCases)
  func `a cancelled download goes on only when its receiver has returned`(_ ending: Ending)
    async throws
  {
    let folder = try TemporaryFolder()
    let answer = StreamedResponse(diskBuffer: DiskBuffer(in: folder.url))
    let jobs = HeldJobs()
    let reader = Mutex<Task<Void, any Error>?>(nil)
    let calls = Mutex(0)
    let task = Task(executorPreference: jobs) {
      try await answer.drain { _ in
        calls.withLock { $0 += 1 }
        if ending != .task { answer.end(.failure(CancellationError())) }
        if ending != .transport { reader.withLock { $0 }?.cancel() }
        // Still inside: the reader must not wake.
        #expect(jobs.isEmpty)
      }
    }
    reader.withLock { $0 = task }
    jobs.run()
    #expect(jobs.isEmpty)
    try answer.take(Data([1]))
    #expect(!jobs.isEmpty)
    // What comes now is for others.
    try answer.take(Data([2]))
    jobs.run()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(calls.withLock { $0 } == 1)
  }

  @Test(.covers("CO-129"))
  func `a child task that reads is cancelled alone, and what it did not read stays`()
    async throws
  {
    let mayGoOn = Latch()
    let server = try SocketServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none")
      mayGoOn.waitOnThread()
      connection.send("two")
      return true
    }
    let bytes = try await transport.withStream(
      to: TransportRequest(method: .get, url: server.url())
    ) { stream in
      let pieces = stream.body.makeAsyncIterator()
      var bytes: [UInt8] = []
      while bytes.count < 3, let piece = try await pieces.next() { bytes += piece }
      for isDrained in [false, true] {
        let child = Task.immediate {
          if isDrained {
            try await stream.body.drain { _ in Issue.record("nothing comes yet") }
          } else {
            _ = try await pieces.next()
          }
        }
        child.cancel()
        await #expect(throws: CancellationError.self) { try await child.value }
      }
      mayGoOn.open()
      while let piece = try await pieces.next() { bytes += piece }
      return bytes
    }
    #expect(text(bytes) == "onetwo")
  }

  @Test(arguments: ["Basic realm=\"x\"", "Bearer"])
  func `a challenge is no question to a stream either`(challenge: String) async throws {
    let server = try SocketServer { _, connection in
      connection.send(
        SocketServer.answer(
          "[]", status: "401 Unauthorized", headers: "WWW-Authenticate: \(challenge)\r\n"))
      return true
    }
    let (status, body) = try await transport.withStream(
      to: TransportRequest(method: .get, url: server.url())
    ) { ($0.status, try await $0.body.prefix(upTo: 10)) }
    #expect(status == 401)
    #expect(text(body) == "[]")
  }

  @Test func `an endless response ends where the request says, and closes the connection`()
    async throws
  {
    let closed = Latch()
    let server = try SocketServer { request, connection in
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "4000\r\n\(String(repeating: "x", count: 0x4000))\r\n"
      // A busy client may take some of it before its hanging up comes to the socket.
      _ = connection.sendUntilStalled(Array(chunk.utf8), limit: 64 << 20)
      connection.waitForClose()
      closed.open()
      return false
    }
    let total = Mutex(0)
    let code = await code {
      try await transport.withStream(
        to: TransportRequest(
          method: .get, url: server.url(), maxResponseBytes: 3_000_000)
      ) { stream in
        for try await piece in stream.body { total.withLock { $0 += piece.count } }
      }
    }
    #expect(code == .tooLarge)
    #expect(total.withLock { $0 } <= 3_000_000)
    try await closed.wait()
  }

  @Test func `a response that is cut while it is read is a typed error`() async throws {
    for answer in [
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ] {
      let server = try SocketServer { _, connection in
        connection.send(answer)
        return false
      }
      let code = await code {
        try await transport.withStream(to: TransportRequest(method: .get, url: server.url())) {
          for try await _ in $0.body {}
        }
      }
      #expect(code == .truncated)
    }
  }

  @Test(.covers("CO-119"))
  func `silence inside a response is timed out, a reader's pause is not`() async throws {
    let server = try SocketServer { request, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n")
      if request.path == "/silent" {
        connection.waitForClose()
      } else {
        connection.send([UInt8](repeating: 1, count: 2_000_000))
      }
      return false
    }
    let silent = TransportRequest(
      method: .get, url: server.url("/silent"), timeout: .milliseconds(150))
    let code = await code {
      try await transport.withStream(to: silent) { for try await _ in $0.body {} }
    }
    #expect(code == .timedOut)
    let paused = TransportRequest(
      method: .get, url: server.url("/paused"), timeout: .milliseconds(500))
    let total = try await transport.withStream(to: paused) { stream in
      // As long as four requests without a response take to time out.
      for _ in 0..<4 {
        await #expect(throws: TransportError.self) { try await transport.send(silent) }
      }
      var total = 0
      for try await piece in stream.body { total += piece.count }
      return total
    }
    #expect(total == 2_000_000)
  }

  @Test(.covers("CO-129"))
  func `a reader that ends early, or is cancelled, closes the connection`()
    async throws
  {
    let closed = [Latch(), Latch()]
    let server = try SocketServer { request, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1")
      connection.waitForClose()
      closed[request.path == "/early" ? 0 : 1].open()
      return false
    }
    let first = try await transport.withStream(
      to: TransportRequest(method: .get, url: server.url("/early"))
    ) { stream in
      for try await piece in stream.body { return piece }
      return []
    }
    #expect(first == [UInt8(ascii: "1")])
    try await closed[0].wait()
    let reading = Latch()
    let url = server.url("/cancelled")
    let task = Task {
      try await transport.withStream(to: TransportRequest(method: .get, url: url)) { stream in
        for try await _ in stream.body { reading.open() }
      }
    }
    try await reading.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await closed[1].wait()
  }

  @Test func `what the reader throws passes through`() async throws {
    struct Own: Error {}
    let server = try SocketServer { _, connection in
      connection.send(SocketServer.answer("x"))
      return true
    }
    await #expect(throws: Own.self) {
      try await transport.withStream(to: TransportRequest(method: .get, url: server.url())) { _ in
        throw Own()
      }
    }
  }

  @Test(.covers("CO-137"))
  func `a body of files is sent with its length, and not in chunks`() async throws {
    let folder = try TemporaryFolder()
    let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 2) }
    try Data(content).write(to: folder.file("a"))
    let server = try SocketServer { request, connection in
      connection.send(SocketServer.answer("got \(request.body.count)"))
      return true
    }
    let progress = TransferProgress()
    let updates = Task {
      var last = TransferProgress.Amounts()
      for await amounts in progress.updates() { last = amounts }
      return last
    }
    let body = UploadBody([1, 2]) + (try UploadBody(file: folder.file("a"))) + UploadBody([3])
    let response = try await transport.send(
      TransportRequest(
        method: .post, url: server.url("/up"), headers: [.contentType: "a/b"], upload: body,
        progress: progress))
    progress.finish()
    #expect(text(response.body) == "got 5000003")
    let request = try #require(server.requests.first)
    #expect(request.header("Content-Length") == "5000003")
    #expect(request.header("Transfer-Encoding") == nil)
    #expect(request.header("Content-Type") == "a/b")
    #expect(request.header("Expect") == nil)
    #expect(request.body == [1, 2] + content + [3])
    let last = await updates.value
    #expect(last.sent == 5_000_003)
    #expect(last.toSend == 5_000_003)
    #expect(last.received == Int64(response.body.count))
    #expect(last.toReceive == Int64(response.body.count))
  }

  @Test func `a body that becomes shorter while it is sent is a typed error`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("a")
    try Data(count: 1000).write(to: file)
    let server = try SocketServer { _, connection in
      connection.send(SocketServer.answer("{}"))
      return true
    }
    let body = try UploadBody(file: file)
    try Data(count: 999).write(to: file)
    let code = await code {
      _ = try await transport.send(
        TransportRequest(method: .put, url: server.url(), upload: body))
    }
    #expect(code == .unreadableBody)
    #expect(code?.isRetryable == false)
  }

  @Test(.covers("CO-129"))
  func `an upload that is cancelled closes the connection`() async throws {
    let closed = Latch()
    let server = try SocketServer { _, connection in
      connection.waitForClose()
      closed.open()
      return false
    }
    let body = UploadBody([UInt8](repeating: 0, count: 1000))
    let url = server.url()
    let progress = TransferProgress()
    let task = Task {
      try await transport.send(
        TransportRequest(method: .post, url: url, upload: body, progress: progress))
    }
    for await amounts in progress.updates() where amounts.sent == 1000 { break }
    task.cancel()
    let outcome = await task.result
    if case .success = outcome { Issue.record("the upload was answered by nobody") }
    try await closed.wait()
  }

  @Test func `a transport that cannot stream lends the whole response`() async throws {
    let scripted = ScriptedTransport([.init(status: 201, json: "{}")])
    let url = try #require(URL(string: "https://acme.example/"))
    let bytes = try await scripted.withStream(to: TransportRequest(method: .get, url: url)) {
      stream in
      #expect(stream.status == 201)
      var bytes: [UInt8] = []
      for try await piece in stream.body { bytes += piece }
      return bytes
    }
    #expect(bytes == Array("{}".utf8))
  }

  @Test func `progress tells the amounts now, and ends`() async throws {
    let progress = TransferProgress()
    progress.update { $0.received = 5 }
    var updates = progress.updates().makeAsyncIterator()
    #expect(try await updates.next()?.received == 5)
    progress.update { $0.received = 6 }
    progress.update { $0.received = 7 }
    #expect(try await updates.next()?.received == 7)
    progress.finish()
    #expect(try await updates.next() == nil)
    var late = progress.updates().makeAsyncIterator()
    #expect(try await late.next()?.received == 7)
    #expect(try await late.next() == nil)
  }
}

/// Keeps what a task has to do until the test runs it.
private final class HeldJobs: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  var isEmpty: Bool { jobs.withLock { $0.isEmpty } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs what is there, on the calling thread.
  func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
