import MobileSync
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
            try await me.information().rows.map {
              ["name": .string($0.name), "value": .string($0.value)]
            }),
          "actions": .array(
            await me.developerActions().map { InspectorResources.document(of: $0) }),
        ])
      }
    ),
    ("POST", "developer/actions", { me, call, _ in .json(try await me.perform(call)) }),
  ]

  /// The report of all modules, and the app's own rows.
  private func information() async throws -> DeveloperInfo {
    var sources = DeveloperInfo.Sources()
    sources.accounts = app.accounts
    sources.userAgent = app.userAgent
    sources.loginApps = app.loginApps
    sources.boot = app.boot
    // One that cannot be read blocks logins, which say why.
    sources.managed = app.managedFile.flatMap { try? $0.current } ?? app.managed
    sources.loginHosts = app.loginHosts
    sources.keyValueStores = app.keyValueStores
    var report = try await DeveloperInfo(app: app.name, sources)
    report.append(section: app.name, app.information)
    let current = await app.accounts?.current
    try report.append(storesOf: app.stores, forUserAccount: current.map { StoreOwner($0) })
    for found in try await stores.found() {
      let title = "\(found.owner.isGlobal ? "Global store" : "User store") \(found.name)"
      do {
        // Counting the entries of a large soup would make the page wait.
        try await report.append(
          syncsOf: try await stores.open(found).store, titled: title, countsEntries: false)
      } catch {
        report.append(section: title, [("Error", InspectorFailure(error).message)])
      }
    }
    return report
  }

  // MARK: Actions

  private func developerActions() async -> [DeveloperAction] {
    await DeveloperAction.standard(for: app.accounts, loginApps: app.loginApps) + app.actions
  }

  private static func document(of action: DeveloperAction) -> JSONValue {
    var document: JSONObject = [
      "name": .string(action.name), "enabled": .bool(action.unavailable == nil),
      "writes": .bool(action.writes), "reason": action.unavailable.map { .string($0) } ?? .null,
      "confirmation": action.confirmation.map { .string($0) } ?? .null,
    ]
    if !action.fields.isEmpty {
      document["fields"] = .array(action.fields.map { InspectorResources.document(of: $0) })
    }
    return .object(document)
  }

  private static func document(of field: DeveloperAction.Field) -> JSONValue {
    var document: JSONObject = ["name": .string(field.name), "label": .string(field.label)]
    switch field.kind {
    case .text(let text):
      document["kind"] = "text"
      document["value"] = .string(text)
    case .flag(let flag):
      document["kind"] = "switch"
      document["value"] = .bool(flag)
    case .choice(let selected, let choices):
      document["kind"] = "choice"
      document["value"] = .string(selected)
      document["choices"] = .array(
        choices.map { ["value": .string($0.value), "text": .string($0.text)] })
    }
    return .object(document)
  }

  private func perform(_ call: InspectorCall) async throws -> JSONValue {
    let body = try await call.body()
    let name = body["name"]?.string
    guard let action = await developerActions().first(where: { $0.name == name }),
      action.unavailable == nil
    else {
      throw InspectorFailure(
        "notFound", "There is no such action, or it is not possible now. Reload the page.")
    }
    if action.writes { try checkWritable() }
    let values = body["values"]?.object ?? [:]
    for field in action.fields {
      guard let given = values[field.name] else { continue }
      let isFlag = if case .flag = field.kind { true } else { false }
      guard isFlag ? given.bool != nil : given.string != nil else {
        throw InspectorFailure("invalidRequest", "The field '\(field.name)' has another type.")
      }
    }
    return ["message": .string(try await action.run(values))]
  }
}
