import Synchronization

/// The progress of one transfer.
///
/// ```swift
/// let progress = TransferProgress()
/// async let file = client.download(.fileContents(id: id), to: url, progress: progress)
/// for await amounts in progress.updates() { show(amounts.received, of: amounts.toReceive) }
/// ```
///
/// Use it for one call. If the call sends its request again, the amounts restart at zero.
public final class TransferProgress: Sendable, Equatable {
  /// The numbers of sent and received bytes, without header fields.
  public struct Amounts: Sendable, Hashable {
    /// Bytes of the request's body that were sent.
    public var sent: Int64 = 0
    /// The length of the request's body in bytes.
    public var toSend: Int64 = 0
    /// The number of received bytes of the response's body.
    public var received: Int64 = 0
    /// The length of the response's body in bytes, if the server sent it.
    public var toReceive: Int64?

    /// Creates amounts of zero.
    public init() {}
  }

  private struct State {
    var amounts = Amounts()
    var isFinished = false
    var listeners: [Int: AsyncStream<Amounts>.Continuation] = [:]
    var lastListener = 0
  }

  private let state = Mutex(State())

  /// Creates a progress for one call.
  public init() {}

  /// The current amounts of the transfer.
  public var amounts: Amounts { state.withLock { $0.amounts } }

  /// Returns the amounts now and whenever they change; a slow reader gets the newest amounts and
  /// misses some in between. The stream ends with the call, after the last amounts.
  public func updates() -> some AsyncSequence<Amounts, Never> & Sendable {
    let (stream, continuation) = AsyncStream<Amounts>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let (number, now, isFinished) = state.withLock { state in
      state.lastListener += 1
      if !state.isFinished { state.listeners[state.lastListener] = continuation }
      return (state.lastListener, state.amounts, state.isFinished)
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
    }
    continuation.yield(now)
    if isFinished { continuation.finish() }
    return stream
  }

  /// Updates the amounts. Transports call it.
  public func update(_ change: (inout Amounts) -> Void) {
    let (amounts, listeners) = state.withLock { state in
      change(&state.amounts)
      return (state.amounts, Array(state.listeners.values))
    }
    for listener in listeners { listener.yield(amounts) }
  }

  /// Ends all sequences of updates.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }

  /// Whether both are the same object.
  public static func == (left: TransferProgress, right: TransferProgress) -> Bool { left === right }
}
