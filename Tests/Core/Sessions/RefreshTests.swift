import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-120 to CO-124, CO-129, CO-31, CO-32: what happens when a token has expired.
@Suite struct RefreshTests {
  @Test(.covers("CO-123.1", "CO-121.2", "BX-3.1"))
  func `100 requests that meet one expired token cause one refresh`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    org.tokenLatch.close()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { try await client.send(.limits()).status } }
      // The refresh ends only after every request has been refused once.
      await until { await manager.waitingForRefresh(of: TestOrg.identity) == 100 }
      #expect(org.state.withLock { $0.refusedRequests } == 100)
      org.tokenLatch.open()
      for try await status in group { #expect(status == 200) }
    }
    #expect(org.state.withLock { $0.refreshes } == 1)
    #expect(transport.requests.count == 201)
    #expect(await manager.waitingForRefresh(of: TestOrg.identity) == 0)
  }

  @Test(.covers("CO-129"))
  func `a waiter's cancellation leaves the refresh running`() async throws {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    org.tokenLatch.close()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let first = Task { try await client.send(.limits()) }
    await until { await manager.waitingForRefresh(of: TestOrg.identity) == 1 }
    let second = Task { try await client.send(.limits()) }
    await until { await manager.waitingForRefresh(of: TestOrg.identity) == 2 }
    first.cancel()
    // It ends while the token endpoint is still closed.
    await #expect(throws: CancellationError.self) { try await first.value }
    org.tokenLatch.open()
    #expect(try await second.value.status == 200)
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test func `who waits for a refresh that a new login overtakes gets the new session`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    org.tokenLatch.close()
    let clock = HandClock()
    let manager = try await org.manager(clock: clock)
    let waiting = Task {
      try await manager.refreshedSession(of: TestOrg.identity, replacing: "access-1")
    }
    await until { org.state.withLock { $0.refreshes } == 1 }
    let login = Task {
      try await manager.logIn(
        .tokens(
          accessToken: "access-9", instance: try LoginServer("https://acme.my.salesforce.com")))
    }
    await until { clock.hasSleeper(for: .seconds(10)) }
    clock.advance(by: .seconds(10))
    let account = try await login.value
    #expect(try await waiting.value.credentials == account.credentials)
    #expect(await manager.account(for: TestOrg.identity)?.credentials == account.credentials)
  }

  @Test(.covers("CO-124", "CO-31.6", "CO-31.7", "CO-40.3", "BX-3.1"))
  func `a failed refresh fails all with the same error`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.isUnreachable = true
    }
    org.tokenLatch.close()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let tasks = (0..<10).map { _ in Task { try await client.send(.limits()) } }
    await until { await manager.waitingForRefresh(of: TestOrg.identity) == 10 }
    org.tokenLatch.open()
    var lines: Set<String> = []
    for task in tasks {
      let error = await #expect(throws: OAuthError.self) { try await task.value }
      #expect(error?.code == .refreshFailed)
      #expect(error?.number == 684)
      lines.insert("\(error?.location.description ?? "")\(error?.message ?? "")")
    }
    #expect(lines.count == 1)
    #expect(org.state.withLock { $0.refreshes } == 1)
    // The network came back: the account is still there and refreshes.
    org.state.withLock { $0.isUnreachable = false }
    #expect(try await client.send(.limits()).status == 200)
  }

  @Test(.covers("CO-121.1", "CO-73", "CO-120.2", "BX-3.1"))
  func `a request is replayed once and not again`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 401) }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let error = await #expect(throws: RestError.self) {
      try await client.send(.create(object: "A", fields: ["B": 1]))
    }
    #expect(error?.code == .unauthorized)
    #expect(error?.number == 401)
    let paths = transport.requests.map { $0.url.path() }
    #expect(
      paths == [
        "/services/data/v66.0/sobjects/A", "/services/oauth2/token",
        "/services/data/v66.0/sobjects/A",
      ])
    #expect(transport.requests[0].body == transport.requests[2].body)
    #expect(transport.requests[2].headers[.authorization] == "Bearer access-2")
  }

  @Test(.covers("CO-123.1"))
  func `a request refused with an older token is replayed without a refresh`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let stale = try await manager.session(of: TestOrg.identity)
    try await manager.refresh(TestOrg.identity)
    let fresh = try await manager.refreshedSession(
      of: TestOrg.identity, replacing: stale.credentials.accessToken)
    #expect(fresh.credentials.accessToken == "access-2")
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test(.covers("CO-121.1"))
  func `a replay goes to the account's new instance`() async throws {
    let org = TestOrg()
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.instance = "https://acme2.my.salesforce.com"
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    try await manager.confirmMove(
      of: TestOrg.identity, to: try LoginServer("https://acme2.my.salesforce.com"))
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    _ = try await client.send(.query("SELECT Id FROM A"))
    #expect(
      transport.requests.map { $0.url.host() } == [
        "acme.my.salesforce.com", "login.salesforce.com", "acme2.my.salesforce.com",
      ])
    #expect(transport.requests[0].url.query() == transport.requests[2].url.query())
  }

  @Test(
    .covers("CO-120.1", "BX-3.1"),
    arguments: [
      (403, "Bad_OAuth_Token", "/services/oauth2/userinfo", true),
      (403, "Bad_OAuth_Token", "/services/data/v66.0/limits", false),
      (403, "other", "/services/oauth2/userinfo", false),
      (401, "", "/services/data/v66.0/limits", true),
      (500, "", "/services/data/v66.0/limits", false),
    ])
  func `what asks for a refresh`(
    status: Int, body: String, path: String, refreshes: Bool
  ) {
    let response = RestResponse(status: status, body: Array(body.utf8))
    let request = RestRequest(path: path, endpoint: "")
    #expect(response.asksForRefresh(of: request) == refreshes)
  }

  @Test(.covers("CO-120.2"))
  func `a request without authentication is never refreshed`() async throws {
    let org = TestOrg { _ in RestResponse(status: 401) }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    #expect(try await client.response(to: .versions()).status == 401)
    #expect(transport.requests.count == 1)
  }

  @Test(.covers("CO-31.1", "CO-31.4", "CO-11.2"))
  func `a refresh sends what the login used, and the rotated token is on disk first`()
    async throws
  {
    let persister = InMemoryAccountPersister()
    let whenReplayed = Mutex<String?>(nil)
    let org = TestOrg { _ in
      let stored = try await persister.fetch(TestOrg.identity)
      whenReplayed.withLock { $0 = stored?.credentials.refreshToken }
      return RestResponse(json: "{}")
    }
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.rotates = true
    }
    let transport = org.transport()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(
      persister: persister, transport: transport, userAgent: UserAgent(installationId: "device"))
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    _ = try await client.send(.limits())
    #expect(whenReplayed.withLock { $0 } == "refresh-2")
    let request = transport.requests[1]
    #expect(request.url.absoluteString == "https://login.salesforce.com/services/oauth2/token")
    #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
    #expect(request.headers[.authorization] == nil)
    #expect(request.timeout == .seconds(120))
    #expect(
      form(request) == [
        "format": "json", "redirect_uri": "http://127.0.0.1:1717/callback",
        "client_id": "client-1", "device_id": "device", "grant_type": "hybrid_refresh",
        "refresh_token": "refresh-1",
      ])
    let stored = try await persister.fetch(TestOrg.identity)
    #expect(stored?.credentials.refreshToken == "refresh-2")
    #expect(stored?.credentials.accessToken == "access-2")
    #expect(stored?.credentials.issuedAtMilliseconds == 1_600_000_000_123)
  }

  @Test(.covers("CO-31.4", "CO-93.1"))
  func `a rotated token that cannot be written is not lost`() async throws {
    let org = TestOrg()
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.rotates = true
    }
    let transport = org.transport()
    let persister = FailingPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(persister: persister, transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    persister.isFull.withLock { $0 = true }
    let error = await #expect(throws: AccountError.self) { try await client.send(.limits()) }
    #expect(error?.code == .writeFailed)
    // Space again: the token is written before it is used, and no second refresh is needed.
    persister.isFull.withLock { $0 = false }
    #expect(try await client.send(.limits()).status == 200)
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.refreshToken == "refresh-2")
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test(
    .covers("CO-31.3"),
    arguments: [(nil, "refresh-1"), ("client-1", nil), ("client-1", "")] as [(String?, String?)])
  func `without what a refresh needs nothing is sent`(
    clientId: String?, refreshToken: String?
  ) async throws {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    var account = org.account(refreshToken: refreshToken)
    account.credentials.clientId = clientId ?? ""
    let transport = org.transport()
    let manager = try await org.manager([account], transport: transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.refresh(TestOrg.identity)
    }
    #expect(error?.code == .invalidCredentials)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("CO-32", "BX-3.2"))
  func `a refused refresh token ends the session and wipes nothing`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.refreshToken = "other"
    }
    let transport = org.transport()
    let bystander = org.account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    let manager = try await org.manager([org.account(), bystander], transport: transport)
    try await manager.setCurrent(bystander.identity)
    let observer = CountingObserver()
    await manager.addLogoutObserver(observer)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let error = await #expect(throws: OAuthError.self) { try await client.send(.limits()) }
    #expect(error?.code == .invalidGrant)
    #expect(error?.number == 672)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .notLoggedIn)
    #expect(await manager.account(for: bystander.identity)?.loginState == .loggedIn)
    #expect(await manager.current?.identity == bystander.identity)
    #expect(observer.erased.withLock { $0 }.isEmpty)
    // From now on requests fail without asking the server again.
    let count = transport.requests.count
    let next = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(next?.code == .notAuthenticated)
    #expect(transport.requests.count == count)
  }

  @Test(.covers("CO-32", "CO-98", "BX-112"))
  func `the end of a session is reported, is on disk, and holds in every process`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.refreshToken = "other" }
    let persister = InMemoryAccountPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(persister: persister, transport: org.transport())
    let other = try await UserAccountManager(persister: persister, transport: org.transport())
    let events = manager.events()
    await #expect(throws: OAuthError.self) { try await manager.refresh(TestOrg.identity) }
    #expect(try await persister.fetch(TestOrg.identity)?.loginState == .notLoggedIn)
    // The other one does not ask the server what is known.
    let error = await #expect(throws: AccountError.self) {
      try await other.refresh(TestOrg.identity)
    }
    #expect(error?.code == .notLoggedIn)
    #expect(org.state.withLock { $0.refreshes } == 1)
    await manager.close()
    var kinds: [String] = []
    for await event in events { kinds.append("\(event.kind)".prefix { $0 != "(" }.description) }
    #expect(kinds == ["sessionDidEnd"])
  }

  @Test(
    .covers("CO-32", "CO-40.2"),
    arguments: ["inactive_user", "inactive_org", "invalid_client_id", "rate_limit_exceeded"])
  func `other refusals fail the request and keep the session`(refusal: String)
    async throws
  {
    let org = TestOrg()
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.refusal = refusal
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.refresh(TestOrg.identity)
    }
    #expect(error?.serverError == refusal)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
  }

  @Test(.covers("CO-63"))
  func `an account with a refresh token alone refreshes before its first request`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager([org.account(accessToken: nil)], transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    #expect(try await client.send(.limits()).status == 200)
    #expect(transport.requests.map { $0.url.path() }.first == "/services/oauth2/token")
  }

  @Test(.covers("CO-113.1", "CO-122.1"))
  func `a client without a session fails and does not crash`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(
      [org.account(accessToken: nil, refreshToken: nil)], transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.code == .notAuthenticated)
    let userless = RestClient(transport: transport)
    let other = await #expect(throws: RestError.self) { try await userless.send(.limits()) }
    #expect(other?.code == .notAuthenticated)
    let relative = await #expect(throws: RestError.self) { try await userless.send(.versions()) }
    #expect(relative?.code == .invalidRequest)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("CO-99", "CO-8.1", "CO-31.5", "CO-31.7"))
  func `an explicit refresh tells its subscribers`() async throws {
    let org = TestOrg()
    org.state.withLock { $0.instance = "https://acme2.my.salesforce.com" }
    let persister = InMemoryAccountPersister()
    try await persister.save(org.account())
    let manager = try await UserAccountManager(
      persister: persister, transport: org.transport())
    let events = manager.events()
    let stayed = try await manager.refresh(TestOrg.identity)
    #expect(stayed.credentials.accessToken == "access-2")
    #expect(stayed.credentials.refreshToken == "refresh-1")
    #expect(stayed.apiURL?.host() == "acme.my.salesforce.com")
    let saved = try #require(try await persister.fetch(TestOrg.identity))
    #expect(saved.credentials.accessToken == "access-2")
    #expect(await manager.account(for: TestOrg.identity) == stayed)
    try await manager.confirmMove(
      of: TestOrg.identity, to: try LoginServer("https://acme2.my.salesforce.com"))
    let moved = try await manager.refresh(TestOrg.identity)
    #expect(moved.apiURL?.host() == "acme2.my.salesforce.com")
    // The confirmation is used up.
    org.state.withLock { $0.instance = "https://acme.my.salesforce.com" }
    #expect(
      try await manager.refresh(TestOrg.identity).apiURL?.host() == "acme2.my.salesforce.com")
    await manager.close()
    var kinds: [String] = []
    for await event in events { kinds.append("\(event.kind)") }
    #expect(
      kinds == ["didRefreshToken", "didRefreshToken", "didChangeInstance", "didRefreshToken"])
  }
}

