/// The reachability of other machines, and the kind of the connection (CA-30).
///
/// Use it as a hint for the user and for the time of a retry; the libraries send requests whatever
/// the status is.
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case notReachable, viaWiFi, viaCellular, unknown }
  private let kind: Kind

  /// No route leads to other machines.
  public static let notReachable = NetworkStatus(kind: .notReachable)
  /// A route exists by Wi-Fi or cable.
  public static let viaWiFi = NetworkStatus(kind: .viaWiFi)
  /// A route exists by a mobile network.
  public static let viaCellular = NetworkStatus(kind: .viaCellular)
  /// The system does not report it; counts as reachable.
  public static let unknown = NetworkStatus(kind: .unknown)

  /// Whether a request may succeed.
  public var isReachable: Bool { kind != .notReachable }

  public var description: String { kind.rawValue }
}

/// A monitor of the connections of this machine.
public struct Reachability: Sendable {
  private let look: @Sendable () -> NetworkStatus
  private let clock: any Clock<Duration>

  /// Creates a monitor that queries the system.
  public init() {
    self.init(clock: ContinuousClock(), look: RouteTable.status)
  }

  /// Creates an observer that calls `look` for the status.
  init(clock: any Clock<Duration>, look: @escaping @Sendable () -> NetworkStatus) {
    self.look = look
    self.clock = clock
  }

  /// The current status.
  public var status: NetworkStatus { look() }

  /// Returns the current status, and then each status that differs from the one before. The stream
  /// queries the system every `interval` (default: two seconds) and buffers only the newest status.
  /// It ends when the reader's task is cancelled or releases the stream.
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
