import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

// Developer information (CO-186, SS-218) and actions (CO-185).
extension InspectorResources {
  static let developerRoutes: [InspectorRoute] = [
    (
      "GET", "developer",
      { me, _, _ in
        .json([
          "information": .array(
            try await me.information().map { name, value in
              ["name": .string(name), "value": .string(value)]
            }),
          "actions": .array(await me.developerActions().map(\.document)),
        ])
      }
    ),
    ("POST", "developer/actions", { me, call, _ in .json(try await me.perform(call)) }),
  ]

  // MARK: Information

  private func information() async throws -> [(name: String, value: String)] {
    let accounts = await app.accounts?.accounts ?? []
    let current = await app.accounts?.current
    var rows: [(name: String, value: String)] = [
      ("section:Fieldforce", ""), ("SDK Version", SDKVersion.current), ("App Type", "Native"),
      ("User Agent", app.userAgent ?? ""), ("Current User", current?.username ?? ""),
      ("Authenticated Users", accounts.map(\.username).joined(separator: ", ")),
    ]
    if !app.information.isEmpty { rows += [("section:\(app.name)", "")] + app.information }
    if let current {
      let credentials = current.credentials
      rows += [
        ("section:Current User", ""), ("Username", current.username),
        ("Consumer Key", credentials.clientId), ("Redirect URI", credentials.redirectURI),
        ("Scopes", credentials.scopes.joined(separator: " ")),
        ("Instance URL", credentials.instanceURL?.absoluteString ?? ""),
        ("Use Hybrid Authentication", credentials.usesHybridGrants ? "YES" : "NO"),
        ("Token format", credentials.tokenFormat ?? "opaque"),
      ]
    }
    rows += try app.stores.developerInformation(forUserAccount: current.map { StoreOwner($0) })
      .map { ($0.name, $0.value) }
    if let stores = app.keyValueStores {
      let own = try current.map { try stores.storeNames(for: $0) } ?? []
      rows += [
        ("section:Key Value Stores", ""), ("User Key Value Stores", own.joined(separator: ", ")),
        ("Global Key Value Stores", try stores.globalStoreNames().joined(separator: ", ")),
      ]
    }
    return rows
  }

  // MARK: Actions

  /// An action with what the page asks for, and how it is done.
  private struct Action: Sendable {
    let name: String
    var writes = true
    /// Why it is not possible now; nil if it is.
    var reason: String?
    var confirmation: String?
    var fields: [JSONValue] = []
    let run: @Sendable (JSONObject) async throws -> String

    var document: JSONValue {
      var document: JSONObject = [
        "name": .string(name), "enabled": .bool(reason == nil), "writes": .bool(writes),
        "reason": reason.map { .string($0) } ?? .null,
        "confirmation": confirmation.map { .string($0) } ?? .null,
      ]
      if !fields.isEmpty { document["fields"] = .array(fields) }
      return .object(document)
    }
  }

  private static let noUser = "No user is logged in."

  private func developerActions() async -> [Action] {
    var actions: [Action] = []
    if let accounts = app.accounts { actions += await Self.actions(of: accounts) }
    if let apps = app.loginApps { actions.append(Self.loginOptions(apps)) }
    return actions
      + app.actions.map { action in
        Action(name: action.name, writes: action.writes, confirmation: action.confirmation) { _ in
          try await action.run()
        }
      }
  }

  private static func actions(of accounts: UserAccountManager) async -> [Action] {
    let all = await accounts.accounts
    let current = await accounts.current
    let identity = current?.identity
    var unsynced: Int?
    if let identity { unsynced = try? await accounts.unsyncedRecords(of: identity) }
    let lost =
      (unsynced ?? 0) == 0
      ? "" : " \(unsynced ?? 0) entries are not uploaded: the logout is refused."
    let logout = Action(
      name: "Logout", reason: identity == nil ? noUser : nil,
      confirmation: current.map { "Log out \($0.username)?\(lost)" }
    ) { _ in
      guard let identity else { throw InspectorFailure("notLoggedIn", noUser) }
      let report = try await accounts.logOut(identity, reason: .userLogout)
      return "\(report.account.username) is logged out."
    }
    let choices: [JSONValue] = all.map {
      ["value": .string($0.identity.inspectorId), "text": .string($0.username)]
    }
    let switching = Action(
      name: "Switch User", reason: all.count < 2 ? "There is no other user." : nil,
      fields: [
        [
          "name": "account", "label": "User", "kind": "choice",
          "value": .string((identity ?? all.first?.identity)?.inspectorId ?? ""),
          "choices": .array(choices),
        ]
      ]
    ) { values in
      let id = values["account"]?.string
      guard let account = all.first(where: { $0.identity.inspectorId == id }) else {
        throw InspectorFailure("unknownAccount", "There is no such account. Reload the page.")
      }
      try await accounts.setCurrent(account.identity)
      return "\(account.username) is the current user."
    }
    let refresh = Action(name: "Refresh Token", reason: identity == nil ? noUser : nil) { _ in
      guard let identity else { throw InspectorFailure("notLoggedIn", noUser) }
      return "\(try await accounts.refresh(identity).username) has a new access token."
    }
    // A list of no choices is none.
    return [logout] + (all.isEmpty ? [] : [switching]) + [refresh]
  }

  /// Sets the connected app of the next login (CO-187).
  private static func loginOptions(_ apps: ConnectedAppSelector) -> Action {
    let usual = apps.usual
    func text(_ name: String, _ label: String, _ value: String) -> JSONValue {
      [
        "name": .string(name), "label": .string(label), "kind": "text", "value": .string(value),
      ]
    }
    return Action(
      name: "Login Options",
      fields: [
        text("consumerKey", "Consumer key", usual.clientId),
        text("redirectURI", "Redirect URI", usual.redirectURI),
        text("scopes", "Scopes", usual.scopes.sorted().joined(separator: " ")),
        [
          "name": "hybrid", "label": "Hybrid tokens", "kind": "switch",
          "value": .bool(usual.usesHybridGrants),
        ],
      ]
    ) { values in
      let key = values["consumerKey"]?.string ?? usual.clientId
      guard !key.isEmpty else {
        throw InspectorFailure("invalidRequest", "The consumer key is empty.")
      }
      apps.setOverride(
        ConnectedApp(
          clientId: key, redirectURI: values["redirectURI"]?.string ?? usual.redirectURI,
          scopes: Set(
            values["scopes"]?.string?.split(separator: " ").map(String.init)
              ?? Array(usual.scopes)),
          usesHybridGrants: values["hybrid"]?.bool ?? usual.usesHybridGrants))
      return "The next login uses this app; after it the usual one counts again."
    }
  }

  private func perform(_ call: InspectorCall) async throws -> JSONValue {
    let body = try await call.body()
    let name = body["name"]?.string
    guard let action = await developerActions().first(where: { $0.name == name }),
      action.reason == nil
    else {
      throw InspectorFailure(
        "notFound", "There is no such action, or it is not possible now. Reload the page.")
    }
    if action.writes { try checkWritable() }
    let values = body["values"]?.object ?? [:]
    for field in action.fields {
      guard let key = field["name"]?.string, let given = values[key] else { continue }
      let isSwitch = field["kind"]?.string == "switch"
      guard isSwitch ? given.bool != nil : given.string != nil else {
        throw InspectorFailure("invalidRequest", "The field '\(key)' has another type.")
      }
    }
    return ["message": .string(try await action.run(values))]
  }
}
