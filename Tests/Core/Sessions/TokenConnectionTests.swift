import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// Token requests while all connections for data requests are in use.
@Suite struct TokenConnectionTests {
  private let answered = Latch()
  private let transport = URLSessionTransport(maxConnectionsPerHost: 2)

  /// A server whose data requests have no response before the latch opens.
  private func server(busyWith arrived: Arrivals) throws -> SocketServer {
    let answered = answered
    let identity = "/id/00D000000000001EAA/005000000000001AAA"
    return try SocketServer { request, connection in
      switch request.path {
      case "/services/oauth2/token":
        let host = request.header("Host") ?? ""
        connection.send(
          SocketServer.answer(
            """
            {"access_token":"new","refresh_token":"refresh-2","instance_url":"http://\(host)",
            "id":"http://\(host)\(identity)","scope":"api id refresh_token"}
            """))
      case "/services/oauth2/revoke": connection.send(SocketServer.answer(""))
      case identity, "/services/oauth2/userinfo":
        connection.send(
          SocketServer.answer(
            """
            {"user_id":"005000000000001AAA","organization_id":"00D000000000001EAA",
            "username":"jane@example.com","preferred_username":"jane@example.com"}
            """))
      default:
        arrived.count()
        answered.waitOnThread()
        connection.send(SocketServer.answer("{}"))
      }
      return true
    }
  }

  private func manager(at server: SocketServer) async throws -> (UserAccountManager, UserAccount) {
    let persister = InMemoryAccountPersister()
    let account = UserAccount(
      identity: TestOrg.identity,
      credentials: OAuthCredentials(
        clientId: "client-1", redirectURI: "http://127.0.0.1/callback",
        loginServer: try LoginServer(server.url("").absoluteString), accessToken: "old",
        refreshToken: "refresh-1", instanceURL: server.url("")),
      profile: UserProfile(username: "jane@example.com"))
    try await persister.save(account)
    return (try await UserAccountManager(persister: persister, transport: transport), account)
  }

  @Test
  func `a login, a refresh and a revocation do not wait for data requests to the same server`()
    async throws
  {
    let arrived = Arrivals(2)
    let server = try server(busyWith: arrived)
    let (accounts, account) = try await manager(at: server)
    let client = RestClient(account: account, accounts: accounts, transport: transport)
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Twice as many as there are connections: the others wait in order.
      for _ in 0..<4 { group.addTask { _ = try await client.send(.limits()) } }
      try await arrived.wait()
      let refreshed = try await accounts.refresh(account.identity)
      #expect(refreshed.credentials.accessToken == "new")
      let login = try await accounts.logIn(
        .tokens(accessToken: "other", instance: account.credentials.loginServer))
      #expect(login.identity == account.identity)
      // The login ended the former refresh token.
      #expect(server.requests.contains { $0.path == "/services/oauth2/revoke" })
      answered.open()
      try await group.waitForAll()
    }
  }

  @Test func `a token request does not use a connection that was kept alive`() async throws {
    let numbers = Mutex<[String: Set<Int>]>([:])
    let server = try SocketServer { request, connection in
      numbers.withLock { _ = $0[request.path, default: []].insert(connection.number) }
      connection.send(SocketServer.answer(#"{"access_token":"new"}"#))
      return true
    }
    let (accounts, account) = try await manager(at: server)
    let client = RestClient(account: account, accounts: accounts, transport: transport)
    _ = try await client.send(.limits())
    try await accounts.refresh(account.identity)
    _ = try await client.send(.limits())
    let seen = numbers.withLock { $0 }
    let token = try #require(seen["/services/oauth2/token"])
    let data = try #require(seen.first { $0.key.hasSuffix("/limits") }?.value)
    #expect(data.count == 1)
    #expect(token.isDisjoint(with: data))
  }
}

/// Opens once a number of requests have arrived.
private final class Arrivals: Sendable {
  private let missing: Mutex<Int>
  private let latch = Latch()

  init(_ number: Int) { missing = Mutex(number) }

  func count() {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { latch.open() }
  }

  func wait() async throws { try await latch.wait() }
}
