import Foundation
import LocalServer
import NIOCore
import NIOPosix
import SalesforceHybridSDK
import Testing
import TestSupport

@testable import HybridServer

/// What a program on this machine, with or without the token, may try to use up the server.
struct ServerLimitTests {
  private func withServer(
    _ adjust: (inout ServerLimits) -> Void, _ body: (HybridServer) async throws -> Void
  ) async throws {
    var limits = ServerLimits()
    adjust(&limits)
    let bridge = try HybridBridge(plugins: [EchoPlugin()])
    let server = try await HybridServer.start(bridge: bridge, limits: limits)
    do {
      try await body(server)
      await server.stop()
    } catch {
      await server.stop()
      throw error
    }
  }

  private func connect(_ server: HybridServer) async throws -> any Channel {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: server.port).get()
  }

  private static func script(_ server: HybridServer) -> String {
    String(server.url.dropFirst("http://127.0.0.1:\(server.port)".count)) + "cordova.js"
  }

  @Test func `silent connections do not keep a page out`() async throws {
    try await withServer {
      $0.maxConnections = 20
    } _: { server in
      var silent: [any Channel] = []
      for _ in 0..<60 { silent.append(try await connect(server)) }
      let response = try await RawConnection.with(server.port) {
        try await $0.request(Self.script(server), host: "127.0.0.1:\(server.port)")
      }
      #expect(response.status == 200)
      // The server has closed the oldest.
      for channel in silent.prefix(20) { try await channel.closeFuture.get() }
      for channel in silent { channel.close(promise: nil) }
    }
  }

  @Test func `a head that does not end is closed`() async throws {
    try await withServer {
      $0.firstHeadTimeout = .milliseconds(200)
    } _: { server in
      try await RawConnection.with(server.port) { connection in
        try await connection.send("GET / HTTP/1.1\r\nX: ")
        #expect(try await connection.read(1) == nil)
      }
    }
  }

  @Test(arguments: ["h2c", "websocket"])
  func `a refused upgrade gets a response and the end of the connection`(
    name: String
  ) async throws {
    try await withServer { _ in
    } _: { server in
      try await RawConnection.with(server.port) { connection in
        let response = try await connection.request(
          "/nothing", host: "127.0.0.1:\(server.port)",
          headers: ["Connection: Upgrade", "Upgrade: \(name)"])
        #expect(response.status == 403 && response.headers["connection"] == "close")
        #expect(try await connection.read(1) == nil)
      }
    }
  }

  @Test func `half frames of many sockets exceed the budget and are closed`() throws {
    let budget = SocketBudget(maxFrameBytes: 16 << 20)
    let sockets = (0..<40).map { _ in budget.open() }
    let accepted = sockets.map { socket in (0..<14).allSatisfy { _ in socket.arrived(1 << 20) } }
    #expect(accepted.count { $0 } == 4)
    // Small messages of another socket still arrive.
    #expect(budget.open().arrived(1 << 10))
    for socket in sockets { socket.close() }
    let next = budget.open()
    #expect((0..<64).allSatisfy { _ in next.arrived(1 << 20) })
    #expect(!next.arrived(1 << 20))
    next.processed(64 << 20)
    #expect(next.arrived(32 << 20))
  }

  @Test func `no more than 64 sockets are open`() {
    let budget = SocketBudget(maxFrameBytes: 16 << 20)
    let sockets = (0..<SocketBudget.maxSockets).map { _ in budget.open() }
    #expect(!budget.hasRoom)
    sockets[0].close()
    sockets[0].close()
    #expect(budget.hasRoom)
    _ = budget.open()
    #expect(!budget.hasRoom)
  }

  @Test(.timeLimit(.minutes(2)))
  func `a socket with a half frame beyond the budget is closed`() async throws {
    try await withServer { _ in
    } _: { server in
      let (port, host) = (server.port, "127.0.0.1:\(server.port)")
      let path = String(server.socketURL.dropFirst("ws://\(host)".count))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 {
          group.addTask {
            try await RawConnection.with(port) { connection in
              let response = try await connection.request(
                path, host: host, headers: RawConnection.upgrade)
              guard response.status == 101 else {
                throw ServedApp.Refused(status: response.status)
              }
              // A frame of 15 MiB of which 14 MiB arrive.
              try? await connection.send(
                bytes: [0x81, 0xff, 0, 0, 0, 0, 0, 0xf0, 0, 0, 0, 0, 0, 0])
              let piece = [UInt8](repeating: 0x20, count: 1 << 20)
              for _ in 0..<14 { try? await connection.send(bytes: piece) }
              _ = try? await connection.read(1)
            }
          }
        }
        // Ends only when the server closes a socket.
        try await group.next()
        await server.stop()
      }
    }
  }

  @Test func `files and folders whose names begin with a dot are not served`() async throws {
    let files = [
      "index.html": "x", ".env": "secret", ".git/config": "secret", "sub/.history": "secret",
    ]
    try await ServedApp.with(files) { app async throws in
      try FileManager.default.createSymbolicLink(
        at: app.folder.file("www").appending(path: "link.txt"),
        withDestinationURL: app.folder.file("www").appending(path: ".env"))
      for path in [".env", "%2eenv", ".git/config", "sub/.history", "link.txt"] {
        #expect(try await app.get(path).status == 404, "\(path)")
      }
      #expect(try await app.get("index.html").status == 200)
    }
  }
}
