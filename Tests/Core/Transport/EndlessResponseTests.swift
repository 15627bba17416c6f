import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// Responses without end, while the process cannot end connections as soon as it wants to.
@Suite struct EndlessResponseTests {
  /// The longest response that the requests allow.
  private static let limit = 1 << 20
  /// What the peer may take beyond the limit: the buffers of both sockets, and the window of the transport.
  private static let window = 24 << 20

  /// What keeps the process from ending a connection at once.
  enum Load: CaseIterable, Sendable {
    /// The queue on which connections are ended is occupied.
    case occupiedQueue
    /// Eight threads for each processor compute without a pause.
    case busyProcessors
  }

  enum Way: CaseIterable, Sendable {
    case whole, streamed, unread, cancelled
  }

  private static let heads = [
    "HTTP/1.1 200 OK\r\nContent-Type: x/y\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
  ]

  @Test(.covers("CO-125.3"), arguments: Load.allCases, Way.allCases)
  func `a response without end is not read beyond the limit and a small window`(
    load: Load, way: Way
  ) async throws {
    let loadEnds = Self.begin(load)
    defer { loadEnds() }
    for head in Self.heads {
      let taken = Mutex(0)
      let done = Latch()
      let server = try SocketServer { _, connection in
        connection.send(head)
        let piece = Array("10000\r\n\(String(repeating: "x", count: 65_536))\r\n".utf8)
        while taken.withLock({ $0 }) < 256 << 20 {
          let count = connection.sendOnce(piece)
          guard count > 0 else { break }
          taken.withLock { $0 += count }
        }
        done.open()
        return false
      }
      let transport = URLSessionTransport()
      await Self.ask(transport, server.url(), way, done)
      try await done.wait()
      #expect(taken.withLock { $0 } <= Self.limit + Self.window)
    }
  }

  private static func ask(
    _ transport: URLSessionTransport, _ url: URL, _ way: Way, _ done: Latch
  ) async {
    let request = TransportRequest(method: .get, url: url, maxResponseBytes: limit)
    let error = await #expect(throws: (any Error).self) {
      switch way {
      case .whole: _ = try await transport.send(request)
      case .streamed:
        try await transport.withStream(to: request) { stream in
          for try await _ in stream.body {}
        }
      case .unread:
        try await transport.withStream(to: request) { stream in
          try await done.wait()
          for try await _ in stream.body {}
        }
      case .cancelled:
        try await transport.withStream(to: request) { stream in
          _ = try await stream.body.prefix(upTo: 1)
          throw CancellationError()
        }
      }
    }
    if way != .cancelled { #expect((error as? TransportError)?.code == .tooLarge) }
  }

  /// - Returns: Ends the load.
  private static func begin(_ load: Load) -> () -> Void {
    switch load {
    case .occupiedQueue:
      let free = DispatchSemaphore(value: 0)
      DispatchQueue.aside.async { free.wait() }
      return { free.signal() }
    case .busyProcessors:
      let isOver = Flag()
      for _ in 0..<8 * ProcessInfo.processInfo.activeProcessorCount {
        Thread.detachNewThread { while !isOver.isSet {} }
      }
      return { isOver.set() }
    }
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
