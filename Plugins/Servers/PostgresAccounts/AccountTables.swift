#if os(Linux)
  import SalesforceSDKCommon

  /// The tables of the accounts, and the statements on them.
  struct AccountTables: Sendable {
    /// The schema's name, quoted.
    private let schema: String

    /// - Parameter schema: A name of any form.
    init(schema: String) {
      self.schema = "\"\(schema.replacing("\"", with: "\"\""))\""
    }

    /// Makes the tables that are missing. Several processes may do this at the same time.
    func create(_ connection: PostgresConnection) throws(PostgresError) {
      try connection.inTransaction { () throws(PostgresError) in
        // CREATE … IF NOT EXISTS by two sessions at once fails in one of them.
        try connection.run("SELECT pg_advisory_xact_lock(hashtext('fieldforce'), 0)")
        try connection.run("CREATE SCHEMA IF NOT EXISTS \(schema)")
        try connection.run(
          """
          CREATE TABLE IF NOT EXISTS \(schema).account (
            organization_id text, user_id text, document bytea NOT NULL,
            changed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (organization_id, user_id))
          """)
        try connection.run(
          """
          CREATE TABLE IF NOT EXISTS \(schema).unreadable_account (
            organization_id text, user_id text, document bytea NOT NULL,
            set_aside_at timestamptz NOT NULL DEFAULT now())
          """)
        try connection.run(
          """
          CREATE TABLE IF NOT EXISTS \(schema).current_account (
            is_current boolean PRIMARY KEY CHECK (is_current), organization_id text NOT NULL,
            user_id text NOT NULL)
          """)
      }
    }

    /// All accounts: org, user and document of each.
    func all(_ connection: PostgresConnection) throws(PostgresError) -> [[[UInt8]?]] {
      try connection.run(
        """
        SELECT organization_id, user_id, document FROM \(schema).account
        ORDER BY organization_id COLLATE "C", user_id COLLATE "C"
        """)
    }

    /// The document of one account.
    func document(
      _ key: [[UInt8]], _ connection: PostgresConnection, locksRow: Bool = false
    ) throws(PostgresError) -> [UInt8]? {
      try connection.run(
        """
        SELECT document FROM \(schema).account WHERE organization_id = $1 AND user_id = $2
        \(locksRow ? "FOR UPDATE" : "")
        """, key
      ).first?[0]
    }

    /// Stores a document. A former one that `isReadable` refuses is set aside.
    func save(
      _ document: [UInt8], _ key: [[UInt8]], _ connection: PostgresConnection,
      isReadable: ([UInt8]) -> Bool
    ) throws(PostgresError) {
      try connection.inTransaction { () throws(PostgresError) in
        if let former = try self.document(key, connection, locksRow: true), !isReadable(former) {
          try connection.run(
            """
            INSERT INTO \(schema).unreadable_account (organization_id, user_id, document)
            VALUES ($1, $2, $3)
            """, key + [former])
        }
        try connection.run(
          """
          INSERT INTO \(schema).account (organization_id, user_id, document) VALUES ($1, $2, $3)
          ON CONFLICT (organization_id, user_id)
          DO UPDATE SET document = excluded.document, changed_at = now()
          """, key + [document])
      }
    }

    /// Deletes an account.
    func delete(_ key: [[UInt8]], _ connection: PostgresConnection) throws(PostgresError) {
      try connection.run(
        "DELETE FROM \(schema).account WHERE organization_id = $1 AND user_id = $2", key)
    }

    /// The current user: org and user.
    func current(_ connection: PostgresConnection) throws(PostgresError) -> [[UInt8]?]? {
      try connection.run("SELECT organization_id, user_id FROM \(schema).current_account").first
    }

    /// Changes the current user, while no other session does.
    func updateCurrent<Value>(
      _ connection: PostgresConnection, _ change: ([[UInt8]?]?) -> (row: [[UInt8]]?, value: Value)
    ) throws(PostgresError) -> Value {
      try connection.inTransaction { () throws(PostgresError) in
        // There may be no row to lock.
        try connection.run("LOCK TABLE \(schema).current_account IN EXCLUSIVE MODE")
        let (row, value) = change(try current(connection))
        try connection.run("DELETE FROM \(schema).current_account")
        if let row {
          try connection.run(
            "INSERT INTO \(schema).current_account VALUES (true, $1, $2)", row)
        }
        return value
      }
    }
  }
#endif
