import NIOCore
import NIOWebSocket
import SalesforceSDKCore

/// The messages of one open WebSocket.
struct SocketExchange: Sendable {
  let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
  let maxMessageBytes: Int
  let maxBufferedMessages: Int
  let errors: FrameErrorHandler

  /// Runs `body` while frames arrive, and closes the connection when it ends.
  func run<Result: Sendable>(
    _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
    _ body: @escaping @Sendable (WebSocketConnection) async throws -> Result
  ) async throws -> Result {
    let (messages, sink) = AsyncThrowingStream.makeStream(
      of: WebSocketMessage.self, throwing: (any Error).self,
      bufferingPolicy: .bufferingOldest(maxBufferedMessages))
    let connection = WebSocketConnection(
      messages: messages, send: { try await send($0) }, close: { try await close($0, $1) })
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        do {
          try await receive(inbound, sink)
          sink.finish()
        } catch {
          sink.finish(throwing: self.error(for: errors.error ?? error))
          // A caller that only sends notices the end, too.
          outbound.finish()
        }
        return nil
      }
      group.addTask { try await body(connection) }
      defer {
        group.cancelAll()
        sink.finish()
      }
      // The end of the frames is the body's to notice.
      while let next = try await group.next() {
        guard let result = next else { continue }
        try? await close(1_000, "")
        return result
      }
      throw CancellationError()
    }
  }

  // MARK: Sending

  private func send(_ message: WebSocketMessage) async throws {
    let frame =
      switch message {
      case .text(let text): frame(.text, ByteBuffer(string: text))
      case .binary(let bytes): frame(.binary, ByteBuffer(bytes: bytes))
      }
    do {
      try await outbound.write(frame)
    } catch {
      try Task.checkCancellation()
      throw WebSocketError(.closed, "The WebSocket is closed. Open another one.", cause: error)
    }
  }

  private func close(_ code: Int, _ reason: String) async throws {
    var data = ByteBuffer()
    data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: code))
    var cut = reason
    // A control frame has at most 125 bytes.
    while cut.utf8.count > 123 { cut.removeLast() }
    data.writeString(cut)
    try await outbound.write(frame(.connectionClose, data))
  }

  private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
    WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
  }

  // MARK: Receiving

  private func error(for error: any Error) -> any Error {
    switch error {
    case is WebSocketError, is CancellationError: error
    case NIOWebSocketError.invalidFrameLength:
      WebSocketError(
        .tooLarge, "A message of the server has more than \(maxMessageBytes) bytes.", cause: error)
    case is NIOWebSocketError:
      WebSocketError(.malformed, "The server sent a frame that is none.", cause: error)
    default:
      WebSocketError(
        .closed, "The connection of the WebSocket ended. Open another one.", cause: error)
    }
  }

  /// Passes messages on until the server closes the connection.
  private func receive(
    _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
    _ sink: AsyncThrowingStream<WebSocketMessage, any Error>.Continuation
  ) async throws {
    var partial: (opcode: WebSocketOpcode, bytes: [UInt8])?
    for try await frame in inbound {
      let data = frame.unmaskedData
      switch frame.opcode {
      case .ping: try await outbound.write(self.frame(.pong, data))
      case .pong: break
      case .connectionClose: return try await end(data)
      case .text where partial == nil, .binary where partial == nil:
        partial = (frame.opcode, Array(buffer: data))
      case .continuation where partial != nil:
        partial?.bytes.append(contentsOf: data.readableBytesView)
      default:
        throw WebSocketError(.malformed, "The server sent a frame that no message begins with.")
      }
      guard let message = partial, !frame.opcode.isControl else { continue }
      guard message.bytes.count <= maxMessageBytes else {
        try? await close(1_009, "")
        throw WebSocketError(
          .tooLarge, "A message of the server has more than \(maxMessageBytes) bytes.")
      }
      guard frame.fin else { continue }
      partial = nil
      try deliver(message.opcode, message.bytes, sink)
    }
    throw WebSocketError(.closed, "The connection of the WebSocket ended. Open another one.")
  }

  private func deliver(
    _ opcode: WebSocketOpcode, _ bytes: [UInt8],
    _ sink: AsyncThrowingStream<WebSocketMessage, any Error>.Continuation
  ) throws(WebSocketError) {
    let message: WebSocketMessage
    if opcode == .text {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw WebSocketError(.malformed, "The server sent a text that is no UTF-8.")
      }
      message = .text(text)
    } else {
      message = .binary(bytes)
    }
    if case .dropped = sink.yield(message) {
      throw WebSocketError(
        .tooLarge,
        "\(maxBufferedMessages) messages of the server wait to be read. Read them faster.")
    }
  }

  /// Acknowledges the end.
  ///
  /// - Throws: ``WebSocketError`` `closed` unless the server ended normally.
  private func end(_ data: ByteBuffer) async throws {
    var data = data
    let code = data.readWebSocketErrorCode().map { Int(UInt16(webSocketErrorCode: $0)) } ?? 1_005
    try? await close(code == 1_005 ? 1_000 : code, "")
    // 1000: done. 1001: the server goes away. 1005: no code.
    guard code == 1_000 || code == 1_005 else {
      throw WebSocketError(
        .closed, "The server closed the WebSocket with code \(code). Open another one.",
        closeCode: code)
    }
  }
}

extension WebSocketOpcode {
  fileprivate var isControl: Bool { self == .ping || self == .pong || self == .connectionClose }
}
