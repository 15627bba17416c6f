import NIOCore
import NIOWebSocket
import Synchronization

/// Records why a frame cannot be read, then ends the connection.
///
/// NIO's own handler ends the connection first, so that the reader sees an end without a reason.
final class FrameErrorHandler: ChannelInboundHandler, Sendable {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let recorded = Mutex<NIOWebSocketError?>(nil)

  /// The first error; nil if all frames could be read.
  var error: NIOWebSocketError? { recorded.withLock { $0 } }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? NIOWebSocketError else { return context.fireErrorCaught(error) }
    recorded.withLock { $0 = $0 ?? error }
    var data = context.channel.allocator.buffer(capacity: 2)
    data.write(
      webSocketErrorCode: error == .invalidFrameLength ? .messageTooLarge : .protocolError)
    let frame = WebSocketFrame(
      fin: true, opcode: .connectionClose, maskKey: .random(), data: data)
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    context.close(promise: nil)
  }
}
