import MobileSync
import SalesforceSDKCommon
import SmartStore

/// Records that were changed on both sides and wait for a decision.
extension MobileSyncPlugin {
  /// Lists the conflicts of a soup, or of all soups of the store.
  func conflicts(_ message: HybridMessage) async throws -> HybridValue {
    let soup = try message.text("soupName")
    let conflicts = try await store(message).conflicts(in: soup)
    return HybridValue(.array(conflicts.map { .object($0.json) }))
  }

  /// Resolves the conflict that `key` names; the next sync up uploads the result.
  func resolveConflict(_ message: HybridMessage) async throws -> HybridValue {
    let key = try message.requiredText("key")
    let resolution = try resolution(message)
    let store = try await store(message)
    guard let conflict = try await store.conflicts().first(where: { $0.id == key }) else {
      throw HybridError(
        .invalidArguments, "Cannot resolve \(key): it is not in conflict. List the conflicts again."
      )
    }
    try await store.resolve(conflict, resolution)
    return .none
  }

  private func store(_ message: HybridMessage) async throws -> SmartStore {
    try await host.store(try StoreSelection(message), for: message.call)
  }

  /// Reads the resolution: the name of one without values, or an object with `values` or `record`.
  private func resolution(_ message: HybridMessage) throws(HybridError) -> SyncResolution {
    let value = message["resolution"]
    switch value?.string {
    case "mine": return .mine
    case "theirs": return .theirs
    case "create": return .create
    case "detach": return .detach
    case "recreateParent": return .recreateParent
    default: break
    }
    if let values = value?["values"]?.value.object { return .values(values) }
    if let record = value?["record"]?.string { return .record(record) }
    throw message.invalid(
      "resolution",
      "one of mine, theirs, create, detach and recreateParent, or an object with values or record")
  }
}
