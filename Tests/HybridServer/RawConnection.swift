import NIOCore
import NIOPosix

/// A connection to a server under test, byte by byte, so that a test can send what no client would.
struct RawConnection {
  private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var received = ByteBuffer()

  /// Runs `body` with a connection, and closes it.
  static func with<R: Sendable>(
    _ port: Int, _ body: (inout RawConnection) async throws -> R
  ) async throws -> R {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { asyncChannel($0) }
    return try await with(channel, body)
  }

  /// Runs `body` with a connection to a Unix socket, and closes it.
  static func with<R: Sendable>(
    unixSocket path: String, _ body: (inout RawConnection) async throws -> R
  ) async throws -> R {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(unixDomainSocketPath: path) { asyncChannel($0) }
    return try await with(channel, body)
  }

  private static func asyncChannel(
    _ channel: any Channel
  ) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> {
    channel.eventLoop.makeCompletedFuture {
      try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
    }
  }

  private static func with<R: Sendable>(
    _ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
    _ body: (inout RawConnection) async throws -> R
  ) async throws -> R {
    try await channel.executeThenClose { inbound, outbound in
      var connection = RawConnection(
        inbound: inbound.makeAsyncIterator(), outbound: outbound)
      return try await body(&connection)
    }
  }

  func send(_ text: String) async throws { try await send(bytes: Array(text.utf8)) }

  func send(bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

  /// The next bytes; nil if the server closes the connection before.
  mutating func read(_ count: Int) async throws -> [UInt8]? {
    while received.readableBytes < count {
      guard var more = try await inbound.next(isolation: #isolation) else { return nil }
      received.writeBuffer(&more)
    }
    defer { received.discardReadBytes() }
    return received.readBytes(length: count)
  }

  // MARK: HTTP

  struct Response: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String
  }

  /// Sends a request and reads its response. A body is read by its `Content-Length`.
  mutating func request(
    _ path: String, host: String, method: String = "GET", headers: [String] = []
  ) async throws -> Response {
    let lines = ["\(method) \(path) HTTP/1.1", "Host: \(host)"] + headers
    try await send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard let byte = try await read(1) else { return Response(status: 0, headers: [:], body: "") }
      head += byte
    }
    let answer = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    var fields: [String: String] = [:]
    for line in answer.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
    }
    let status = Int(answer[0].split(separator: " ")[1]) ?? 0
    let length = method == "HEAD" ? 0 : Int(fields["content-length"] ?? "") ?? 0
    let body = try await read(length) ?? []
    return Response(status: status, headers: fields, body: String(decoding: body, as: UTF8.self))
  }

  // MARK: WebSocket

  static let upgrade = [
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]

  struct Frame: Sendable {
    let opcode: UInt8
    let data: [UInt8]
    var text: String { String(decoding: data, as: UTF8.self) }
    /// The code of a close frame.
    var code: Int? { data.count < 2 ? nil : Int(data[0]) << 8 | Int(data[1]) }
  }

  /// Sends a frame; a client masks it, long ones here with zeros, which takes no time.
  func send(
    frame data: [UInt8], opcode: UInt8 = 1, isLast: Bool = true, isMasked: Bool = true
  ) async throws {
    var bytes = [opcode | (isLast ? 0x80 : 0)]
    let mask: UInt8 = isMasked ? 0x80 : 0
    switch data.count {
    case ..<126: bytes.append(mask | UInt8(data.count))
    case ..<65_536: bytes += [mask | 126, UInt8(data.count >> 8), UInt8(data.count & 255)]
    default:
      bytes.append(mask | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: data.count >> shift))
      }
    }
    guard isMasked else { return try await send(bytes: bytes + data) }
    let key: [UInt8] = data.count > 65_536 ? [0, 0, 0, 0] : [0x37, 0xfa, 0x21, 0x9d]
    let masked = key[0] == 0 ? data : data.indices.map { data[$0] ^ key[$0 & 3] }
    try await send(bytes: bytes + key + masked)
  }

  func send(call text: String) async throws { try await send(frame: Array(text.utf8)) }

  /// The next frame; nil if the server closes the connection before.
  mutating func frame() async throws -> Frame? {
    guard let head = try await read(2) else { return nil }
    var length = Int(head[1] & 0x7f)
    if length >= 126 {
      guard let bytes = try await read(length == 126 ? 2 : 8) else { return nil }
      length = bytes.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let data = try await read(length) else { return nil }
    return Frame(opcode: head[0] & 0x0f, data: data)
  }
}
