import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

// Syncs, outcomes and conflicts.
extension InspectorResources {
  static let syncRoutes: [InspectorRoute] = [
    (
      "GET", "stores/*/syncs",
      { me, _, ids in
        let store = try await me.stores.open(ids[0]).store
        return .json(["syncs": .array(try await me.syncs(of: store))])
      }
    ),
    (
      "GET", "stores/*/syncs/*",
      { me, _, ids in
        let store = try await me.stores.open(ids[0]).store
        return .json(try await me.summary(of: try InspectorResources.syncId(ids[1]), in: store))
      }
    ),
    (
      "GET", "stores/*/syncs/*/outcomes",
      { me, call, ids in .json(try await me.outcomes(ids, call)) }
    ),
    ("POST", "stores/*/syncs/*/run", { me, _, ids in try await me.run(ids) }),
    ("POST", "stores/*/syncs/*/ghosts", { me, _, ids in .json(try await me.removeGhosts(ids)) }),
    (
      "POST", "stores/*/syncs/stop",
      { me, _, ids in
        try await me.withManager(of: ids[0]) { _, manager in await manager.stop() }
        return .json([:], status: 202)
      }
    ),
    (
      "POST", "stores/*/syncs/restart",
      { me, _, ids in
        try await me.withManager(of: ids[0]) { writer, manager in
          for run in try await manager.restart(restartStoppedSyncs: true) {
            try await me.follow(run, ids[0])
          }
        }
        return .json([:], status: 202)
      }
    ),
    ("GET", "stores/*/conflicts", { me, call, ids in .json(try await me.conflicts(ids[0], call)) }),
    (
      "POST", "stores/*/conflicts/resolve",
      { me, call, ids in .json(try await me.resolve(ids[0], call)) }
    ),
  ]

  /// The targets that syncs may name.
  var targets: SyncTargetRegistry { app.syncTargets ?? SyncTargetRegistry() }

  // MARK: Syncs

  /// - Throws: ``InspectorFailure`` `doesNotExist`.
  private static func syncId(_ text: String) throws(InspectorFailure) -> Int64 {
    guard let id = Int64(text) else {
      throw InspectorFailure("doesNotExist", "There is no such sync. Reload the list of syncs.")
    }
    return id
  }

  /// The syncs of a store, by ascending id.
  func syncs(of store: SmartStore) async throws -> [JSONValue] {
    var documents: [JSONValue] = []
    for state in try await store.syncs() {
      documents.append(try await summary(of: state.id, in: store))
    }
    return documents
  }

  private func summary(of id: Int64, in store: SmartStore) async throws -> JSONValue {
    try await store.syncReport(forId: id, registry: targets).summary
  }

  private func outcomes(_ ids: [String], _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("outcome", "limit", "after", "before")
    let id = try Self.syncId(ids[1])
    let store = try await stores.open(ids[0]).store
    _ = try await summary(of: id, in: store)
    let kind = call.parameters["outcome"]
    let all = try await store.syncOutcomes(forId: id)
      .filter { kind == nil || $0.kind.rawValue == kind }
    let page = try ListPage(
      all, call.parameters, "outcomes \(ids) \(kind ?? "")", limits: limits
    ) { "\($0.soupName)/\($0.entryId)" }
    var document = page.cursors
    document["outcomes"] = .array(page.items.map { Self.document(of: $0) })
    return .object(document)
  }

  /// Runs work with the manager of a store's syncs.
  ///
  /// - Throws: ``InspectorFailure`` `readOnly`; `busyOtherProcess` where another process owns the store.
  private func withManager<Value: Sendable>(
    of id: String,
    _ work: @escaping @Sendable (InspectedStores.Writer, SyncManager) async throws -> Value
  ) async throws -> Value {
    let writer = try await stores.writer(id)
    do {
      let value = try await work(writer, try await manager(of: writer.store))
      await stores.release(writer)
      return value
    } catch {
      await stores.release(writer)
      throw error
    }
  }

  private func manager(of store: SmartStore) async throws -> SyncManager {
    guard let runner = app.syncs else {
      throw InspectorFailure(
        "readOnly", "The app has given the inspector no managers of syncs.",
        remedy: "Set 'syncs' of the inspected app.")
    }
    guard let account = await account(of: store.owner) else {
      throw InspectorFailure("notLoggedIn", "No user is logged in. Log in first.")
    }
    let sender = try await runner.sender(account)
    return try await runner.managers.sharedInstance(store: store, sender: sender)
  }

  /// Follows a run to its end, and keeps its store open for writing until then.
  private func follow(_ run: SyncRun, _ id: String) async throws {
    let writer = try await stores.writer(id)
    hub.follow(run, of: writer.store, registry: targets) { [stores] in await stores.release(writer)
    }
  }

  /// The account whose requests fill a store: its owner's, or the current one.
  private func account(of owner: StoreOwner) async -> UserAccount? {
    guard let accounts = app.accounts else { return nil }
    if owner.isGlobal { return await accounts.current }
    return await accounts.accounts.first { StoreOwner($0) == owner }
  }

