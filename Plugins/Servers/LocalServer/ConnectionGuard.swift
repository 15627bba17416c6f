package import NIOCore
import Synchronization

/// Closes a connection that exceeds its server's ``ServerLimits``.
///
/// It stands behind the decoder, and its ``ConnectionGauge`` in front of it.
package final class ConnectionGuard<Request: ServedPart, Response: ServedPart>:
  ChannelDuplexHandler, RemovableChannelHandler
{
  package typealias InboundIn = Request
  package typealias InboundOut = Request
  package typealias OutboundIn = Response
  package typealias OutboundOut = Response

  private let registry: ConnectionRegistry
  private let gauge: ConnectionGauge
  /// Whether the server upgrades no connection.
  private let refusesUpgrades: Bool
  /// Whether the decoder has stopped, since what follows a request is in a protocol that the server does not have.
  private var isLastRequest = false
  private let limits: ServerLimits
  private var watch: ConnectionWatch
  private var check: Scheduled<Void>?
  private var checkDue = NIODeadline.distantFuture

  package init(
    _ limits: ServerLimits, _ registry: ConnectionRegistry, refusesUpgrades: Bool = true
  ) {
    self.limits = limits
    self.registry = registry
    self.refusesUpgrades = refusesUpgrades
    gauge = ConnectionGauge(limits, registry)
    watch = ConnectionWatch(limits, now: .now())
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    do {
      try context.pipeline.syncOperations.addHandler(gauge, position: .first)
    } catch {
      context.close(promise: nil)
    }
    schedule(watch.firstCheck, context)
  }

  package func handlerRemoved(context: ChannelHandlerContext) { end() }

  package func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    gauge.noteDecoded()
    switch part.kind {
    case .head(let isUpgrade):
      watch.headArrived(now: .now())
      registry.setWaiting(nil, context.channel)
      schedule(.now() + TimeAmount(limits.bodyTimeout), context)
      if isUpgrade, refusesUpgrades {
        isLastRequest = true
        context.fireChannelRead(wrapInboundOut(part.closing))
        return
      }
    case .body(let bytes):
      guard watch.bodyArrived(bytes) else {
        context.close(promise: nil)
        return
      }
    case .end: watch.requestEnded()
    }
    context.fireChannelRead(data)
  }

  package func write(
    context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
  ) {
    let part = unwrapOutboundIn(data)
    switch part.kind {
    case .head where isLastRequest && watch.isLastResponse:
      context.write(wrapOutboundOut(part.closing), promise: promise)
      return
    case .end where watch.responseEnded(now: .now()):
      if isLastRequest {
        let sent = promise ?? context.eventLoop.makePromise()
        let channel = context.channel
        sent.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(data, promise: sent)
        return
      }
      registry.setWaiting(.now(), context.channel)
      schedule(.now() + TimeAmount(limits.idleTimeout), context)
    default: break
    }
    context.write(data, promise: promise)
  }

  /// Schedules a check of the connection at a time, unless an earlier check is scheduled.
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

  private func end() {
    check?.cancel()
    check = nil
  }
}

/// The open connections of a server.
package final class ConnectionRegistry: Sendable {
  private struct Connection {
    let channel: any Channel
    /// Since when it waits for a request; nil: it is at work.
    var waitingSince: NIODeadline?
    var hasSentRequest = false
  }

  private let connections = Mutex<[ObjectIdentifier: Connection]>([:])

  package init() {}

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

  /// Sets the time since which a connection waits for a request; nil once a request has arrived.
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
