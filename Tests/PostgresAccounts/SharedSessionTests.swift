#if os(Linux)
  import Foundation
  import PostgresAccounts
  import SalesforceMockOrg
  import SalesforceSDKCommon
  import SalesforceSDKCore
  import Subprocess
  import TestSupport
  import Testing

  #if canImport(System)
    import System
  #else
    import SystemPackage
  #endif

  /// Do eight processes that are killed at any moment keep one session, while the org rotates its tokens?
  @Suite(
    .enabled(if: PostgresServer.programs != nil, "PostgreSQL is not installed"),
    .timeLimit(.minutes(10)))
  struct SharedSessionTests {
    private static let processes = 8
    private static let refreshes = 4
    /// The child is built next to the tests.
    private static func child() throws -> FilePath {
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      let tests = try #require(bundle ?? Bundle.main.executableURL)
      return FilePath(
        tests.deletingLastPathComponent().appending(path: "PostgresAccountsChild").path)
    }

    @Test func `no account is locked out by processes that are killed as they refresh`()
      async throws
    {
      var random = SeededGenerator(seed: Effort.seed(.random(in: 0..<1_000_000)))
      var options = MockOrgOptions()
      options.rotatesRefreshTokens = true
      options.forgivesLostRefreshes = true
      let org = try MockOrg(options)
      try await MockOrgServer.withServer(org) { orgServer in
        try await PostgresServer.with { server in
          let key = EncryptionKey.random()
          let accounts = try await UserAccountManager(
            persister: try await PostgresAccountPersister(address: server.address, key: key),
            transport: URLSessionTransport())
          let info = orgServer.info
          let account = try await accounts.logIn(
            .tokens(
              accessToken: info.accessToken, refreshToken: info.refreshToken,
              instance: try LoginServer(info.instanceUrl),
              app: ConnectedApp(
                clientId: info.clientId, redirectURI: info.redirectUri, usesHybridGrants: false)))
          for _ in 0..<Effort.times(3) {
            // How many lines of a process are read before it is killed; more than there are lets it end.
            let lines = (0..<Self.processes).map { _ in
              Int.random(in: 0...Self.refreshes + 1, using: &random)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
              for count in lines {
                group.addTask { try await Self.run(server, key, killedAfter: count) }
              }
              try await group.waitForAll()
            }
            let refreshed = try await accounts.refresh(account.identity)
            #expect(refreshed.loginState == .loggedIn)
            #expect(refreshed.credentials.refreshToken != nil)
          }
          await accounts.close()
        }
      }
    }

    private static func run(
      _ server: PostgresServer, _ key: EncryptionKey, killedAfter count: Int
    ) async throws {
      let ended = try await Subprocess.run(
        .path(child()),
        arguments: [server.address, Data(key.bytes).base64EncodedString(), "\(refreshes)"],
        input: .none, output: .sequence, error: .discarded
      ) { execution in
        var seen = 0
        if count == 0 { try execution.send(signal: .kill) }
        for try await line in execution.standardOutput.strings() {
          #expect(line.contains("!"))
          seen += 1
          if seen == count { try execution.send(signal: .kill) }
        }
      }
      #expect(count <= refreshes || ended.terminationStatus.isSuccess)
    }
  }
#endif
