import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// An org in a few lines: it accepts one access token, exchanges one refresh token, and counts.
final class TestOrg: Sendable {
  struct State {
    var accessToken = "access-1"
    var refreshToken = "refresh-1"
    var rotates = false
    var refusal: String?
    var isUnreachable = false
    var refreshes = 0
    var revocations: [String] = []
    var refusedRequests = 0
    var instance = "https://acme.my.salesforce.com"
  }

  let state = Mutex(State())
  /// Opens the token endpoint; open from the start unless a test asks otherwise.
  let tokenLatch = Latch(isOpen: true)
  /// Handles a request whose token was accepted.
  let answer: @Sendable (TransportRequest) async throws -> RestResponse

  init(
    _ answer: @escaping @Sendable (TransportRequest) async throws -> RestResponse = { _ in
      RestResponse(json: #"{"ok":true}"#)
    }
  ) {
    self.answer = answer
  }

  static let identity = UserAccountIdentity(
    userId: "005000000000001AAA", organizationId: "00D000000000001EAA")
  static let app = ConnectedApp(
    clientId: "client-1", redirectURI: "http://127.0.0.1:1717/callback", scopes: ["api", "id"])

  /// The transport that leads here.
  func transport() -> ScriptedTransport {
    ScriptedTransport { request in try await self.respond(to: request) }
  }

  func account(
    accessToken: String? = "access-1", refreshToken: String? = "refresh-1",
    identity: UserAccountIdentity = TestOrg.identity
  ) -> UserAccount {
    UserAccount(
      identity: identity,
      credentials: OAuthCredentials(
        clientId: "client-1", redirectURI: "http://127.0.0.1:1717/callback",
        loginServer: .production, accessToken: accessToken, refreshToken: refreshToken,
        instanceURL: URL(string: "https://acme.my.salesforce.com")),
      profile: UserProfile(username: "jane@example.com"))
  }

  /// A manager that holds `accounts`, with the transport that leads here.
  func manager(
    _ accounts: [UserAccount]? = nil, transport: ScriptedTransport? = nil,
    options: UserAccountManager.Options = .init(), clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> UserAccountManager {
    let persister = InMemoryAccountPersister()
    for account in accounts ?? [account()] { try await persister.save(account) }
    return try await UserAccountManager(
      persister: persister, transport: transport ?? self.transport(), options: options,
      clock: clock)
  }

  private func respond(to request: TransportRequest) async throws -> RestResponse {
    switch request.url.path() {
    case "/services/oauth2/token": return try await token(request)
    case "/services/oauth2/revoke":
      state.withLock { $0.revocations.append(form(request)["token"] ?? "") }
      return RestResponse(status: 200)
    case let path where path.hasPrefix("/id/"):
      return RestResponse(
        json: #"{"username":"jane@example.com","display_name":"Jane","email":"jane@example.com"}"#)
    case "/services/oauth2/userinfo" where isAuthorized(request):
      return RestResponse(
        json: """
          {"user_id":"005000000000001AAA","organization_id":"00D000000000001EAA",
          "preferred_username":"jane@example.com","name":"Jane",
          "sub":"https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA"}
          """)
    default:
      guard request.headers[.authorization] != nil, !isAuthorized(request) else {
        return try await answer(request)
      }
      state.withLock { $0.refusedRequests += 1 }
      return RestResponse(
        status: 401,
        json: #"[{"errorCode":"INVALID_SESSION_ID","message":"Session expired or invalid"}]"#)
    }
  }

  private func isAuthorized(_ request: TransportRequest) -> Bool {
    request.headers[.authorization] == state.withLock { "Bearer \($0.accessToken)" }
  }

  private func token(_ request: TransportRequest) async throws -> RestResponse {
    let form = form(request)
    let call: Int = state.withLock { state in
      state.refreshes += 1
      return state.refreshes
    }
    try await tokenLatch.wait()
    return try state.withLock { state in
      if state.isUnreachable { throw TransportError(.unreachable, "no network") }
      if let refusal = state.refusal {
        return RestResponse(
          status: 400, json: #"{"error":"\#(refusal)","error_description":"said the server"}"#)
      }
      if let token = form["refresh_token"], token != state.refreshToken {
        return RestResponse(
          status: 400, json: #"{"error":"invalid_grant","error_description":"expired token"}"#)
      }
      state.accessToken = "access-\(call + 1)"
      if state.rotates { state.refreshToken = "refresh-\(call + 1)" }
      let rotated = state.rotates || form["code"] != nil
      return RestResponse(
        json: """
          {"access_token":"\(state.accessToken)","instance_url":"\(state.instance)",\
          \(rotated ? #""refresh_token":"\#(state.refreshToken)","# : "")\
          "id":"https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA",\
          "issued_at":"1600000000123","scope":"api id refresh_token","token_type":"Bearer"}
          """)
    }
  }
}

/// The pairs of a form body.
func form(_ request: TransportRequest) -> [String: String] {
  let text = String(decoding: request.body ?? [], as: UTF8.self)
  var pairs: [String: String] = [:]
  for part in text.split(separator: "&") {
    let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    pairs[String(sides[0])] = sides.count > 1 ? String(sides[1]).removingPercentEncoding : ""
  }
  return pairs
}

/// A door that tests open.
final class Latch: Sendable {
  private struct State {
    var isOpen: Bool
    var waiters: [AsyncStream<Void>.Continuation] = []
  }
  private let state: Mutex<State>

  init(isOpen: Bool = false) {
    state = Mutex(State(isOpen: isOpen))
  }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.finish() }
  }

  func close() { state.withLock { $0.isOpen = false } }

  /// Waits on the calling thread, which must be none of those that tasks share.
  func waitOnThread() {
    let isOpen = DispatchSemaphore(value: 0)
    Task {
      try await wait()
      isOpen.signal()
    }
    isOpen.wait()
  }

  /// Goes through when the latch is open, or throws when the task is cancelled.
  func wait() async throws {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let isOpen = state.withLock { state in
      if !state.isOpen { state.waiters.append(continuation) }
      return state.isOpen
    }
    if isOpen { return }
    for await _ in stream {}
    try Task.checkCancellation()
  }
}

/// Lets other tasks run until `condition` holds.
func until(_ condition: () async -> Bool) async {
  while await !condition() { await Task.yield() }
}

func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }
