import SalesforceSDKCore
public import SmartStore

/// Hands out one ``SyncManager`` per store.
///
/// A program keeps one of these: two managers of one store would take each other's running syncs
/// for interrupted ones.
public actor SyncManagers {
  private let registry: SyncTargetRegistry
  private let environment: SyncEnvironment
  private var managers: [String: Entry] = [:]

  private struct Entry {
    let owner: StoreOwner
    let making: Task<SyncManager, any Error>
  }

  /// Makes an empty directory; every manager is made with this registry and environment.
  public init(registry: SyncTargetRegistry, environment: SyncEnvironment = SyncEnvironment()) {
    self.registry = registry
    self.environment = environment
  }

  /// The manager of a store, made on first use. Asked twice for the same store, it is the same
  /// manager.
  ///
  /// - Parameter sender: Used when the manager is made; it must act as the user of the store.
  /// - Throws: ``SyncError`` `store` if the manager cannot be made. The next call tries again.
  public func sharedInstance(
    store: SmartStore, sender: any SyncRequestSender
  ) async throws -> SyncManager {
    FeatureMarkers.shared.register("SY")
    let key = store.path
    if let known = managers[key] { return try await known.making.value }
    var userId: String?
    if case .user(_, let id, _) = store.owner { userId = id }
    let making = Task { [registry, environment, userId] in
      try await SyncManager(
        store: store, sender: sender, userId: userId, registry: registry,
        environment: environment)
    }
    managers[key] = Entry(owner: store.owner, making: making)
    do {
      return try await making.value
    } catch {
      // The next call tries again, unless somebody did so already.
      if managers[key]?.making == making { managers[key] = nil }
      throw error
    }
  }

  /// Closes and forgets the manager of a store, if there is one. On return it does nothing any
  /// more.
  public func removeSharedInstance(store: SmartStore) async {
    await remove { key, _ in key == store.path }
  }

  /// Closes and forgets the managers of all stores of an owner: to be called before a logout. Other
  /// users' managers and those of global stores go on.
  public func removeSharedInstances(owner: StoreOwner) async {
    await remove { _, entry in entry.owner == owner }
  }

  /// Closes and forgets the managers of an account's stores in all its communities.
  func removeSharedInstances(ofAccount owner: StoreOwner) async {
    guard case .user(let organization, let user, _) = owner else {
      return await removeSharedInstances(owner: owner)
    }
    await remove { _, entry in
      if case .user(organization, user, _) = entry.owner { true } else { false }
    }
  }

  /// Closes and forgets all managers.
  public func removeSharedInstances() async {
    await remove { _, _ in true }
  }

  private func remove(_ isRemoved: (String, Entry) -> Bool) async {
    let removed = managers.filter { isRemoved($0.key, $0.value) }
    for key in removed.keys { managers[key] = nil }
    for entry in removed.values {
      if let manager = try? await entry.making.value { await manager.close() }
    }
  }
}
