import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

// The server's own status, stores, soups and words.
extension InspectorResources {
  static let storeRoutes: [InspectorRoute] = [
    ("GET", "status", { me, _, _ in .json(await me.status()) }),
    (
      "GET", "stores",
      { me, _, _ in
        var stores: [JSONValue] = []
        for found in try await me.stores.found() { stores.append(await me.document(of: found)) }
        return .json(["stores": .array(stores)])
      }
    ),
    (
      "GET", "stores/*",
      { me, _, ids in .json(await me.document(of: try await me.stores.found(ids[0]))) }
    ),
    ("POST", "stores/*/verify", { me, _, ids in .json(try await me.verify(ids[0])) }),
    ("GET", "stores/*/soups", { me, call, ids in .json(try await me.soups(ids[0], call)) }),
    ("GET", "stores/*/words", { me, _, ids in .json(try await me.words(ids[0])) }),
    ("GET", "stores/*/unsynced", { me, _, ids in .json(try await me.unsynced(ids[0])) }),
    ("POST", "stores/*/query", { me, call, ids in try await me.query(ids[0], call) }),
  ]

  /// Beyond this, what no index counts is not counted.
  static let maxRead: Int64 = 5_000
  /// Beyond this, the entries of soups are not counted (SS-221).
  static let maxCountedSoups = SmartStoreInspector.maxCountedSoups

  // MARK: Status

  private func status() async -> JSONValue {
    let current = await app.accounts?.current?.identity.inspectorId
    let recorder = app.recorder
    func source(_ isThere: Bool, _ what: String) -> JSONValue {
      if isThere { return .null }
      return InspectorFailure(
        "readOnly", "The \(what) of another process cannot be seen.",
        remedy:
          "Open the inspector of the app itself, with a recorder: 'import FieldforceInspector'."
      ).document
    }
    return [
      "interface": 1, "product": .string("Fieldforce \(SDKVersion.current)"),
      "application": .string(app.name),
      "process": .integer(Int64(ProcessInfo.processInfo.processIdentifier)),
      "startTime": .integer(startTime),
      "access": access.isReadOnly ? "readOnly" : "readWrite",
      "accessError": readOnlyFailure?.document ?? .null,
      "currentAccount": current.map { .string($0) } ?? .null,
      "sources": [
        "logs": source(recorder?.seesLogs == true, "log records"),
        "requests": source(recorder?.seesRequests == true, "requests"),
        "analytics": source(recorder?.seesEvents == true, "events"),
        "syncs": app.syncTargets == nil
          ? InspectorFailure("readOnly", "The app has given no targets of syncs.").document : .null,
      ],
      "limits": [
        "requestBytes": .integer(Int64(limits.requestBytes)),
        "pageEntries": .integer(Int64(limits.pageEntries)),
        "cellCharacters": .integer(Int64(limits.cellCharacters)),
        "textCharacters": .integer(Int64(limits.textCharacters)),
        "queryMilliseconds": .integer(Int64(limits.queryTime / .milliseconds(1))),
        "searchMilliseconds": .integer(Int64(limits.searchTime / .milliseconds(1))),
      ],
    ]
  }

  // MARK: Stores

  /// A store as far as it can be read. One that cannot says why.
  func document(of found: SmartStoreManager.FoundStore) async -> JSONValue {
    var document: JSONObject = [
      "id": .string(found.id), "name": .string(found.name), "label": .string(found.label),
      "owner": found.ownerId.map { .string($0) } ?? .null, "status": "open",
      "encrypted": .bool(found.isEncrypted), "bytes": .null, "soups": .null, "unsynced": .null,
      "conflicts": .null, "writable": false, "readOnlyError": .null, "error": .null,
    ]
    do {
      let opened = try await stores.open(found)
      let (soups, unsynced) = try await opened.store.read { reader in
        let names = reader.allSoupNames()
        var unsynced: Int? = 0
        for name in names where !SyncManager.ownsSoup(named: name) {
          let count = try reader.inspectedUnsynced(ofSoupNamed: name, limit: Self.maxRead)
          unsynced = count.flatMap { count in unsynced.map { $0 + count } }
        }
        return (names.count, unsynced)
      }
      document["bytes"] = .integer(found.bytes)
      document["soups"] = .integer(Int64(soups))
      document["unsynced"] = unsynced.map { .integer(Int64($0)) } ?? .null
      document["conflicts"] = .integer(Int64(try await opened.store.conflicts().count))
      document["writable"] = .bool(opened.readOnlyFailure == nil)
      document["readOnlyError"] = opened.readOnlyFailure?.document ?? .null
    } catch {
      let failure = InspectorFailure(error)
      document["status"] = .string(Self.status(of: failure))
      document["error"] = failure.document
      for name in ["bytes", "soups", "unsynced", "conflicts"] { document[name] = .null }
    }
    return .object(document)
  }

