import Synchronization

/// A semaphore that limits the concurrent requests to one server to the number of its connections.
/// Other requests wait in order.
///
/// URLSession would let them wait too, but never says when one of them is sent, so the time in its queue
/// would pass for the server's silence.
final class ConnectionSemaphore: Sendable {
  private typealias Waiter = CheckedContinuation<Void, any Error>
  /// The identity of a waiting request.
  private final class Ticket: Sendable {}

  private struct Line {
    var running = 0
    var waiters: [(ticket: Ticket, waiter: Waiter)] = []
  }

  private let limit: Int
  private let lines = Mutex<[String: Line]>([:])

  /// - Parameter limit: The maximum number of concurrent exchanges with one server.
  init(limit: Int) { self.limit = limit }

  /// Waits for its turn. ``leave(_:)`` is due once for every call that returns.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before its turn comes.
  func enter(_ server: String) async throws {
    let ticket = Ticket()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let known = lines.withLock { lines -> Result<Void, any Error>? in
          // If the handler came first, it found no waiter to wake.
          if Task.isCancelled { return .failure(CancellationError()) }
          guard lines[server, default: Line()].running == limit else {
            lines[server, default: Line()].running += 1
            return .success(())
          }
          lines[server]?.waiters.append((ticket, waiter))
          return nil
        }
        if let known { waiter.resume(with: known) }
      }
    } onCancel: {
      giveUp(ticket, server)
    }
  }

  /// Ends a request, so that the next one can start.
  func leave(_ server: String) {
    let next = lines.withLock { lines -> Waiter? in
      guard var line = lines[server] else { return nil }
      // A waiting request takes over the slot.
      guard line.waiters.isEmpty else {
        let next = line.waiters.removeFirst().waiter
        lines[server] = line
        return next
      }
      line.running -= 1
      lines[server] = line.running > 0 ? line : nil
      return nil
    }
    next?.resume()
  }

  private func giveUp(_ ticket: Ticket, _ server: String) {
    let waiter = lines.withLock { lines -> Waiter? in
      guard let place = lines[server]?.waiters.firstIndex(where: { $0.ticket === ticket }) else {
        return nil
      }
      return lines[server]?.waiters.remove(at: place).waiter
    }
    waiter?.resume(throwing: CancellationError())
  }
}
