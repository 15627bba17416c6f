#if os(Linux)
  import Crypto
  import Foundation
  import SalesforceSDKCore
  import Synchronization

  /// An advisory lock of the server, held by a connection of its own.
  ///
  /// The server releases it when the connection ends: with the process, if that is killed.
  final class AccountLockLease: Sendable {
    private let connection: PostgresConnection
    private let key: [UInt8]

    private init(_ connection: PostgresConnection, _ key: [UInt8]) {
      self.connection = connection
      self.key = key
    }

    /// Waits for the lock of `name`, on a thread of its own.
    ///
    /// - Throws: ``PostgresError``, with the code `55P03` after `patience`; `CancellationError`.
    static func take(
      _ name: String, at address: String, patience: Duration
    ) async throws -> AccountLockLease {
      let waiting = Waiting()
      let result: Result<AccountLockLease, PostgresError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          Thread.detachNewThread {
            continuation.resume(
              returning: Result { () throws(PostgresError) in
                let connection = try PostgresConnection(address)
                guard waiting.begin(connection) else { throw cancelled }
                defer { waiting.end() }
                let key = key(of: name)
                let milliseconds = max(1, Int(patience / .milliseconds(1)))
                try connection.run(
                  "SELECT set_config('lock_timeout', $1, false)", [Array("\(milliseconds)".utf8)])
                try connection.run("SELECT pg_advisory_lock($1::int8)", [key])
                return AccountLockLease(connection, key)
              })
          }
        }
      } onCancel: {
        waiting.cancel()
      }
      try Task.checkCancellation()
      return try result.get()
    }

    /// Ends the lock, with its connection.
    func end() {
      // Ending a connection may block for a moment.
      Thread.detachNewThread { [connection, key] in
        _ = try? connection.run("SELECT pg_advisory_unlock($1::int8)", [key])
      }
    }

    private static var cancelled: PostgresError {
      PostgresError(.disconnected, "The task that waits for the account was cancelled.")
    }

    /// A number of 64 bits that names share by accident only; then they wait for one another.
    private static func key(of name: String) -> [UInt8] {
      Array(SHA256.hash(data: Data("fieldforce account \(name)".utf8)).prefix(8))
    }

    /// The connection that waits, for a cancellation from another thread.
    private final class Waiting: Sendable {
      private struct State {
        var connection: PostgresConnection?
        var isCancelled = false
      }
      private let state = Mutex(State())

      /// - Returns: Whether to wait.
      func begin(_ connection: PostgresConnection) -> Bool {
        state.withLock { state in
          state.connection = connection
          return !state.isCancelled
        }
      }

      func end() { state.withLock { $0.connection = nil } }

      func cancel() {
        let connection = state.withLock { state in
          state.isCancelled = true
          return state.connection
        }
        connection?.cancel()
      }
    }
  }
#endif