  private static func status(of failure: InspectorFailure) -> String {
    if failure.name == "databaseMissing" { return "missing" }
    return failure.status == 423 ? "locked" : "damaged"
  }

  private func verify(_ id: String) async throws -> JSONValue {
    let found = try await stores.found(id)
    let report = try await stores.verify(found)
    // A store whose structure is damaged is not read any further.
    let isReadable = report.findings.allSatisfy {
      ![.page, .log, .structure, .soup].contains($0.kind)
    }
    var doubles: [DoubledRecord] = []
    if isReadable, let targets = app.syncTargets {
      doubles = try await stores.open(found).store.doubledRecords(registry: targets)
    }
    return report.document(with: doubles)
  }

  // MARK: Soups

  /// The id of a soup in paths.
  static func soupId(_ name: String) -> String { Base64URL.encode(name.utf8) }

  /// The name of the soup with this id.
  ///
  /// - Throws: ``InspectorFailure`` `unknownSoup`.
  static func soupName(
    _ id: String, in reader: borrowing StoreReader
  ) throws(InspectorFailure) -> String {
    guard let bytes = Base64URL.decode(id), let name = String(validating: bytes, as: UTF8.self),
      reader.soupExists(forName: name)
    else {
      throw InspectorFailure("unknownSoup", "There is no such soup. Reload the list of soups.")
    }
    return name
  }

  private func soups(_ id: String, _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("soup")
    let wanted = call.parameters["soup"]
    let opened = try await stores.open(id)
    let conflicts = Dictionary(grouping: try await opened.store.conflicts(), by: \.soupName)
      .mapValues(\.count)
    let documents = try await withTimeLimit(limits.queryTime) {
      try await opened.store.read { reader in
        let names = try wanted.map { [try Self.soupName($0, in: reader)] } ?? reader.allSoupNames()
        return try names.map { name in
          try Self.document(
            ofSoupNamed: name, conflicts: conflicts[name] ?? 0,
            isCounted: names.count <= Self.maxCountedSoups, in: reader)
        }
      }
    }
    return ["soups": .array(documents)]
  }

  private static func document(
    ofSoupNamed name: String, conflicts: Int, isCounted: Bool, in reader: borrowing StoreReader
  ) throws -> JSONValue {
    let indexes: [JSONValue] = try reader.indices(forSoupNamed: name).map { index in
      [
        "path": .string(index.path), "type": .string(index.type.rawValue),
        "columnName": index.columnName.map { .string($0) } ?? .null,
      ]
    }
    var document: JSONObject = [
      "id": .string(soupId(name)), "name": .string(name),
      "table": .string(try reader.inspectedTable(ofSoupNamed: name)), "count": .null,
      "bytes": .null, "unsynced": .null, "conflicts": .null,
      "metadata": .bool(SyncManager.ownsSoup(named: name)), "indexes": .array(indexes),
    ]
    guard isCounted else { return .object(document) }
    document["count"] = .integer(try reader.inspectedCount(ofSoupNamed: name))
    document["bytes"] =
      try reader.inspectedBytes(ofSoupNamed: name, limit: maxRead).map { .integer($0) } ?? .null
    document["unsynced"] =
      try reader.inspectedUnsynced(ofSoupNamed: name, limit: maxRead)
      .map { .integer(Int64($0)) } ?? .null
    document["conflicts"] = .integer(Int64(conflicts))
    return .object(document)
  }

  private func words(_ id: String) async throws -> JSONValue {
    let store = try await stores.open(id).store
    let words = try await store.read { reader in
      var words = ["select", "from", "where", "group by", "order by"]
      for name in reader.allSoupNames() {
        words.append("{\(name)}")
        let paths =
          [SmartStore.soupPath, SmartStore.soupEntryId, SmartStore.lastModifiedDate]
          + (try reader.indices(forSoupNamed: name).map(\.path))
        words += paths.map { "{\(name):\($0)}" }
      }
      return words
    }
    return ["words": .array(words.map { .string($0) })]
  }

  private func unsynced(_ id: String) async throws -> JSONValue {
    let store = try await stores.open(id).store
    let soups = try await withTimeLimit(limits.queryTime) {
      try await store.read { reader in
        var soups: [JSONValue] = []
        for name in reader.allSoupNames() where !SyncManager.ownsSoup(named: name) {
          guard let states = try reader.inspectedStates(ofSoupNamed: name, limit: Self.maxRead),
            !states.isEmpty
          else { continue }
          func count(_ state: InspectedEntriesRequest.State) -> JSONValue {
            .integer(Int64(states[state] ?? 0))
          }
          soups.append([
            "id": .string(Self.soupId(name)), "name": .string(name), "created": count(.created),
            "updated": count(.updated), "deleted": count(.deleted),
            "total": .integer(Int64(states.values.reduce(0, +))),
          ])
        }
        return soups
      }
    }
    return ["soups": .array(soups)]
  }
}
