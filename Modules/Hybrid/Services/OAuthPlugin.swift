import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `com.salesforce.oauth`: the login of the current user (HT-7).
public final class OAuthPlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.oauth"]

  private let host: HybridHost
  /// The login that is in flight, shared by all calls that request one.
  private let login = Mutex<Task<UserAccount, any Error>?>(nil)

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    switch call.action {
    case "getAuthCredentials":
      guard let account = await host.accounts.current else {
        throw HybridError(.notAuthenticated, "Not authenticated")
      }
      return credentials(account)
    case "authenticate":
      return credentials(try await authenticate(call))
    case "logoutCurrentUser":
      // A page may request it again while it is being left: then there is no user any more.
      if let account = await host.accounts.current {
        try await call.changingUser(of: host) {
          _ = try await host.accounts.logOut(account.identity)
        }
      }
      return .none
    case "getAppHomeUrl":
      return HybridValue(.string(call.owner.bridge.container?.homeURL?.absoluteString ?? ""))
    default:
      throw call.invalidAction()
    }
  }

  private func authenticate(_ call: HybridCall) async throws -> UserAccount {
    if let account = await host.accounts.current, account.loginState == .loggedIn {
      // The cheapest request there is: an expired token is refreshed on the way.
      _ = try await host.client(account).response(to: .resources())
      let renewed = await host.accounts.account(for: account.identity) ?? account
      // Pages that share the session by cookies continue with the new one (HT-18).
      let bridge = call.owner.bridge
      await bridge.container?.renewCookies(of: renewed, on: bridge)
      return renewed
    }
    guard let logIn = host.logIn else {
      throw HybridError(
        .notAuthenticated,
        "Not authenticated: this host cannot log in from a page. Log in before it is started.")
    }
    let task = login.withLock { current in
      if let current { return current }
      let task = Task { [self] in
        defer { login.withLock { $0 = nil } }
        return try await logIn()
      }
      current = task
      return task
    }
    // The page that logs in continues by itself; pages of another user load again.
    return try await call.changingUser(of: host, reloadsPages: { $0 != nil }) {
      try await task.value
    }
  }

  private func credentials(_ account: UserAccount) -> HybridValue {
    let credentials = account.credentials
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    var json: JSONObject = [
      "accessToken": text(credentials.accessToken),
      "refreshToken": text(credentials.refreshToken),
      "clientId": .string(credentials.clientId),
      "userId": .string(account.userId),
      "orgId": .string(account.organizationId),
      "loginUrl": .string(credentials.loginServer.url.absoluteString),
      "identityUrl": text(credentials.identityURL?.absoluteString),
      "instanceUrl": text(credentials.instanceURL?.absoluteString),
      "userAgent": .string(host.userAgent.text(qualifier: host.app.isLocal ? "Local" : "Remote")),
      "communityId": text(credentials.communityId),
      "communityUrl": text(credentials.communityURL?.absoluteString),
    ]
    // The ids of web sessions, which a hybrid grant brings (BX-13).
    for (key, value) in credentials.webSession.sorted(by: { $0.key < $1.key }) {
      json[key] = .string(value)
    }
    return HybridValue(.object(json))
  }
}
