import Foundation
import NIOCore
import NIOEmbedded
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import LocalServer
@testable import SalesforceMockOrg

/// What a program on this machine may try that opens connections and stops there.
@Suite(.ownThreads) struct ConnectionLimitTests {
  private func withServer(
    _ adjust: (inout ServerLimits) -> Void,
    _ body: (MockOrg, MockOrgServer, _ port: Int) async throws -> Void
  ) async throws {
    var limits = ServerLimits()
    adjust(&limits)
    let org = try MockOrg()
    let server = try await MockOrgServer.start(org, host: "127.0.0.1", port: 0, limits: limits)
    do {
      try await body(org, server, try #require(server.url.port))
      await server.stop()
    } catch {
      await server.stop()
      throw error
    }
  }

  private static let beginnings = [
    "", "G", "POST /services/oauth2/token HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "GET /services/data HTTP/1.1\r\nX: ",
  ]

  @Test func `requests whose head never ends are closed`() async throws {
    try await withServer {
      $0.firstHeadTimeout = .milliseconds(200)
    } _: { _, _, port in
      let connections = try (0..<60).map { index in
        let connection = try RawConnection(port: port)
        connection.send(Self.beginnings[index % Self.beginnings.count])
        return connection
      }
      for connection in connections { #expect(connection.bytesToEnd() != nil) }
    }
  }

  @Test func `a connection that waits for nothing is closed after its response`() async throws {
    try await withServer {
      $0.idleTimeout = .milliseconds(200)
    } _: { _, _, port in
      let connection = try RawConnection(port: port)
      connection.send("GET /services/data HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      let bytes = try #require(connection.bytesToEnd())
      #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test(arguments: [true, false])
  func `a body that never ends is closed, with a session and without`(
    hasSession: Bool
  ) async throws {
    try await withServer {
      $0.bodyTimeout = .milliseconds(200)
    } _: { org, server, port in
      let connection = try RawConnection(port: port)
      let token = hasSession ? server.info.accessToken : "none"
      connection.send(
        "POST /services/data/v66.0/sobjects/Account HTTP/1.1\r\nHost: 127.0.0.1\r\n"
          + "Authorization: Bearer \(token)\r\nContent-Length: 1000\r\n\r\n{\"Na")
      #expect(connection.bytesToEnd() != nil)
      #expect(try await org.count("Account") == 0)
    }
  }

  @Test func `connections that send nothing do not keep others out`() async throws {
    try await withServer {
      $0.maxConnections = 20
    } _: { _, _, port in
      let connections = try (0..<100).map { index in
        let connection = try RawConnection(port: port)
        connection.send(Self.beginnings[index % Self.beginnings.count])
        return connection
      }
      for _ in 0..<5 {
        #expect(try RawResponse("GET", "/services/data", port: port).status == 200)
      }
      // The oldest had to go; several threads accept, so that the order is a little off.
      for connection in connections.prefix(60) { #expect(connection.bytesToEnd() != nil) }
    }
  }

  @Test func `a refused upgrade gets a response and the end of the connection`() async throws {
    try await withServer { _ in
    } _: { _, _, port in
      let connection = try RawConnection(port: port)
      connection.send(
        "GET /services/data HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: h2c\r\n"
          + "Connection: Upgrade\r\n\r\n")
      let bytes = try #require(connection.bytesToEnd())
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200") && text.lowercased().contains("connection: close"))
    }
  }

  @Test func `bytes that are decoded to nothing are closed beyond their limit`() throws {
    let channel = EmbeddedChannel()
    let limits = ServerLimits()
    try channel.pipeline.syncOperations.addHandler(ConnectionGauge(limits, ConnectionRegistry()))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    let piece = ByteBuffer(repeating: 0x61, count: 64 << 10)
    for _ in 0..<(limits.maxUndecodedBytes >> 16) { try channel.writeInbound(piece) }
    #expect(channel.isActive)
    _ = try? channel.writeInbound(piece)
    #expect(!channel.isActive)
  }

  // MARK: The rules by themselves

  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private static func after(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

  @Test func `a slow body has the time that its bytes grant, and no more`() {
    var watch = ConnectionWatch(ServerLimits(), now: Self.start)
    watch.headArrived(now: Self.start)
    #expect(watch.check(unread: 0, now: Self.after(14)) == .checkAgain(at: Self.after(15)))
    let isShort = watch.bodyArrived(16_384 * 60)
    #expect(isShort)
    #expect(watch.check(unread: 0, now: Self.after(74)) == .checkAgain(at: Self.after(75)))
    // A byte now and then is not enough.
    let isStillShort = watch.bodyArrived(1)
    #expect(isStillShort)
    #expect(watch.check(unread: 0, now: Self.after(76)) == .close)
    let isEndless = !watch.bodyArrived(512 << 20)
    #expect(isEndless)
  }

  @Test func `a responder takes the time that it needs, and the client may read slowly`() {
    var watch = ConnectionWatch(ServerLimits(), now: Self.start)
    watch.headArrived(now: Self.start)
    watch.requestEnded()
    #expect(watch.check(unread: 0, now: Self.after(1000)) == .checkAgain(at: Self.after(1060)))
    let isWaiting = watch.responseEnded(now: Self.after(1000))
    #expect(isWaiting)
    #expect(watch.check(unread: 900, now: Self.after(1060)) == .checkAgain(at: Self.after(1120)))
    #expect(watch.check(unread: 800, now: Self.after(1120)) == .checkAgain(at: Self.after(1180)))
    #expect(watch.check(unread: 0, now: Self.after(1130)) == .checkAgain(at: Self.after(1180)))
    #expect(watch.check(unread: 0, now: Self.after(1180)) == .close)
  }

  @Test func `a client that reads nothing of its response is closed`() {
    var watch = ConnectionWatch(ServerLimits(), now: Self.start)
    watch.headArrived(now: Self.start)
    watch.requestEnded()
    #expect(watch.check(unread: 500, now: Self.after(60)) == .checkAgain(at: Self.after(120)))
    #expect(watch.check(unread: 500, now: Self.after(120)) == .close)
  }
}
