import NIOCore
import NIOHTTPTypes
import Synchronization

/// Closes a connection that exceeds its server's ``ServerLimits``.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let registry: ConnectionRegistry
  private let limits: ServerLimits
  private var watch: ConnectionWatch
  private var check: Scheduled<Void>?
  private var checkDue = NIODeadline.distantFuture

  init(_ limits: ServerLimits, _ registry: ConnectionRegistry) {
    self.limits = limits
    self.registry = registry
    watch = ConnectionWatch(limits, now: .now())
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let surplus = registry.open(context.channel, limit: limits.maxConnections, now: .now())
    surplus?.close(promise: nil)
    schedule(watch.firstCheck, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { end(context) }

  func channelInactive(context: ChannelHandlerContext) {
    end(context)
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      watch.headArrived(now: .now())
      registry.setWaiting(nil, context.channel)
      schedule(.now() + TimeAmount(limits.bodyTimeout), context)
    case .body(let bytes):
      guard watch.bodyArrived(bytes.readableBytes) else {
        context.close(promise: nil)
        return
      }
    case .end: watch.requestEnded()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data), watch.responseEnded(now: .now()) {
      registry.setWaiting(.now(), context.channel)
      schedule(.now() + TimeAmount(limits.idleTimeout), context)
    }
    context.write(data, promise: promise)
  }

  /// Looks at the connection at a time, or earlier if it has to be looked at anyway.
  private func schedule(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    guard check == nil || time < checkDue else { return }
    check?.cancel()
    checkDue = time
    check = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
      self.check = nil
      self.look(context)
    }
  }

  private func look(_ context: ChannelHandlerContext) {
    let unread = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
    switch watch.check(unread: unread ?? 0, now: .now()) {
    case .close: context.close(promise: nil)
    case .checkAgain(let time): schedule(time, context)
    }
  }

  private func end(_ context: ChannelHandlerContext) {
    check?.cancel()
    check = nil
    registry.close(context.channel)
  }
}

/// The open connections of a server.
final class ConnectionRegistry: Sendable {
  private struct Connection {
    let channel: any Channel
    /// Since when it waits for a request; nil: it is at work.
    var waitingSince: NIODeadline?
    var hasSentRequest = false
  }

  private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

  /// Adds a connection that waits for its first request.
  ///
  /// - Returns: The connection to close because there are too many.
  func open(_ channel: any Channel, limit: Int, now: NIODeadline) -> (any Channel)? {
    connections.withLock { connections in
      var surplus: (any Channel)?
      if connections.count >= limit {
        let waiting = connections.values.filter { $0.waitingSince != nil }
        let silent = waiting.filter { !$0.hasSentRequest }
        surplus =
          (silent.isEmpty ? waiting : silent).min {
            ($0.waitingSince ?? now) < ($1.waitingSince ?? now)
          }?.channel ?? channel
      }
      if let surplus { connections[ObjectIdentifier(surplus)] = nil }
      if surplus !== channel {
        connections[ObjectIdentifier(channel)] = Connection(channel: channel, waitingSince: now)
      }
      return surplus
    }
  }

  /// Notes since when a connection waits for a request; nil: one has come.
  func setWaiting(_ since: NIODeadline?, _ channel: any Channel) {
    connections.withLock {
      $0[ObjectIdentifier(channel)]?.waitingSince = since
      $0[ObjectIdentifier(channel)]?.hasSentRequest = true
    }
  }

  func close(_ channel: any Channel) {
    connections.withLock { $0[ObjectIdentifier(channel)] = nil }
  }
}
