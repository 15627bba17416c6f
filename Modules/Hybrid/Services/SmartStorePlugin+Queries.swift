import SalesforceSDKCommon
import SmartStore

extension SmartStorePlugin {
  func querySoup(
    _ message: HybridMessage, _ session: HybridSession.ID
  ) async throws -> HybridValue {
    let name = try soupName(message)
    let spec = try querySpec(requiredSpec(message), soupName: name)
    guard spec.queryType != .smart else {
      throw HybridError(
        .invalidArguments, "Smart queries can only be run using runSmartQuery")
    }
    return try await openCursor(spec, message, session)
  }

  func runSmartQuery(
    _ message: HybridMessage, _ session: HybridSession.ID
  ) async throws -> HybridValue {
    let json = try requiredSpec(message)
    // The guard comes first: a spec of another type may lack what smart queries do not need.
    guard json["queryType"]?.string == QuerySpec.QueryType.smart.rawValue else {
      throw HybridError(.invalidArguments, "runSmartQuery can only run smart queries")
    }
    return try await openCursor(try querySpec(json, soupName: nil), message, session)
  }

  func moveCursor(
    _ message: HybridMessage, _ session: HybridSession.ID
  ) async throws -> HybridValue {
    let selection = try StoreSelection(message)
    let cursor = try cursors.cursor(
      try cursorId(message), in: selection, of: session, user: message.call.userNumber)
    guard let index = try message.integer("index") else {
      throw message.invalid("index", "a whole number")
    }
    let page = cursor.nearestPage(to: index)
    let text = try await pageText(
      try await host.store(selection, for: message.call), cursor.spec, page)
    return cursor.json(page: page, entries: text)
  }

  func closeCursor(
    _ message: HybridMessage, _ session: HybridSession.ID
  ) async throws -> HybridValue {
    cursors.close(try cursorId(message), in: try StoreSelection(message), of: session)
    return Self.done
  }

  /// Reads a spec. An order without an order path means the index path, as before release 3.3 (HT-25); a page size
  /// may be the text of a number.
  func querySpec(_ json: JSONSlice, soupName: String?) throws -> QuerySpec {
    var value = json.value
    let isMissing = { (key: String) in json[key]?.isNull ?? true }
    if !isMissing("order"), isMissing("orderPath"), json["queryType"]?.string != "smart" {
      value["orderPath"] = value["indexPath"]
    }
    if let size = json["pageSize"], let number = HybridMessage.wholeNumber(size) {
      value["pageSize"] = .integer(number)
    }
    return try QuerySpec(json: value, soupName: soupName)
  }

  private func requiredSpec(_ message: HybridMessage) throws(HybridError) -> JSONSlice {
    guard let json = try message.object("querySpec") else {
      throw message.invalid("querySpec", "an object")
    }
    return json
  }

  private func cursorId(_ message: HybridMessage) throws(HybridError) -> Int64 {
    guard let id = try message.integer("cursorId") else {
      throw HybridError(.invalidArguments, "Invalid cursor id: null. Open a cursor first.")
    }
    return id
  }

  private func openCursor(
    _ spec: QuerySpec, _ message: HybridMessage, _ session: HybridSession.ID
  ) async throws -> HybridValue {
    let selection = try StoreSelection(message)
    let store = try await host.store(selection, for: message.call)
    // The total and the page belong to one snapshot.
    let (total, text) = try await store.read { reader in
      (try reader.count(using: spec), try reader.queryAsString(using: spec))
    }
    let entries = try await checked(text) { try await store.query(using: spec) }
    let cursor = cursors.open(
      spec, total: total, in: selection, of: session, user: message.call.userNumber)
    return cursor.json(page: 0, entries: entries)
  }

  private func pageText(
    _ store: SmartStore, _ spec: QuerySpec, _ page: Int
  ) async throws -> [UInt8] {
    let text = try await store.queryAsString(using: spec, startingFromPageIndex: page)
    return try await checked(text) {
      try await store.query(using: spec, startingFromPageIndex: page)
    }
  }

  /// The text of a page, if it is JSON. A plaintext store may hold an entry that is none, which the decoded
  /// results show as null (SS-150); as text it would break the frame.
  private func checked(
    _ text: String, otherwise decoded: () async throws -> [JSONValue]
  ) async throws -> [UInt8] {
    let bytes = Array(text.utf8)
    let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
    if (try? JSONSlice(parsing: bytes, limits: limits)) != nil { return bytes }
    return Array(JSONValue.array(try await decoded()).text.utf8)
  }
}
