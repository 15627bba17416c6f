import NIOCore
import NIOWebSocket
import SalesforceHybridSDK

/// A WebSocket between a page, or a Node process, and the bridge.
struct SocketConnection: Sendable {
  typealias Stream = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

  let bridge: HybridBridge

  /// Transfers frames until the page closes the socket or sends a frame that is not a call, or
  /// until the task is cancelled.
  ///
  /// - Parameter bytes: The counter of the bytes that arrive on the socket.
  func serve(_ stream: Stream, counting bytes: SocketBytes) async throws {
    try await stream.executeThenClose { inbound, outbound in
      let session = try bridge.connect { frame in
        let frame = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: frame))
        // A closed page receives nothing more; the end of the inbound frames ends the session.
        try? await outbound.write(frame)
      }
      defer { session.end() }
      let reason = try await receive(inbound, outbound, session, bytes)
      guard let reason else { return }
      session.end()
      var data = ByteBuffer()
      data.write(webSocketErrorCode: reason)
      try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
  }

  /// Passes the page's messages to the session.
  ///
  /// - Returns: The code with which the socket is to be closed; nil if the page is gone already.
  private func receive(
    _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
    _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ session: HybridSession,
    _ bytes: SocketBytes
  ) async throws -> WebSocketErrorCode? {
    var message: [UInt8]?
    // The bytes of the frames of `message`.
    var pending = 0
    for try await frame in inbound {
      guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
        return .protocolError
      }
      let length = Self.length(of: frame)
      switch frame.opcode {
      case .ping:
        bytes.processed(length)
        try await outbound.write(
          WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer(bytes: frame.payload)))
        continue
      case .pong:
        bytes.processed(length)
        continue
      case .connectionClose:
        var data = ByteBuffer(bytes: frame.payload)
        return data.readWebSocketErrorCode() ?? .normalClosure
      case .text where message == nil:
        message = frame.payload
      case .continuation where message != nil:
        message?.append(contentsOf: frame.payload)
      case .binary:
        return .unacceptableData
      default:
        return .protocolError
      }
      pending += length
      guard (message?.count ?? 0) <= bridge.limits.maxFrameBytes else { return .messageTooLarge }
      guard frame.fin, let complete = message else { continue }
      message = nil
      defer {
        bytes.processed(pending)
        pending = 0
      }
      do throws(HybridError) {
        try await session.receive(complete)
      } catch {
        return error.code == .tooLarge ? .messageTooLarge : .dataInconsistentWithMessage
      }
    }
    return nil
  }

  /// The bytes of a masked frame with its head.
  private static func length(of frame: WebSocketFrame) -> Int {
    let count = frame.data.readableBytes
    return count + 6 + (count < 126 ? 0 : count < 65_536 ? 2 : 8)
  }
}
