package import NIOCore

/// Counts a connection among those of its server until it closes, and closes it when it sends bytes that are decoded to
/// nothing.
///
/// It stands in front of the decoder: a decoder that has stopped, as behind a refused upgrade, keeps all bytes that
/// follow.
package final class ConnectionGauge: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer

  private let registry: ConnectionRegistry
  private let limits: ServerLimits
  private var undecoded = 0
  /// The byte counter after the connection has been upgraded.
  private var upgraded: ((_ bytes: Int) -> Bool)?
  private var onClose: (() -> Void)?

  package init(_ limits: ServerLimits, _ registry: ConnectionRegistry) {
    self.limits = limits
    self.registry = registry
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    let surplus = registry.open(context.channel, limit: limits.maxConnections, now: .now())
    surplus?.close(promise: nil)
  }

  package func handlerRemoved(context: ChannelHandlerContext) { end(context) }

  package func channelInactive(context: ChannelHandlerContext) {
    end(context)
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    undecoded += count
    guard upgraded?(count) ?? (undecoded <= limits.maxUndecodedBytes) else {
      context.close(promise: nil)
      return
    }
    context.fireChannelRead(data)
  }

  /// Records that the decoder has converted the bytes to a part of a request.
  func noteDecoded() { undecoded = 0 }

  /// Leaves the counting to another protocol: the connection is at work until it closes.
  ///
  /// - Parameter count: Is called with the number of bytes that arrived, and returns whether they are accepted.
  /// - Parameter onClose: Is called when the connection closes.
  package func upgrade(
    _ channel: any Channel, count: @escaping (_ bytes: Int) -> Bool,
    onClose: @escaping () -> Void
  ) {
    upgraded = count
    self.onClose = onClose
    registry.setWaiting(nil, channel)
  }

  private func end(_ context: ChannelHandlerContext) {
    registry.close(context.channel)
    onClose?()
    onClose = nil
  }
}
