import SalesforceSDKCommon
import SalesforceSDKCore

// Key-value stores.
extension InspectorResources {
  static let keyValueRoutes: [InspectorRoute] = [
    ("GET", "keyvalues", { me, _, _ in .json(try await me.keyValueList()) }),
    ("GET", "keyvalues/*/keys", { me, call, ids in .json(try await me.keys(ids[0], call)) }),
    ("GET", "keyvalues/*/keys/*", { me, call, ids in .json(try await me.value(ids, call)) }),
  ]

  /// The longest value that is shown.
  private static let maxValueBytes = 64 << 20

  /// A key-value store on disk.
  private struct FoundKeyValues: Sendable {
    let name: String
    /// Nil: the app's.
    let account: UserAccount?

    var id: String {
      Base64URL.encode("\(account?.identity.inspectorId ?? "")/\(name)".utf8)
    }

    func open(_ stores: KeyValueStores) throws -> KeyValueEncryptedFileStore {
      if let account { return try stores.store(named: name, for: account) }
      return try stores.globalStore(named: name)
    }
  }

  private func foundKeyValues() async throws -> [FoundKeyValues] {
    guard let stores = app.keyValueStores else { return [] }
    var found: [FoundKeyValues] = []
    for account in await app.accounts?.accounts ?? [] {
      found += try stores.storeNames(for: account).map {
        FoundKeyValues(name: $0, account: account)
      }
    }
    return try found
      + stores.globalStoreNames().map { FoundKeyValues(name: $0, account: nil) }
  }

  private func openKeyValues(_ id: String) async throws -> KeyValueEncryptedFileStore {
    guard let stores = app.keyValueStores,
      let found = try await foundKeyValues().first(where: { $0.id == id })
    else {
      throw InspectorFailure("notFound", "There is no such key-value store. Reload the list.")
    }
    return try found.open(stores)
  }

  private func keyValueList() async throws -> JSONValue {
    guard let stores = app.keyValueStores else { return ["stores": []] }
    let documents: [JSONValue] = try await foundKeyValues().map { found in
      var document: JSONObject = [
        "id": .string(found.id), "name": .string(found.name),
        "owner": found.account.map { .string($0.identity.inspectorId) } ?? .null,
        "storeVersion": .null, "count": .null, "error": .null,
      ]
      do {
        let store = try found.open(stores)
        document["storeVersion"] = .integer(Int64(store.storeVersion))
        // One of version 1 does not list its keys.
        if store.storeVersion > 1 { document["count"] = .integer(Int64(try store.count())) }
      } catch {
        document["error"] = InspectorFailure(error).document
      }
      return .object(document)
    }
    return ["stores": .array(documents)]
  }

  private func keys(_ id: String, _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("search", "limit", "after", "before")
    let store = try await openKeyValues(id)
    let search = call.parameters["search"]
    let keys = try store.allKeys()
      .filter { key in search.map { key.contains($0) } ?? true }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let page = try ListPage(
      keys, call.parameters, "keys \(id) \(search ?? "")", limits: limits, key: \.self)
    var document = page.cursors
    document["keys"] = .array(
      page.items.map { key in
        // A value that cannot be read has no size here; its own page says why.
        let bytes = (try? store.readData(forKey: key, maxBytes: Self.maxValueBytes))?.count
        return [
          "id": .string(Base64URL.encode(key.utf8)), "key": .string(key),
          "bytes": bytes.map { .integer(Int64($0)) } ?? .null,
        ]
      })
    return .object(document)
  }

  private func value(_ ids: [String], _ call: InspectorCall) async throws -> JSONValue {
    try call.parameters.check("from", "length")
    let from = try call.parameters.number("from", in: 0...Int(Int32.max), default: 0)
    let length = try call.parameters.number(
      "length", in: 0...(1 << 18), default: limits.textCharacters)
    let store = try await openKeyValues(ids[0])
    guard let name = Base64URL.decode(ids[1]), let key = String(validating: name, as: UTF8.self),
      let bytes = try store.readData(forKey: key, maxBytes: Self.maxValueBytes)
    else { throw InspectorFailure("notFound", "There is no such value. Reload the list of keys.") }
    var document: JSONObject = [
      "key": .string(key), "bytes": .integer(Int64(bytes.count)), "from": .integer(Int64(from)),
    ]
    if let text = String(validating: bytes, as: UTF8.self) {
      let part = text.unicodeScalars.dropFirst(from).prefix(length)
      document["form"] = "text"
      document["length"] = .integer(Int64(part.count))
      document["content"] = .string(String(String.UnicodeScalarView(part)))
    } else {
      let part = bytes.dropFirst(from).prefix(length)
      document["form"] = "bytes"
      document["length"] = .integer(Int64(part.count))
      document["content"] = .string(Hex.encode(part))
    }
    return .object(document)
  }
}
