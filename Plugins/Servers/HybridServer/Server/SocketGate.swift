import NIOCore
import NIOHTTP1

/// A handler that forwards a request for a socket which is not admitted as an ordinary request,
/// which gets a response.
///
/// An upgrade that is refused later ends the connection without one.
final class SocketGate: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let rules: AccessRules
  private let budget: SocketBudget

  init(_ rules: AccessRules, _ budget: SocketBudget) {
    self.rules = rules
    self.budget = budget
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data),
      head.method == .CONNECT || head.headers.contains(name: "upgrade"),
      !rules.admitsSocket(head, port: context.channel.localAddress?.port ?? 0) || !budget.hasRoom
    else { return context.fireChannelRead(data) }
    head.headers.remove(name: "upgrade")
    // The decoder has stopped: it reads no further request.
    head.headers.replaceOrAdd(name: "connection", value: "close")
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}
