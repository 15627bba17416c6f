import NIOCore

/// The limits of a local server's connections and their durations.
///
/// The limits are wide enough for a client on a busy machine and narrow enough that a program which opens
/// connections and stops there does not shut others out.
package struct ServerLimits: Sendable {
  /// Most open connections. One more closes the connection that has waited longest for a request, first
  /// among those that never sent one; if all are at work, the new one is closed. Default: 512.
  package var maxConnections = 512
  /// The time limit for the head of a connection's first request. Default: 10 seconds.
  package var firstHeadTimeout: Duration = .seconds(10)
  /// The time limit for the next request of a connection, with its head. Default: 60 seconds.
  package var idleTimeout: Duration = .seconds(60)
  /// The time limit for a request's body beyond ``leastBytesPerSecond``. Default: 15 seconds.
  package var bodyTimeout: Duration = .seconds(15)
  /// The slowest pace of a body after ``bodyTimeout``. Default: 16,384.
  package var leastBytesPerSecond = 16_384
  /// The longest body; a connection that sends a longer one is closed. Default: 512 MiB.
  package var maxBodyBytes = 512 << 20
  /// The most bytes of a connection that the decoder keeps without making a part of a request of them; a connection
  /// that sends more is closed. Default: 256 KiB.
  package var maxUndecodedBytes = 256 << 10
  /// The time limit for a client that reads nothing of a ready response. Default: 60 seconds.
  package var writeTimeout: Duration = .seconds(60)

  package init() {}
}

/// The activity of one connection and its deadline: a value without a clock.
struct ConnectionWatch {
  private let limits: ServerLimits
  /// Requests whose response is not written yet.
  private var unanswered = 0
  /// The body that is arriving: the time of its start, and the number of bytes so far.
  private var body: (since: NIODeadline, bytes: Int)?
  /// Since when the connection waits for a request.
  private var waitingSince: NIODeadline
  private var hasSentRequest = false
  /// The bytes that waited for the client at the last check; 0: none did.
  private var unread = 0

  init(_ limits: ServerLimits, now: NIODeadline) {
    self.limits = limits
    waitingSince = now
  }

  /// The result of a check.
  enum Finding: Equatable {
    case close
    case checkAgain(at: NIODeadline)
  }

  mutating func headArrived(now: NIODeadline) {
    unanswered += 1
    hasSentRequest = true
    body = (now, 0)
  }

  /// - Returns: Whether the body is still short enough.
  mutating func bodyArrived(_ bytes: Int) -> Bool {
    body?.bytes += bytes
    return (body?.bytes ?? 0) <= limits.maxBodyBytes
  }

  mutating func requestEnded() { body = nil }

  /// Whether the response that is written is the last that is owed.
  var isLastResponse: Bool { unanswered == 1 }

  /// - Returns: Whether the connection waits for a request now.
  mutating func responseEnded(now: NIODeadline) -> Bool {
    unanswered -= 1
    if unanswered == 0 { waitingSince = now }
    return unanswered == 0
  }

  /// The time of the next check of the connection.
  var firstCheck: NIODeadline { waitingSince + TimeAmount(limits.firstHeadTimeout) }

  /// - Parameter unread: The bytes that wait for the client.
  mutating func check(unread: Int, now: NIODeadline) -> Finding {
    defer { self.unread = unread }
    if unread > 0 {
      if unread == self.unread { return .close }
      waitingSince = now
      return .checkAgain(at: now + TimeAmount(limits.writeTimeout))
    }
    let deadline: NIODeadline
    if let body {
      let paced = Int64(body.bytes) * 1_000_000_000 / Int64(limits.leastBytesPerSecond)
      deadline = body.since + TimeAmount(limits.bodyTimeout) + .nanoseconds(paced)
    } else if unanswered == 0 {
      deadline =
        waitingSince + TimeAmount(hasSentRequest ? limits.idleTimeout : limits.firstHeadTimeout)
    } else {
      // The responder takes the time that it needs.
      return .checkAgain(at: now + TimeAmount(limits.writeTimeout))
    }
    return deadline <= now ? .close : .checkAgain(at: deadline)
  }
}
