/// The reachability of other machines, and the kind of the connection (CA-30).
///
/// A hint for the person and for when to try again; a request is sent whatever this says.
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case notReachable, viaWiFi, viaCellular, unknown }
  private let kind: Kind

  /// There is no route out.
  public static let notReachable = NetworkStatus(kind: .notReachable)
  /// There is one by wireless or wire.
  public static let viaWiFi = NetworkStatus(kind: .viaWiFi)
  /// There is one by a mobile network.
  public static let viaCellular = NetworkStatus(kind: .viaCellular)
  /// The system does not say; counts as reachable.
  public static let unknown = NetworkStatus(kind: .unknown)

  /// Whether trying makes sense.
  public var isReachable: Bool { kind != .notReachable }

  public var description: String { kind.rawValue }
}

/// A monitor of the connections of this machine.
public struct Reachability: Sendable {
  private let look: @Sendable () -> NetworkStatus
  private let clock: any Clock<Duration>

  /// Asks the system.
  public init() {
    self.init(clock: ContinuousClock(), look: RouteTable.status)
  }

  /// Asks `look`.
  init(clock: any Clock<Duration>, look: @escaping @Sendable () -> NetworkStatus) {
    self.look = look
    self.clock = clock
  }

  /// How it is now.
  public var status: NetworkStatus { look() }

  /// The current status, and then each status that differs from the one before. The system is queried every
  /// `interval`, by default each two seconds; only the newest status waits for a slow reader. Ends when its reader's task is
  /// cancelled or lets go of it.
  public func statuses(
    every interval: Duration = .seconds(2)
  ) -> some AsyncSequence<NetworkStatus, Never> & Sendable {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NetworkStatus.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task { [look, clock] in
      var last: NetworkStatus?
      while !Task.isCancelled {
        let now = look()
        if now != last { continuation.yield(now) }
        last = now
        do {
          try await clock.sleep(for: interval)
        } catch {
          break
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
