/// Waits until `condition` holds, and leaves the processor between two looks to what it waits for.
///
/// It is for other processes, threads and sockets. What other tasks of the test do needs no pause.
///
/// - Throws: What `condition` throws; `CancellationError` if the task is cancelled.
public func poll(until condition: () async throws -> Bool) async throws {
  while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
}

/// Waits until the task is cancelled.
public func awaitCancellation() async {
  while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
}
