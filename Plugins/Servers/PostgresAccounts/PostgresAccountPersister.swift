#if os(Linux)
  import Foundation
  import SalesforceSDKCommon
  public import SalesforceSDKCore

  /// Keeps accounts and their tokens in PostgreSQL, for servers of which many processes on many hosts act for
  /// the same users.
  ///
  /// ```swift
  /// let persister = try await PostgresAccountPersister(
  ///   address: "postgresql://app@db.example/app?sslmode=verify-full", key: key)
  /// let accounts = try await UserAccountManager(persister: persister, transport: URLSessionTransport())
  /// ```
  ///
  /// An account and its tokens are one row, encrypted with AES-256-GCM and bound to org and user: the database never
  /// sees the key. A refresh replaces the whole row in one statement, so that no process reads half of a session.
  /// Only one process at a time refreshes an account, by an advisory lock of the server; the others then take its
  /// tokens. The server releases the lock when the connection of its holder ends, also by a kill.
  ///
  /// The connection string is libpq's; let it demand `sslmode=verify-full` unless the server is on this machine. The
  /// tables are made when they are missing. The role needs the rights to create the schema, or to use it.
  ///
  /// A row that cannot be read is never deleted: the next login copies it to `unreadable_account` and replaces it.
  public struct PostgresAccountPersister: AccountPersister {
    private let tables: AccountTables
    private let pool: PostgresPool
    private let address: String
    private let schema: String
    private let key: EncryptionKey
    private let patience: Duration

    /// Connects, and makes the tables if they are missing.
    ///
    /// - Parameters:
    ///   - address: A connection string of libpq: `postgresql://…`, or `key=value` pairs.
    ///   - schema: The schema of the tables. Default: `fieldforce`.
    ///   - key: The key of the accounts, the same in all processes. Keep it outside of the database.
    ///   - maxConnections: The most connections for statements. Default: 4. Each refresh that runs or waits has another one.
    ///   - patience: The maximum time to wait for a process that uses the same account. That process may be
    ///     requesting tokens, which can take 120 seconds. Default: 150 seconds.
    /// - Throws: `AccountError` `readFailed`, whose cause is a ``PostgresError``.
    public init(
      address: String, schema: String = "fieldforce", key: EncryptionKey, maxConnections: Int = 4,
      patience: Duration = .seconds(150)
    ) async throws(AccountError) {
      self.address = address
      self.schema = schema
      self.key = key
      self.patience = patience
      tables = AccountTables(schema: schema)
      pool = PostgresPool(address, limit: max(1, maxConnections))
      try await reading { [tables] connection throws(PostgresError) in
        try tables.create(connection)
      }
    }

    public func fetchAll() async throws(AccountError) -> StoredAccounts {
      let (rows, current) = try await reading { [tables] connection throws(PostgresError) in
        (try tables.all(connection), try tables.current(connection))
      }
      var result = StoredAccounts()
      result.current = current.flatMap { Self.identity($0) }
      for row in rows {
        guard let identity = Self.identity(row), let document = row[2] else { continue }
        do throws(AccountError) {
          result.accounts.append(try open(document, identity))
        } catch {
          result.unreadable.append(UnreadableAccount(url: place(of: identity), error: error))
        }
      }
      return result
    }

    public func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
      let document = try await reading { [tables] connection throws(PostgresError) in
        try tables.document(Self.row(of: identity), connection)
      }
      return try document.map { (document) throws(AccountError) in try open(document, identity) }
    }

    public func save(_ account: UserAccount) async throws(AccountError) {
      let identity = account.identity
      let document = try SealedAccount.seal(account, at: Self.name(of: identity), with: key)
      try await writing { [self] connection throws(PostgresError) in
        try tables.save(document, Self.row(of: identity), connection) { former in
          (try? open(former, identity)) != nil
        }
      }
    }

    public func delete(_ account: UserAccount) async throws(AccountError) {
      try await writing { [tables] connection throws(PostgresError) in
        try tables.delete(Self.row(of: account.identity), connection)
      }
    }

    @discardableResult
    public func updateCurrent(
      _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
    ) async throws(AccountError) -> UserAccountIdentity? {
      try await writing { [tables] connection throws(PostgresError) in
        try tables.updateCurrent(connection) { former in
          let next = change(former.flatMap { Self.identity($0) })
          return (next.map { Self.row(of: $0) }, next)
        }
      }
    }

    public func withExclusiveAccess<Result: Sendable>(
      to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
      let lease: AccountLockLease
      do {
        lease = try await AccountLockLease.take(
          "\(schema)/\(Self.name(of: identity))", at: address, patience: patience)
      } catch let error as PostgresError {
        throw error.sqlState == Self.lockTimeout
          ? AccountError(
            .busy,
            "Another process has used account \(identity) for more than \(patience). Try again.",
            cause: error)
          : AccountError(
            .writeFailed, "Account \(identity) cannot be locked: \(error.message)", cause: error)
      }
      defer { lease.end() }
      return try await body()
    }

    /// PostgreSQL's code for a lock that did not become free in time.
    private static let lockTimeout = "55P03"

    // MARK: Statements

    private func reading<Result: Sendable>(
      _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> Result
    ) async throws(AccountError) -> Result {
      do throws(PostgresError) {
        return try await pool.run(body)
      } catch {
        throw AccountError(
          .readFailed, "Accounts cannot be read from the database: \(error.message)", cause: error)
      }
    }

    private func writing<Result: Sendable>(
      _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> Result
    ) async throws(AccountError) -> Result {
      do throws(PostgresError) {
        return try await pool.run(body)
      } catch {
        throw AccountError(
          .writeFailed, "The account cannot be written to the database: \(error.message)",
          cause: error)
      }
    }

    // MARK: Rows

    private func open(
      _ document: [UInt8], _ identity: UserAccountIdentity
    ) throws(AccountError) -> UserAccount {
      try SealedAccount.open(document, at: Self.name(of: identity), with: key)
    }

    /// `<org>/<user>`, which is associated data of the document.
    private static func name(of identity: UserAccountIdentity) -> String {
      "\(identity.organizationId)/\(identity.userId)"
    }

    private func place(of identity: UserAccountIdentity) -> URL {
      var components = URLComponents()
      components.scheme = "postgresql"
      components.host = ""
      components.path = "/\(schema)/account/\(Self.name(of: identity))"
      return components.url ?? URL(filePath: "/")
    }

    private static func row(of identity: UserAccountIdentity) -> [[UInt8]] {
      [Array(identity.organizationId.utf8), Array(identity.userId.utf8)]
    }

    private static func identity(_ row: [[UInt8]?]) -> UserAccountIdentity? {
      guard let organization = row[0], let user = row[1] else { return nil }
      return UserAccountIdentity(
        userId: String(decoding: user, as: UTF8.self),
        organizationId: String(decoding: organization, as: UTF8.self))
    }
  }
#endif