  private func run(_ ids: [String]) async throws -> InspectorReply {
    let id = try Self.syncId(ids[1])
    return try await withManager(of: ids[0]) { [self] writer, manager in
      try await follow(try await manager.reSync(id: id), ids[0])
      return .json(try await summary(of: id, in: writer.store), status: 202)
    }
  }

  private func removeGhosts(_ ids: [String]) async throws -> JSONValue {
    let id = try Self.syncId(ids[1])
    let counts = try await withManager(of: ids[0]) { _, manager in
      try await manager.cleanResyncGhostCounts(forId: id)
    }
    let soups = counts.bySoup.sorted { $0.key < $1.key }
    hub.sendChange(store: ids[0], soups: soups.map(\.key))
    return [
      "removed": .integer(Int64(counts.removed)),
      "bySoup": .object(JSONObject(soups.map { ($0.key, .integer(Int64($0.value))) })),
    ]
  }

  // MARK: Conflicts

  private func conflicts(_ id: String, _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("soup", "limit", "after", "before")
    let store = try await stores.open(id).store
    var name: String?
    if let soup = call.parameters["soup"] {
      name = try await store.read { try Self.soupName(soup, in: $0) }
    }
    let page = try ListPage(
      try await store.conflicts(in: name), call.parameters, "conflicts \(id) \(name ?? "")",
      limits: limits, key: \.id)
    var document = page.cursors
    document["conflicts"] = .array(page.items.map { Self.document(of: $0) })
    return .object(document)
  }

  /// A conflict as it is stored, with what resolves it.
  static func document(of conflict: SyncConflict) -> JSONValue {
    var document = conflict.json
    document["version"] = .string(version(of: conflict))
    document["resolutions"] = .array(resolutions(of: conflict).map { .string($0) })
    return .object(document)
  }

  private static func version(of conflict: SyncConflict) -> String {
    String(Digests.sha256Hex(JSONValue.object(conflict.json).text).prefix(32))
  }

  private static func resolutions(of conflict: SyncConflict) -> [String] {
    switch conflict.kind {
    case .inDoubt: return ["record", "create"]
    case .parentMissing:
      let parent = conflict.missingParent
      return (parent?.isRequired == false ? ["detach"] : [])
        + (parent?.entryId != nil ? ["recreateParent"] : []) + ["theirs"]
    default: return ["mine", "theirs", "values"]
    }
  }

  private func resolve(_ id: String, _ call: InspectorCall) async throws -> JSONValue {
    let body = try await call.body()
    guard let key = body["key"]?.string else {
      throw InspectorFailure("invalidRequest", "'key' names the conflict.")
    }
    if let failure = readOnlyFailure { throw failure }
    let found = try await stores.open(id).store.conflicts().first { $0.id == key }
    guard let conflict = found, Self.version(of: conflict) == body["version"]?.string else {
      throw InspectorFailure(
        "conflictChanged",
        "The conflict of \(key) is over, or not as it was listed. List the conflicts again.")
    }
    let resolution = try Self.resolution(of: conflict, body)
    try await stores.write(to: id) { try await $0.resolve(conflict, resolution) }
    hub.sendChange(store: id, soups: [conflict.soupName])
    return ["resolved": .string(key)]
  }

  private static func resolution(
    of conflict: SyncConflict, _ body: JSONObject
  ) throws(InspectorFailure) -> SyncResolution {
    let permitted = resolutions(of: conflict)
    let name = body["resolution"]?.string ?? ""
    guard permitted.contains(name) else {
      throw InspectorFailure(
        "invalidResolution",
        "The conflict of \(conflict.id) does not permit '\(name)'. Resolve it with "
          + "\(permitted.joined(separator: " or ")).")
    }
    switch name {
    case "mine": return .mine
    case "theirs": return .theirs
    case "create": return .create
    case "detach": return .detach
    case "recreateParent": return .recreateParent
    case "record":
      guard let record = body["record"]?.string, SalesforceId(record) != nil else {
        throw InspectorFailure(
          "invalidResolution",
          "'\(body["record"]?.string ?? "")' is not an id of the server. Give the id of a record there."
        )
      }
      return .record(record)
    default: return .values(try values(of: conflict, body["fields"]))
    }
  }

  /// Returns the values of a resolution with a side for each field, from the stored conflict.
  private static func values(
    of conflict: SyncConflict, _ choices: JSONValue?
  ) throws(InspectorFailure) -> JSONObject {
    guard let choices = choices?.object else {
      throw InspectorFailure("invalidRequest", "'fields' has a choice for each field.")
    }
    var values = JSONObject()
    for (name, choice) in choices {
      if let given = choice["value"] {
        values[name] = given
        continue
      }
      guard let field = conflict.fields.first(where: { $0.name == name }) else {
        throw InspectorFailure(
          "invalidResolution", "The conflict of \(conflict.id) has no field '\(name)'.")
      }
      switch choice.string {
      case "base": values[name] = field.base ?? .null
      case "mine": values[name] = field.mine ?? .null
      case "theirs": values[name] = field.theirs ?? .null
      default:
        throw InspectorFailure(
          "invalidResolution",
          "The choice of '\(name)' is \"base\", \"mine\", \"theirs\" or an object with a value.")
      }
    }
    return values
  }
}