/// A persister whose disk can be full, or slow, or refuse to note who the current user is.
final class FailingPersister: AccountPersister {
  let isFull = Mutex(false)
  let refusesCurrent = Mutex(false)
  /// What the next write waits for.
  let obstacle = Mutex<Latch?>(nil)
  /// How many writes wait.
  let waiting = Mutex(0)
  /// The number of calls that came to write, or to wait for an account.
  let visits = Mutex(0)
  private let memory = InMemoryAccountPersister()

  func fetchAll() async throws(AccountError) -> StoredAccounts { try await memory.fetchAll() }
  func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    try await memory.fetch(identity)
  }
  func save(_ account: UserAccount) async throws(AccountError) {
    visits.withLock { $0 += 1 }
    if isFull.withLock({ $0 }) { throw AccountError(.writeFailed, "no space left") }
    let latch = obstacle.withLock { latch in
      defer { latch = nil }
      return latch
    }
    if let latch {
      waiting.withLock { $0 += 1 }
      try? await latch.wait()
    }
    try await memory.save(account)
  }
  func delete(_ account: UserAccount) async throws(AccountError) {
    try await memory.delete(account)
  }
  func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity? {
    if isFull.withLock({ $0 }) || refusesCurrent.withLock({ $0 }) {
      throw AccountError(.writeFailed, "no space left")
    }
    return try await memory.updateCurrent(change)
  }
  func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    visits.withLock { $0 += 1 }
    return try await memory.withExclusiveAccess(to: identity, body)
  }
}
