import SalesforceSDKCommon
import SmartStore

extension SmartStorePlugin {
  func retrieve(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    let ids = try entryIds(message) ?? []
    return list(try await store(message).retrieve(usingSoupEntryIds: ids, fromSoupNamed: name))
  }

  /// Writes entries as their text stands in the frame, and returns them as written.
  ///
  /// - Parameter limit: The longest result in bytes. If it is longer nothing is written: a page that received
  ///   an error would write the entries again.
  func upsert(_ message: HybridMessage, _ limit: Int) async throws -> HybridValue {
    let name = try soupName(message)
    guard let entries = try message.array("entries") else {
      throw message.invalid("entries", "an array of objects")
    }
    let path = try message.text("externalIdPath")
    let stored = try await store(message).inTransaction { transaction in
      let stored = try transaction.upsertReturningEntries(
        slices: entries, soup: name, externalIdPath: path)
      guard stored.count < limit else {
        throw HybridError(
          .tooLarge,
          "Cannot upsert into soup \(name): the stored entries have \(stored.count) bytes, more than a response can hold. Nothing was written. Upsert fewer entries at once."
        )
      }
      return stored
    }
    return HybridValue(checkedJSON: stored)
  }

  func remove(_ message: HybridMessage) async throws -> HybridValue {
    let name = try soupName(message)
    if let ids = try entryIds(message) {
      try await store(message).remove(entryIds: ids, forSoupNamed: name)
    } else if let json = try message.object("querySpec") {
      let spec = try querySpec(json, soupName: name)
      try await store(message).removeEntries(usingQuerySpec: spec, forSoupNamed: name)
    } else {
      throw message.invalid("entryIds", "an array of entry ids, or querySpec an object")
    }
    return Self.done
  }

  private func list(_ entries: [JSONSlice]) -> HybridValue {
    var writer = JSONWriter(capacity: entries.reduce(2) { $0 + $1.utf8.count + 1 })
    writer.beginArray()
    for entry in entries { writer.raw(entry) }
    writer.endArray()
    return HybridValue(writer)
  }

  /// The ids of a message, whole numbers or the texts of such; nil if it has none.
  private func entryIds(_ message: HybridMessage) throws(HybridError) -> [Int64]? {
    guard let elements = try message.array("entryIds") else { return nil }
    var ids: [Int64] = []
    for element in elements {
      guard let id = HybridMessage.wholeNumber(element) else {
        throw message.invalid("entryIds", "an array of whole numbers")
      }
      ids.append(id)
    }
    return ids
  }
}
