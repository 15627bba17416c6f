import Synchronization

/// The requests of a client that have no response yet, each with a way to end it.
final class InFlightRequests: Sendable {
  private struct Entry {
    let request: RestRequest
    let cancel: @Sendable () -> Void
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// Runs `work` for `request`, in a task that ``cancel(where:)`` finds.
  func run<Result: Sendable>(
    _ request: RestRequest, _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let task = Task { try await work() }
    let number = state.withLock { state in
      state.lastNumber += 1
      state.entries[state.lastNumber] = Entry(request: request) { task.cancel() }
      return state.lastNumber
    }
    defer { state.withLock { _ = $0.entries.removeValue(forKey: number) } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Cancels the requests that `isChosen` accepts, and returns their number.
  func cancel(where isChosen: (RestRequest) -> Bool) -> Int {
    let entries = state.withLock { Array($0.entries.values) }
    let chosen = entries.filter { isChosen($0.request) }
    for entry in chosen { entry.cancel() }
    return chosen.count
  }
}
