#if os(Linux)
  import Foundation
  import SalesforceMockOrg
  import SalesforceSDKCommon
  import SalesforceSDKCore
  import TestSupport
  import Testing

  @testable import PostgresAccounts

  /// Do processes that share a database share a session, and does the database learn nothing of it?
  @Suite(
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(3)))
  struct PostgresAccountTests {
    private static let key = EncryptionKey.random()

    private static func account(_ user: String = "005000000000001AAA") throws -> UserAccount {
      var credentials = OAuthCredentials(
        identifier: "login-1", clientId: "app", redirectURI: "app:///done",
        loginServer: try LoginServer("https://login.example"))
      credentials.instanceURL = URL(string: "https://instance.example")
      credentials.accessToken = "00D!secret-access"
      credentials.refreshToken = "secret-refresh"
      return UserAccount(
        identity: UserAccountIdentity(userId: user, organizationId: "00D000000000001AAA"),
        credentials: credentials, profile: UserProfile(username: "ada@example.com"))
    }

    private func persister(
      _ server: PostgresServer, key: EncryptionKey = key, patience: Duration = .seconds(60)
    ) async throws -> PostgresAccountPersister {
      try await PostgresAccountPersister(address: server.address, key: key, patience: patience)
    }

    private func rows(_ sql: String, _ server: PostgresServer) throws -> [[[UInt8]?]] {
      try PostgresConnection(server.address).run(sql)
    }

    @Test func `an account is the same in another process, and its row tells nothing`() async throws
    {
      try await PostgresServer.with { server in
        let first = try await persister(server)
        let account = try Self.account()
        try await first.save(account)
        #expect(
          try await first.updateCurrent { $0 == nil ? account.identity : nil } == account.identity)
        let second = try await persister(server)
        let stored = try await second.fetchAll()
        #expect(stored.current == account.identity)
        let read = try #require(stored.accounts.first)
        #expect(read.credentials.accessToken == "00D!secret-access")
        #expect(read.credentials.refreshToken == "secret-refresh")
        #expect(read.profile.username == "ada@example.com")
        #expect(
          try await second.fetch(account.identity)?.credentials.refreshToken == "secret-refresh")
        let document = String(
          decoding: try rows("SELECT document FROM fieldforce.account", server)[0][0] ?? [],
          as: UTF8.self)
        for secret in ["secret", "ada", "login", "example"] { #expect(!document.contains(secret)) }
        try await second.delete(account)
        #expect(try await first.fetch(account.identity) == nil)
        #expect(try await first.fetchAll().accounts.isEmpty)
        try await first.delete(account)
      }
    }

    @Test func `a row under another key, exchanged or damaged is reported and never lost`()
      async throws
    {
      try await PostgresServer.with { server in
        let one = try await persister(server)
        let first = try Self.account()
        let other = try Self.account("005000000000002AAA")
        for account in [first, other] { try await one.save(account) }
        let foreign = try await persister(server, key: .random())
        #expect(
          try await foreign.fetchAll().unreadable.map(\.error.code) == [.wrongKey, .wrongKey])
        await #expect(throws: AccountError.self) { try await foreign.fetch(first.identity) }
        _ = try rows(
          """
          UPDATE fieldforce.account a SET document = b.document FROM fieldforce.account b
          WHERE a.user_id <> b.user_id
          """, server)
        let stored = try await one.fetchAll()
        #expect(stored.accounts.isEmpty)
        #expect(stored.unreadable.map(\.error.code) == [.damagedFile, .damagedFile])
        // The next login keeps what was there.
        try await one.save(first)
        #expect(try await one.fetch(first.identity)?.credentials.refreshToken == "secret-refresh")
        #expect(try rows("SELECT document FROM fieldforce.unreadable_account", server).count == 1)
      }
    }

    @Test func `one holds an account at a time, and others wait, give up or are cancelled`()
      async throws
    {
      try await PostgresServer.with { server in
        let identity = try Self.account().identity
        let one = try await persister(server)
        let hasty = try await persister(server, patience: .milliseconds(1))
        let isHeld = SharedOutcome<Void>()
        let mayEnd = SharedOutcome<Void>()
        let holder = Task {
          try await one.withExclusiveAccess(to: identity) {
            isHeld.resolve(.success(()))
            try await mayEnd.value()
          }
        }
        try await isHeld.value()
        do {
          try await hasty.withExclusiveAccess(to: identity) {}
          Issue.record("two hold the account")
        } catch {
          #expect((error as? AccountError)?.code == .busy)
        }
        // Another account is free.
        try await hasty.withExclusiveAccess(
          to: UserAccountIdentity(
            userId: "005000000000009AAA", organizationId: "00D000000000001AAA")
        ) {}
        let waiting = Task { try await one.withExclusiveAccess(to: identity) {} }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        mayEnd.resolve(.success(()))
        try await holder.value
        try await one.withExclusiveAccess(to: identity) {}
      }
    }

    @Test func `a server that was restarted is connected to again`() async throws {
      try await PostgresServer.with { server in
        let persister = try await persister(server)
        let account = try Self.account()
        try await persister.save(account)
        try await server.stop()
        do {
          _ = try await persister.fetch(account.identity)
          Issue.record("there is no server")
        } catch {
          let error = try #require(error as? AccountError)
          #expect(error.code == .readFailed)
          #expect((error.cause as? PostgresError)?.isRetryable == true)
        }
        try await server.start()
        #expect(try await persister.fetch(account.identity) != nil)
      }
    }

    @Test func `a name of any form is the name of the schema`() async throws {
      try await PostgresServer.with { server in
        let name = #"a"; DROP SCHEMA public; --"#
        let persister = try await PostgresAccountPersister(
          address: server.address, schema: name, key: Self.key)
        try await persister.save(Self.account())
        #expect(try await persister.fetchAll().accounts.count == 1)
        #expect(try rows("SELECT 1 FROM pg_namespace WHERE nspname = 'public'", server).count == 1)
      }
    }
  }
#endif
