import Synchronization

/// A connection for calls that block a thread for long, which another thread can end.
public final class CancellableConnection: Sendable {
  private struct State {
    var isCancelled = false
    var socket: DBusSocket?
  }
  private let state = Mutex(State())

  /// Creates an object without a connection.
  public init() {}

  /// Connects, calls `body` on this thread, and ends the connection.
  ///
  /// - Throws: ``DBusError``: that of the connection or of `body`; `broken` after ``cancel()``.
  public func call<Result>(
    _ bus: DBusBus, address: String?, timeout: Duration,
    _ body: (DBusConnection) throws(DBusError) -> Result
  ) throws(DBusError) -> Result {
    let connection = try DBusConnection(bus, address: address, timeout: timeout)
    let isCancelled = state.withLock { state in
      state.socket = connection.socket
      return state.isCancelled
    }
    guard !isCancelled else { throw DBusError(.broken, "The call was cancelled.") }
    return try body(connection)
  }

  /// Ends the connection: the call that waits on it gets an error.
  public func cancel() {
    let socket = state.withLock { state in
      state.isCancelled = true
      return state.socket
    }
    socket?.shutDown()
  }
}
