import Synchronization

/// The bytes that the sockets of a server may keep together, and the number of sockets.
///
/// Half frames, messages in fragments and frames that wait for their calls count. A few bytes of each socket are
/// free, so that sockets with small messages are not closed when others exceed the budget.
final class SocketBudget: Sendable {
  /// The most sockets that are open at one time.
  static let maxSockets = 64
  /// The bytes of each socket that do not count.
  static let freeBytes = 64 << 10

  /// The most bytes of all sockets.
  let maxBytes: Int
  private let used = Mutex((bytes: 0, sockets: 0))

  /// - Parameter maxFrameBytes: The longest frame. Four of them fit, and at least 64 MiB.
  init(maxFrameBytes: Int) { maxBytes = max(64 << 20, 4 * maxFrameBytes) }

  /// Whether another socket may be opened.
  var hasRoom: Bool { used.withLock { $0.sockets < Self.maxSockets } }

  /// Counts a socket until its ``SocketBytes/close()``.
  func open() -> SocketBytes {
    used.withLock { $0.sockets += 1 }
    return SocketBytes(self)
  }

  fileprivate func take(_ bytes: Int) -> Bool {
    used.withLock { used in
      guard used.bytes + bytes <= maxBytes else { return false }
      used.bytes += bytes
      return true
    }
  }

  fileprivate func end(_ bytes: Int) {
    used.withLock { used in
      used.bytes -= bytes
      used.sockets -= 1
    }
  }
}

/// The bytes of one socket that have arrived and are not processed.
final class SocketBytes: Sendable {
  private let budget: SocketBudget
  private let state = Mutex((held: 0, isClosed: false))

  fileprivate init(_ budget: SocketBudget) { self.budget = budget }

  private static func counted(_ held: Int) -> Int { max(0, held - SocketBudget.freeBytes) }

  /// Adds bytes that arrived; false if they exceed the budget, and then none was added.
  func arrived(_ bytes: Int) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      let more = Self.counted(state.held + bytes) - Self.counted(state.held)
      guard more == 0 || budget.take(more) else { return false }
      state.held += bytes
      return true
    }
  }

  /// Returns processed bytes to the budget.
  func processed(_ bytes: Int) {
    state.withLock { state in
      guard !state.isClosed else { return }
      let left = max(0, state.held - bytes)
      _ = budget.take(Self.counted(left) - Self.counted(state.held))
      state.held = left
    }
  }

  /// Returns all bytes and the socket to the budget. Later calls do nothing.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      budget.end(Self.counted(state.held))
      state.held = 0
    }
  }
}
