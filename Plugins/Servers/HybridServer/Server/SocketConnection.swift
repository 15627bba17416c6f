import NIOCore
import NIOWebSocket
import SalesforceHybridSDK

/// A WebSocket between a page, or a Node process, and the bridge.
struct SocketConnection: Sendable {
  typealias Stream = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

  let bridge: HybridBridge

  /// Carries frames until the page closes the socket, sends what is no call, or the task is cancelled.
  func serve(_ stream: Stream) async throws {
    try await stream.executeThenClose { inbound, outbound in
      let session = try bridge.connect { frame in
        let frame = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: frame))
        // A page that is gone receives nothing more; the end of the inbound frames ends the session.
        try? await outbound.write(frame)
      }
      defer { session.end() }
      let reason = try await receive(inbound, outbound, session)
      guard let reason else { return }
      session.end()
      var data = ByteBuffer()
      data.write(webSocketErrorCode: reason)
      try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
  }

  /// Hands the page's messages to the session.
  ///
  /// - Returns: The code with which the socket is to be closed; nil if the page is gone already.
  private func receive(
    _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
    _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ session: HybridSession
  ) async throws -> WebSocketErrorCode? {
    var message: [UInt8]?
    for try await frame in inbound {
      guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
        return .protocolError
      }
      let data = frame.unmaskedData
      switch frame.opcode {
      case .ping:
        try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: data))
        continue
      case .pong:
        continue
      case .connectionClose:
        var data = data
        return data.readWebSocketErrorCode() ?? .normalClosure
      case .text where message == nil:
        message = Array(buffer: data)
      case .continuation where message != nil:
        message?.append(contentsOf: data.readableBytesView)
      case .binary:
        return .unacceptableData
      default:
        return .protocolError
      }
      guard (message?.count ?? 0) <= bridge.limits.maxFrameBytes else { return .messageTooLarge }
      guard frame.fin, let complete = message else { continue }
      message = nil
      do throws(HybridError) {
        try await session.receive(complete)
      } catch {
        return error.code == .tooLarge ? .messageTooLarge : .dataInconsistentWithMessage
      }
    }
    return nil
  }
}
