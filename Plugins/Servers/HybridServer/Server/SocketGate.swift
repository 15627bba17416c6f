import NIOCore
import NIOHTTP1

/// Lets a request for a socket that is not admitted pass as an ordinary request, which gets a response.
///
/// An upgrade that is refused later ends the connection without one.
final class SocketGate: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let rules: AccessRules

  init(_ rules: AccessRules) { self.rules = rules }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data),
      !rules.admitsSocket(head, port: context.channel.localAddress?.port ?? 0)
    else { return context.fireChannelRead(data) }
    head.headers.remove(name: "upgrade")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}
