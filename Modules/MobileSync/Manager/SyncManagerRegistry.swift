import SalesforceSDKCore
public import SmartStore

/// The sync managers of a program: one ``SyncManager`` per store.
///
/// A program creates one registry and gets every manager from it, because a store accepts one
/// manager at a time.
public actor SyncManagerRegistry {
  private let registry: SyncTargetRegistry
  private let environment: SyncEnvironment
  private var managers: [String: Entry] = [:]
  /// Managers that were removed and are winding down.
  private var closing: [String: Task<Void, Never>] = [:]

  private struct Entry {
    let store: SmartStore
    let making: Task<SyncManager, any Error>
    var owner: StoreOwner { store.owner }
  }

  /// Creates an empty registry; every manager is created with these targets and this environment.
  public init(registry: SyncTargetRegistry, environment: SyncEnvironment = SyncEnvironment()) {
    self.registry = registry
    self.environment = environment
  }

  /// Returns the manager of a store, which is created on first use. A manager that was closed, or
  /// whose store was closed and opened again, is replaced.
  ///
  /// - Parameter sender: Sends the requests of a new manager; it must act as the user of the store.
  /// - Throws: ``SyncError`` `storeInUse` if a manager outside of this registry has the store;
  ///   `store` if the manager cannot be created. The next call tries again.
  public func sharedInstance(
    store: SmartStore, sender: any SyncRequestSender
  ) async throws -> SyncManager {
    FeatureMarkers.shared.register("SY")
    let key = store.path
    while let known = managers[key] {
      let manager = try await known.making.value
      let isOver = manager.isClosed || (manager.store !== store && manager.store.isClosed)
      if !isOver { return manager }
      if managers[key]?.making == known.making { forget(key) }
    }
    var userId: String?
    if case .user(_, let id, _) = store.owner { userId = id }
    let making = Task { [registry, environment, userId, earlier = closing[key]] in
      await earlier?.value
      return try await SyncManager(
        store: store, sender: sender, userId: userId, registry: registry,
        environment: environment)
    }
    managers[key] = Entry(store: store, making: making)
    do {
      return try await making.value
    } catch {
      // The next call tries again, unless another one did so already.
      if managers[key]?.making == making { managers[key] = nil }
      throw error
    }
  }

  /// Closes and removes the manager of a store, if there is one. The manager does nothing after
  /// this call returns.
  public func removeSharedInstance(store: SmartStore) async {
    await remove { key, _ in key == store.path }
  }

  /// Closes and removes the managers of all stores of an owner. Managers of other users and of
  /// global stores continue. A logout does not require this call: closing a store closes its
  /// manager.
  public func removeSharedInstances(owner: StoreOwner) async {
    await remove { _, entry in entry.owner == owner }
  }

  /// Closes and removes all managers.
  public func removeSharedInstances() async {
    await remove { _, _ in true }
  }

  private func remove(_ isRemoved: (String, Entry) -> Bool) async {
    let removed = managers.filter { isRemoved($0.key, $0.value) }.keys
    for key in removed { forget(key) }
    for key in removed {
      guard let task = closing[key] else { continue }
      await task.value
      if closing[key] == task { closing[key] = nil }
    }
  }

  /// Removes a store's manager and begins to close it. The next manager waits until it is closed.
  private func forget(_ key: String) {
    guard let entry = managers.removeValue(forKey: key) else { return }
    let earlier = closing[key]
    closing[key] = Task {
      await earlier?.value
      // One that could not be made needs no close.
      if let manager = try? await entry.making.value { await manager.close() }
    }
  }
}
