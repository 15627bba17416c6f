import SalesforceSDKCommon
import SalesforceSDKCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `com.salesforce.sfaccountmanager`: the accounts that are logged in (HT-10).
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
      try await switchUser(to: try identity(call), call)
      return .none
    default:
      throw call.invalidAction()
    }
  }

  private func switchUser(to identity: UserAccountIdentity?, _ call: HybridCall) async throws {
    if let identity {
      guard await host.accounts.account(for: identity) != nil else {
        throw HybridError(
          .invalidArguments, "Cannot switch to user \(identity): no such account. Log in first.")
      }
      return try await call.changingUser(of: host) {
        try await host.accounts.setCurrent(identity)
      }
    }
    guard await host.accounts.accounts.count <= 1, let logIn = host.logIn else {
      throw HybridError(
        .notAvailable,
        "Cannot switch user: this host offers neither a login nor a list of accounts. Give the user to switch to."
      )
    }
    _ = try await call.changingUser(of: host) { try await logIn() }
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
    ]
  }
}
