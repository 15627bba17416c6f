import SalesforceSDKCommon
import SalesforceSDKCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `com.salesforce.sfaccountmanager`: the accounts that are logged in (HT-10).
///
/// A switch without a user sends the page the event `fieldforceChooseUser` if there are several accounts:
/// `{"users": [{"orgId", "userId", "username", "isCurrent"}], "canLogIn"}`.
public struct AccountManagerPlugin: HybridPlugin {
  /// The service.
  public let serviceNames = ["com.salesforce.sfaccountmanager"]

  private let host: HybridHost

  /// Creates the service.
  public init(host: HybridHost) { self.host = host }

  public func respond(to call: HybridCall) async throws -> HybridValue {
    let accounts = host.accounts
    switch call.action {
    case "getUsers":
      return HybridValue(.array(await accounts.accounts.map { .object(Self.json($0)) }))
    case "getCurrentUser":
      return HybridValue(.object(await accounts.current.map(Self.json) ?? [:]))
    case "logout":
      let current = await accounts.current?.identity
      if let identity = try identity(call) ?? current {
        try await call.changingUser(of: host) { _ = try await accounts.logOut(identity) }
      }
      return .none
    case "switchToUser":
      if let identity = try newUser(call) ? nil : identity(call) {
        try await switchUser(to: identity, call)
      } else {
        try await switchUser(call)
      }
      return .none
    default:
      throw call.invalidAction()
    }
  }

  private func switchUser(to identity: UserAccountIdentity, _ call: HybridCall) async throws {
    guard await host.accounts.account(for: identity) != nil else {
      throw HybridError(
        .invalidArguments, "Cannot switch to user \(identity): no such account. Log in first.")
    }
    try await call.changingUser(of: host) {
      try await host.accounts.setCurrent(identity)
    }
  }

  /// Switches to a user whom the call does not name: the page shows the list of accounts, or, if there is no
  /// choice or the call requests it, a new user logs in.
  private func switchUser(_ call: HybridCall) async throws {
    let accounts = await host.accounts.accounts
    guard try newUser(call) || accounts.count <= 1 else {
      let current = await host.accounts.current?.identity
      let detail: JSONValue = [
        "users": .array(
          accounts.map { account in
            [
              "orgId": .string(account.organizationId), "userId": .string(account.userId),
              "username": .string(account.username),
              "isCurrent": .bool(account.identity == current),
            ]
          }), "canLogIn": .bool(host.logIn != nil),
      ]
      return call.afterResponse { [bridge = call.owner.bridge, session = call.session] _ in
        await bridge.send(event: "fieldforceChooseUser", detail: detail, to: session)
      }
    }
    guard let logIn = host.logIn else {
      throw HybridError(
        .notAvailable,
        "Cannot switch user: this host offers no login. Give the user to switch to.")
    }
    _ = try await call.changingUser(of: host) { try await logIn() }
  }

  /// Whether a call requests the login of another user, as the list of accounts does.
  private func newUser(_ call: HybridCall) throws(HybridError) -> Bool {
    try call.message.flag("newUser")
  }

  /// The account that a call names by `orgId` and `userId`; nil without one.
  private func identity(_ call: HybridCall) throws -> UserAccountIdentity? {
    guard let user = call.arguments.first, !user.isNull else { return nil }
    let message = call.message
    return UserAccountIdentity(
      userId: try message.requiredText("userId"),
      organizationId: try message.requiredText("orgId"))
  }

  private static func json(_ account: UserAccount) -> JSONObject {
    let credentials = account.credentials
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "authToken": text(credentials.accessToken),
      "refreshToken": text(credentials.refreshToken),
      "loginServer": .string(credentials.loginServer.url.absoluteString),
      "idUrl": text(credentials.identityURL?.absoluteString),
      "instanceServer": text(credentials.instanceURL?.absoluteString),
      "orgId": .string(account.organizationId),
      "userId": .string(account.userId),
      "username": .string(account.username),
      "clientId": .string(credentials.clientId),
      "communityId": text(credentials.communityId),
      "communityUrl": text(credentials.communityURL?.absoluteString),
      "firstName": text(account.profile.firstName),
      "lastName": text(account.profile.lastName),
      "displayName": text(account.profile.displayName),
      "email": text(account.profile.email),
      "photoUrl": text(account.profile.pictureURL?.absoluteString),
      "thumbnailUrl": text(account.profile.thumbnailURL?.absoluteString),
    ]
  }
}
