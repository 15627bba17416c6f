import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// A handler that sets the dates of the responses from a clock other than the machine's.
final class ResponseDates: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let date: @Sendable () -> String

  init(_ date: @escaping @Sendable () -> String) { self.date = date }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .head(var head) = unwrapOutboundIn(data) else {
      return context.write(data, promise: promise)
    }
    head.headerFields[.date] = date()
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }
}
