import SalesforceSDKCommon
import SmartStore

extension SmartStorePlugin {
  func allStores(_ message: HybridMessage) async throws -> HybridValue {
    let owner = StoreOwner(try await host.account(for: message.call))
    return list(try host.stores.allStoreNames(forUserAccount: owner), isGlobal: false)
  }

  func allGlobalStores() throws -> HybridValue {
    list(try host.stores.allGlobalStoreNames(), isGlobal: true)
  }

  func removeStore(_ message: HybridMessage) async throws -> HybridValue {
    let selection = try StoreSelection(message)
    if selection.isGlobal {
      try await host.stores.removeSharedGlobal(withName: selection.name)
    } else {
      let owner = StoreOwner(try await host.account(for: message.call))
      try await host.stores.removeShared(withName: selection.name, forUserAccount: owner)
    }
    return Self.done
  }

  func removeAllStores(_ message: HybridMessage) async throws -> HybridValue {
    let owner = StoreOwner(try await host.account(for: message.call))
    try await host.stores.removeAll(forUserAccount: owner)
    return Self.done
  }

  func removeAllGlobalStores() async throws -> HybridValue {
    try await host.stores.removeAllGlobal()
    return Self.done
  }

  func showInspector(_ message: HybridMessage) async throws -> HybridValue {
    guard let show = host.showInspector else {
      throw HybridError(
        .notAvailable,
        "Cannot show the inspector: this host has none. Use 'fieldforce store query'.")
    }
    try await show(try await store(message))
    return .none
  }

  private func list(_ names: [String], isGlobal: Bool) -> HybridValue {
    HybridValue(
      .array(
        names.sorted().map { ["isGlobalStore": .bool(isGlobal), "storeName": .string($0)] }))
  }
}
