#if os(Linux)
  import CLibPQ
  import SalesforceSDKCommon

  /// A connection to a server, whose calls block their thread.
  ///
  /// `@unchecked Sendable` because ``PostgresPool`` gives it to one thread at a time; ``cancel()`` may be called from any.
  final class PostgresConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let canceller: OpaquePointer

    /// Connects.
    ///
    /// - Parameter address: A connection string of libpq: `postgresql://…`, or `key=value` pairs.
    init(_ address: String) throws(PostgresError) {
      guard let handle = PQconnectdb(address) else {
        throw PostgresError(.unreachable, "There is not enough memory to connect to the database.")
      }
      guard PQstatus(handle) == CONNECTION_OK, let canceller = PQgetCancel(handle) else {
        defer { PQfinish(handle) }
        throw PostgresError(
          .unreachable, "The database cannot be reached: \(Self.message(handle)) Check its address."
        )
      }
      self.handle = handle
      self.canceller = canceller
    }

    deinit {
      PQfreeCancel(canceller)
      PQfinish(handle)
    }

    /// Whether statements can still be sent.
    var isOpen: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Ends the statement that runs, if there is one: it fails with the code `57014`.
    func cancel() {
      var text = [CChar](repeating: 0, count: 256)
      _ = PQcancel(canceller, &text, Int32(text.count))
    }

    /// Runs one statement.
    ///
    /// - Parameter parameters: The values of `$1` and so on, texts in UTF-8 or bytes; `nil` is NULL.
    /// - Returns: The rows; each value in its binary form.
    /// - Throws: ``PostgresError`` `disconnected`, `refused`.
    @discardableResult
    func run(_ sql: String, _ parameters: [[UInt8]?] = []) throws(PostgresError) -> [[[UInt8]?]] {
      let result = Self.withPointers(to: parameters) { values, lengths, formats in
        // Without a type of its own each parameter has the type that the statement gives it.
        PQexecParams(handle, sql, Int32(parameters.count), nil, values, lengths, formats, 1)
      }
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK:
        return (0..<PQntuples(result)).map { row in
          (0..<PQnfields(result)).map { column in
            guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column)
            else { return nil }
            let length = Int(PQgetlength(result, row, column))
            return Array(UnsafeRawBufferPointer(start: value, count: length))
          }
        }
      case PGRES_COMMAND_OK: return []
      default:
        guard isOpen, let state = PQresultErrorField(result, fieldforce_sqlstate) else {
          throw PostgresError(
            .disconnected,
            "The connection to the database ended: \(Self.message(handle)) Try again.")
        }
        throw PostgresError(
          .refused, "The database refused a statement: \(Self.message(handle))",
          sqlState: String(cString: state))
      }
    }

    /// Runs `body` in a transaction, which an error rolls back.
    func inTransaction<Result>(
      _ body: () throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
      try run("BEGIN")
      let result: Result
      do throws(PostgresError) {
        result = try body()
      } catch {
        // A connection that has ended has rolled back.
        _ = try? run("ROLLBACK")
        throw error
      }
      try run("COMMIT")
      return result
    }

    private static func withPointers<Result>(
      to parameters: [[UInt8]?],
      _ body: (
        UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
      ) -> Result
    ) -> Result {
      let bytes = parameters.flatMap { $0 ?? [] }
      return bytes.withUnsafeBytes { buffer in
        // An empty value has an address, too: none would be NULL.
        let empty: StaticString = ""
        let start =
          buffer.baseAddress ?? UnsafeRawPointer(empty.utf8Start)
        var offset = 0
        let values = parameters.map { value -> UnsafePointer<CChar>? in
          guard let value else { return nil }
          defer { offset += value.count }
          return (start + offset).assumingMemoryBound(to: CChar.self)
        }
        return body(
          values, parameters.map { Int32($0?.count ?? 0) }, parameters.map { _ in 1 })
      }
    }

    /// The message of the last failure, in one line.
    private static func message(_ handle: OpaquePointer) -> String {
      String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
        .joined(separator: " ")
    }
  }
#endif
