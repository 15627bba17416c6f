import Foundation
import HybridServer
import SalesforceHybridSDK
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Does the server serve the next client, with every socket closed, whatever a client does?
struct GoneClientTests {
  @Test(.timeLimit(.minutes(2)))
  func `connections that end in any way leave no socket open, and the next one is served`()
    async throws
  {
    try await ServedApp.with { app async throws in
      let upgrade = RawConnection.upgrade
      let ways: [@Sendable (inout RawConnection) async throws -> Void] = [
        { _ in },
        { try await $0.send("GET / HTTP/1.1\r\nHost") },
        { try await $0.send("nonsense\r\n\r\n") },
        { try await $0.send("GET \(app.root) HTTP/1.1\r\nHost: \(app.host)\r\n\r\n") },
        { _ = try await $0.request(app.root, host: app.host) },
        { _ = try await $0.request(app.root + "none", host: "evil.example") },
        { _ = try await $0.request(app.root + "_bridge", host: app.host, headers: upgrade) },
        {
          _ = try await $0.request(app.root + "_bridge", host: app.host, headers: upgrade)
          try await $0.send(call: SocketTests.call(1, "1"))
        },
        {
          _ = try await $0.request(app.root + "_bridge", host: app.host, headers: upgrade)
          try await $0.send(bytes: [0x81, 0xfe, 0x10])
        },
        {
          _ = try await $0.request(app.root + "_bridge", host: app.host, headers: upgrade)
          try await $0.send(call: "{")
          _ = try await $0.frame()
        },
        {
          _ = try await $0.request(
            app.root + "_bridge", host: app.host,
            headers: upgrade + ["Origin: https://evil.example"])
        },
      ]
      for _ in 0..<10 {
        for way in ways { try await RawConnection.with(app.server.port, way) }
      }
      #expect(try await app.get("index.html").status == 200)
      // The listener alone stays.
      try await poll { Self.openSockets(app.server.port) <= 1 }
      #expect(app.bridge.sessionCount == 0)
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a client that reads nothing delays neither other clients nor the end of the server`()
    async throws
  {
    // The server also stops while it waits for the client to read its responses.
    var limits = HybridLimits()
    limits.maxPendingBytes = 2 << 20
    try await ServedApp.with(limits: limits) { app async throws in
      try await app.withSocket { other in
        let text = String(repeating: "x", count: 1 << 20)
        // More than the buffers of both sides hold: the server stops reading from this client.
        let (path, host) = (app.root + "_bridge", app.host)
        let sending = Task {
          try await RawConnection.with(app.server.port) { connection in
            _ = try await connection.request(path, host: host, headers: RawConnection.upgrade)
            for id in 0..<200 {
              try await connection.send(call: SocketTests.call(id, "\"\(text)\""))
            }
          }
        }
        for id in 0..<50 {
          try await other.send(call: SocketTests.call(id, "\(id)"))
          #expect(try await other.frame() != nil)
        }
        let start = ContinuousClock.now
        await app.server.stop()
        #expect(ContinuousClock.now - start < .seconds(10))
        _ = await sending.result
        #expect(app.bridge.sessionCount == 0)
      }
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func `5,000 seeded bytes of wrong frames end their own sockets alone`() async throws {
    let seed = Effort.seed(.random(in: 0..<1_000_000))
    var random = SeededGenerator(seed: seed)
    try await ServedApp.with { app async throws in
      try await app.withSocket { other in
        for _ in 0..<100 {
          let bytes = (0..<50).map { _ in UInt8.random(in: .min ... .max, using: &random) }
          try await app.withSocket { socket in
            try await socket.send(call: SocketTests.call(1, "1"))
            #expect(try await socket.frame()?.text == #"{"id":1,"status":"ok","value":[1]}"#)
            // The server may have closed before all bytes are sent.
            try? await socket.send(bytes: bytes)
          }
        }
        try await other.send(call: SocketTests.call(3, "3"))
        #expect(
          try await other.frame()?.text == #"{"id":3,"status":"ok","value":[3]}"#, "seed \(seed)")
      }
    }
  }

  /// The number of sockets of this process that are bound to this port.
  private static func openSockets(_ port: Int) -> Int {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    return numbers.compactMap { Int32($0) }.count { number in
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(number, $0, &length) == 0
        }
      }
      return isKnown && Int32(address.sin_family) == AF_INET
        && Int(in_port_t(bigEndian: address.sin_port)) == port
    }
  }
}
