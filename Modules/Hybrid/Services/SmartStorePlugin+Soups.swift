import SalesforceSDKCommon
import SmartStore

extension SmartStorePlugin {
  func databaseSize(_ message: HybridMessage) async throws -> HybridValue {
    HybridValue(.integer(Int64(clamping: try await store(message).databaseSize())))
  }

  func registerSoup(_ message: HybridMessage) async throws -> HybridValue {
    let spec = try soupSpec(in: message)
    let name = try spec?.name ?? soupName(message)
    let indexes = try indexes(message)
    try await store(message).registerSoup(
      withSpec: spec ?? SoupSpec(name: name), withIndices: indexes)
    return HybridValue(.string(name))
  }

  func removeSoup(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    try await store(message).removeSoup(name)
    return Self.done
  }

  func clearSoup(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    try await store(message).clearSoup(name)
    return Self.done
  }

  func soupExists(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    return HybridValue(.bool(try await store(message).soupExists(forName: name)))
  }

  func soupIndexSpecs(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    let indexes = try await store(message).indices(forSoupNamed: name)
    return HybridValue(.array(indexes.map(\.json)))
  }

  func soupSpec(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    return HybridValue(try await store(message).soupSpec(forSoupNamed: name).json)
  }

  func alterSoup(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    let indexes = try indexes(message)
    let reIndexData = try message.flag("reIndexData")
    let store = try await store(message)
    if let spec = try soupSpec(in: message) {
      try await store.alterSoup(
        named: name, soupSpec: spec, indexSpecs: indexes, reIndexData: reIndexData)
    } else {
      try await store.alterSoup(named: name, indexSpecs: indexes, reIndexData: reIndexData)
    }
    return HybridValue(.string(name))
  }

  func reIndexSoup(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    let paths = try (message.array("paths") ?? []).map { path throws(HybridError) in
      guard let text = path.string else { throw message.invalid("paths", "an array of texts") }
      return text
    }
    try await store(message).reIndexSoup(named: name, indexPaths: paths)
    return HybridValue(.string(name))
  }

  // MARK: Arguments

  func soupName(_ message: HybridMessage) throws(HybridError) -> String {
    guard let name = try message.text("soupName") else {
      throw HybridError(.invalidArguments, "Bogus soup name: null. Give soupName, a text.")
    }
    return name
  }

  private func soupSpec(in message: HybridMessage) throws -> SoupSpec? {
    try message.object("soupSpec").map { try SoupSpec(json: $0.value) }
  }

  private func indexes(_ message: HybridMessage) throws -> [SoupIndex] {
    try (message.array("indexes") ?? []).map { try SoupIndex(json: $0.value) }
  }
}
