import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

// Accounts, the ages of their tokens, login hosts and policies. No response has a token, a part of one or a hash.
extension InspectorResources {
  static let accountRoutes: [InspectorRoute] = [
    ("GET", "accounts", { me, _, _ in .json(try await me.accountList()) }),
    (
      "POST", "accounts/*/switch",
      { me, _, ids in
        let (accounts, account) = try await me.account(ids[0])
        try me.checkWritable()
        try await accounts.setCurrent(account.identity)
        return .json(await me.document(of: account, in: accounts))
      }
    ),
    ("POST", "accounts/*/logout", { me, call, ids in .json(try await me.logOut(ids[0], call)) }),
  ]

  private func account(
    _ id: String
  ) async throws(InspectorFailure) -> (UserAccountManager, UserAccount) {
    guard let accounts = app.accounts,
      let account = await accounts.accounts.first(where: { $0.identity.inspectorId == id })
    else {
      throw InspectorFailure(
        "unknownAccount", "There is no such account. Reload the list of accounts.")
    }
    return (accounts, account)
  }

  private func accountList() async throws -> JSONValue {
    var documents: [JSONValue] = []
    var unreadable: [JSONValue] = []
    var policies: [JSONValue] = []
    if let accounts = app.accounts {
      for account in await accounts.accounts {
        documents.append(await document(of: account, in: accounts))
      }
      unreadable = await accounts.unreadableAccounts.map { unreadable in
        [
          "file": .string(unreadable.url.lastPathComponent),
          "error": InspectorFailure(unreadable.error).document,
        ]
      }
      if let current = await accounts.current { policies = Self.policies(of: current.profile) }
    }
    let list = app.loginHosts?.list
    let hosts: [JSONValue] = (list?.hosts ?? []).map { host in
      [
        "name": .string(host.name), "url": .string("\(host.server)"),
        "selected": .bool(host.server == list?.selected.server),
        "isDeletable": .bool(host.isDeletable),
      ]
    }
    return [
      "accounts": .array(documents), "unreadable": .array(unreadable), "loginHosts": .array(hosts),
      "policies": .array(policies),
    ]
  }

  private static func policies(of profile: UserProfile) -> [JSONValue] {
    guard profile.hasMobilePolicy else { return [] }
    let minutes = profile.screenLockMinutes
    let digits = profile.pinLength
    return [
      [
        "name": "Screen lock", "value": minutes > 0 ? "after \(minutes) minutes" : "off",
        "source": "connected app",
      ],
      [
        "name": "Pin", "value": digits > 0 ? "\(digits) digits" : "none",
        "source": "connected app",
      ],
    ]
  }

  /// An account with the ages of its tokens.
  private func document(of account: UserAccount, in accounts: UserAccountManager) async -> JSONValue
  {
    let credentials = account.credentials
    let unsynced = try? await accounts.unsyncedRecords(of: account.identity)
    let isCurrent = await accounts.current?.identity == account.identity
    return [
      "id": .string(account.identity.inspectorId), "username": .string(account.username),
      "userId": .string(account.userId), "organizationId": .string(account.organizationId),
      "instanceUrl": credentials.instanceURL.map { .string($0.absoluteString) } ?? .null,
      "loginServer": .string("\(credentials.loginServer)"), "current": .bool(isCurrent),
      "loginState": .string(account.loginState.rawValue),
      "scopes": .array(credentials.scopes.map { .string($0) }),
      "unsynced": unsynced.map { .integer(Int64($0)) } ?? .null,
      "tokens": [
        "access": Self.accessToken(credentials), "refresh": Self.refreshToken(credentials),
      ],
    ]
  }

  private static func accessToken(_ credentials: OAuthCredentials) -> JSONValue {
    guard let token = credentials.accessToken else { return .null }
    let isJWT = credentials.tokenFormat == "jwt"
    return [
      "issuedTime": credentials.issuedAtMilliseconds.map { .integer($0) } ?? .null,
      "expiryTime": isJWT ? expiry(ofJWT: token).map { .integer($0) } ?? .null : .null,
      "format": isJWT ? "jwt" : "opaque",
    ]
  }

  private static func refreshToken(_ credentials: OAuthCredentials) -> JSONValue {
    credentials.refreshToken == nil ? .null : ["issuedTime": .null]
  }

  /// The expiry time of a token, in milliseconds since 1970.
  static func expiry(ofJWT token: String) -> Int64? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Base64URL.decode(String(parts[1])),
      let seconds = (try? JSONSlice(parsing: claims))?["exp"]?.int64
    else { return nil }
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? nil : milliseconds
  }

  private func logOut(_ id: String, _ call: InspectorCall) async throws -> JSONValue {
    let (accounts, account) = try await account(id)
    try checkWritable()
    let body = try await call.body()
    let force = body["force"]?.bool ?? false
    let report = try await accounts.logOut(account.identity, reason: .userLogout, force: force)
    return [
      "username": .string(report.account.username),
      "unsyncedRecords": report.unsyncedRecords.map { .integer(Int64($0)) } ?? .null,
    ]
  }
}
