#if os(Linux)
  import Foundation
  import Synchronization

  /// Connections to one server, used by one statement or transaction each, on threads of their own.
  final class PostgresPool: Sendable {
    private let address: String
    private let idle = Mutex<[PostgresConnection]>([])
    private let threads: OperationQueue

    /// - Parameter limit: The most connections at a time.
    init(_ address: String, limit: Int) {
      self.address = address
      threads = OperationQueue()
      threads.name = "com.salesforce.postgres"
      threads.maxConcurrentOperationCount = limit
    }

    /// Runs `body` once, with a connection that has just responded.
    ///
    /// - Throws: ``PostgresError``.
    func run<Result: Sendable>(
      _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> Result
    ) async throws(PostgresError) -> Result {
      let result: Swift.Result<Result, PostgresError> = await withCheckedContinuation {
        continuation in
        threads.addOperation { [self] in
          continuation.resume(
            returning: Swift.Result { () throws(PostgresError) in
              let connection = try connection()
              defer { keep(connection) }
              return try body(connection)
            })
        }
      }
      return try result.get()
    }

    /// An idle connection, or a new one. The server may have ended idle ones in the meantime.
    private func connection() throws(PostgresError) -> PostgresConnection {
      while let connection = idle.withLock({ $0.popLast() }) {
        if (try? connection.run("SELECT")) != nil { return connection }
      }
      return try PostgresConnection(address)
    }

    private func keep(_ connection: PostgresConnection) {
      if connection.isOpen { idle.withLock { $0.append(connection) } }
    }
  }
#endif
