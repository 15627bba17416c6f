public import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
public import SalesforceSDKCore

/// The stores of one root folder: opens, lists and removes them.
///
/// All callers receive the same instance for a name and owner, until it is removed. A store belongs to its
/// owner, and does not depend on the current user. Create one manager for a root folder: the files of a store
/// can be open for writing only once.
///
/// A manager that is created with accounts takes part in their logouts: a logout is refused while a store of
/// the account, open or closed, has unsynced entries; otherwise it removes the account's stores.
///
/// A store that cannot be read is never deleted or replaced. Opening it throws an error with the reason and
/// leaves its files as they are; only the `remove…` calls delete files.
public actor SmartStoreManager {
  /// The folder with the stores of the app and of all accounts.
  public nonisolated let root: URL

  struct Key: Hashable {
    let name: String
    let owner: StoreOwner
  }

  let folders: StoreFolders
  let encryption: StoreEncryption
  let options: SmartStoreOptions
  /// Whether stores may be looked into by developers.
  nonisolated var supportsDevelopers: Bool { options.isDeveloperSupportEnabled }
  /// Whether an account may open its stores now.
  private let mayOpen: @Sendable (StoreOwner) async throws -> Bool
  let logger: SalesforceLogger
  private var stores: [Key: Presence] = [:]
  /// The number of logouts that began to close stores.
  var logouts = 0
  /// The stores that logouts keep closed to everything else, open to be counted.
  var heldStores: [Key: SmartStore] = [:]
  /// The accounts whose stores are held.
  var heldAccounts: [UserAccountIdentity: Int] = [:]

  private typealias Opening = Task<SmartStore, any Error>

  /// What there is of a store.
  private enum Presence: Equatable {
    /// It is open, or being opened; or it was closed by a caller that had received it.
    case open(Opening)
    /// It is being closed, and its files worked on or deleted. A request for it waits for the end
    /// of that, which gives the store back if it could not be closed.
    case ending(Task<Opening?, Never>)
  }

  /// Creates a manager of the stores of the app and of accounts.
  ///
  /// - Parameters:
  ///   - root: Created with the first store. Its last part is noted in the accounts: where it is renamed,
  ///     logouts need the manager of the former name, or `force`.
  ///   - encryption: How the files of all stores are encrypted.
  ///   - accounts: Whose logouts count and remove the stores. An account opens its stores while it is here,
  ///     with a session or without, and is not being logged out.
  public init(
    root: URL, encryption: StoreEncryption, options: SmartStoreOptions = SmartStoreOptions(),
    accounts: UserAccountManager
  ) {
    let name = Self.keeperName(of: root)
    let isReadOnly = options.isReadOnly
    var options = options
    if let lock = accounts.screenLock, lock.isStrict { options.screenLock = lock }
    self.init(root: root, encryption: encryption, options: options) { [weak accounts] owner in
      guard let identity = owner.identity, let accounts else { return false }
      return isReadOnly
        ? accounts.mayKeepData(of: identity)
        : try await accounts.startKeepingData(name, of: identity)
    }
    accounts.register(self)
  }

  /// Creates a manager of the stores of the app alone: a store of an account is refused, since no logout
  /// would count or remove it.
  ///
  /// - Parameters:
  ///   - root: Created with the first store.
  ///   - encryption: How the files of all stores are encrypted.
  public init(
    root: URL, encryption: StoreEncryption, options: SmartStoreOptions = SmartStoreOptions()
  ) {
    self.init(root: root, encryption: encryption, options: options) { owner in
      throw SmartStoreError(
        .accountsMissing,
        "Cannot open a store of an account: no logout would count or remove it. Make the manager with "
          + "accounts:.")
    }
  }

  /// Creates a manager for a program that keeps accounts of its own, without a `UserAccountManager`: the
  /// program calls ``removeAll(forUserAccount:)`` at a logout, after it has looked at
  /// ``SmartStore/unsyncedEntries()`` of each store.
  ///
  /// - Parameters:
  ///   - root: Created with the first store.
  ///   - encryption: How the files of all stores are encrypted.
  ///   - isLoggedIn: Whether an account may open its stores now. A store that is already open is returned in
  ///     any case.
  public init(
    root: URL, encryption: StoreEncryption, options: SmartStoreOptions = SmartStoreOptions(),
    isLoggedIn: @escaping @Sendable (StoreOwner) async -> Bool
  ) {
    self.init(
      root: root, encryption: encryption, options: options,
      mayOpen: { owner async throws in await isLoggedIn(owner) })
  }

  private init(
    root: URL, encryption: StoreEncryption, options: SmartStoreOptions,
    mayOpen: @escaping @Sendable (StoreOwner) async throws -> Bool
  ) {
    self.root = root
    self.folders = StoreFolders(root: root)
    self.encryption = encryption
    self.options = options
    self.mayOpen = mayOpen
    logger = options.logger
  }

  // MARK: Getting

  /// The store with this name, opened, and created if it does not exist.
  ///
  /// - Parameters:
  ///   - name: One part of a path. Without one, ``SmartStore/defaultStoreName``.
  ///   - owner: Without one there is no store: the result is nil and a warning is logged.
  /// - Returns: Nil also for an account that is not logged in, unless its store is open already.
  /// - Throws: ``SmartStoreError`` `invalidStoreName`, `accountsMissing`, and what opening reports:
  ///   `keyMissing`, `keyLocked`, `wrongKey`, `corruptKeyFile`, `corrupt`, `notADatabase`, `databaseMissing`,
  ///   `busyOtherProcess`, `diskFull`, `io`.
  public func shared(
    withName name: String? = nil, forUserAccount owner: StoreOwner?
  ) async throws -> SmartStore? {
    guard let owner else {
      logger.warning("No user is given, so there is no user store. Use a global store instead.")
      return nil
    }
    let key = Key(name: name ?? SmartStore.defaultStoreName, owner: owner)
    // An invalid name is no matter of accounts.
    _ = try folders.folder(of: key.name, owner: owner)
    if owner.isGlobal { return try await store(key) }
    while true {
      try await awaitEnd(key)
      if case .open(let opening)? = stores[key] { return try await opened(opening, key) }
      let before = logouts
      let mayOpen = try await mayOpen(owner)
      // A logout may have begun and ended since, or another caller opened the store.
      guard before == logouts, stores[key] == nil else { continue }
      guard mayOpen else {
        logger.warning("The account is not logged in, so its store is not opened.")
        return nil
      }
      return try await opened(try open(key), key)
    }
  }

  /// The app's store with this name, opened, and created if it does not exist.
  ///
  /// - Throws: As ``shared(withName:forUserAccount:)``.
  public func sharedGlobal(withName name: String? = nil) async throws -> SmartStore {
    try await store(Key(name: name ?? SmartStore.defaultStoreName, owner: .global))
  }

  func store(_ key: Key) async throws -> SmartStore {
    try await awaitEnd(key)
    if case .open(let known)? = stores[key] { return try await opened(known, key) }
    return try await opened(try open(key), key)
  }

  /// Begins to open a store.
  private func open(_ key: Key) throws -> Opening {
    let folder = try folders.folder(of: key.name, owner: key.owner)
    var options = options
    options.events = options.events.scoped(to: key.owner)
    let opening = Opening { [encryption, options, folders] in
      let store = try await SmartStore.open(
        name: key.name, owner: key.owner, at: folder, encryption: encryption, options: options)
      FeatureMarkers.shared.register(key.owner.isGlobal ? "GS" : "US")
      let count = await StoreQueue.run {
        if !options.isReadOnly { folders.sweep(key.owner) }
        // A folder that cannot be listed is no reason to fail: the store is open.
        return (try? folders.storeNames(of: key.owner).count) ?? 0
      }
      await options.events.store(.storeInit(of: key.owner, count: count, at: options.now()))
      return store
    }
    stores[key] = .open(opening)
    return opening
  }

  /// Waits until a store is open.
  private func opened(_ opening: Opening, _ key: Key) async throws -> SmartStore {
    do {
      return try await opening.value
    } catch {
      // The next request tries again, unless another did so already.
      if stores[key] == .open(opening) {
        stores[key] = nil
        logger.error("The store '\(key.name)' could not be opened.", error: error)
      }
      throw error
    }
  }

  /// The store with this name, if this manager has it open.
  package func openStore(named name: String, owner: StoreOwner) async -> SmartStore? {
    guard case .open(let opening)? = stores[Key(name: name, owner: owner)],
      let store = try? await opening.value, !store.isClosed
    else { return nil }
    return store
  }

  /// Waits until a store is neither being closed nor removed, by this manager or by who has it.
  private func awaitEnd(_ key: Key) async throws {
    while let presence = stores[key] {
      switch presence {
      case .ending: await awaitEnd(key, presence)
      case .open(let opening):
        let store = try? await opening.value
        guard stores[key] == presence else { continue }
        guard let store, store.isClosed else { return }
        try await store.close()
        if stores[key] == presence { stores[key] = nil }
      }
    }
  }

  /// Waits for one end of a store and lets it be opened again, unless another end has begun.
  private func awaitEnd(_ key: Key, _ presence: Presence) async {
    guard case .ending(let ending) = presence else { return }
    let unclosed = await ending.value
    if stores[key] == presence { stores[key] = unclosed.map { .open($0) } }
  }

  // MARK: Listing

  /// The names of an owner's stores, in no particular order. Nothing is opened or created.
  ///
  /// - Throws: ``SmartStoreError`` `io`, `invalidStoreName`.
  public nonisolated func allStoreNames(
    forUserAccount owner: StoreOwner?
  ) throws(SmartStoreError) -> [String] {
    guard let owner else { return [] }
    return try folders.storeNames(of: owner)
  }

  /// The names of the app's stores, in no particular order.
  public nonisolated func allGlobalStoreNames() throws(SmartStoreError) -> [String] {
    try folders.storeNames(of: .global)
  }

  /// Whether a store's database file exists. Nothing is opened or created.
  public nonisolated func storeExists(
    withName name: String = SmartStore.defaultStoreName, forUserAccount owner: StoreOwner
  ) throws(SmartStoreError) -> Bool {
    try folders.exists(name, owner: owner)
  }

  /// Whether a store of the app exists.
  public nonisolated func globalStoreExists(
    withName name: String = SmartStore.defaultStoreName
  ) throws(SmartStoreError) -> Bool {
    try folders.exists(name, owner: .global)
  }

  // MARK: Maintenance

  /// Closes a store and calls `work` with its files. Calls of the former instance fail from then on. A
  /// request for the store waits until `work` has returned, and gets a new instance.
  ///
  /// - Parameter work: Runs on a thread of its own; it must not request this store.
  /// - Throws: What `work` throws; ``SmartStoreError`` `invalidStoreName`, `io`, `readOnly`.
  public func withClosedStore<Result: Sendable>(
    named name: String = SmartStore.defaultStoreName, owner: StoreOwner,
    _ work: @escaping @Sendable (StoreMaintenance) throws -> Result
  ) async throws -> Result {
    try checkWritable("lend the files of \(name)")
    let key = Key(name: name, owner: owner)
    let files = StoreMaintenance(
      at: try folders.folder(of: name, owner: owner), name: name, owner: owner)
    return try await ended(key, end(key) { try work(files) })
  }

  /// Wraps the data-encryption keys of all stores under the root with this manager's key, for stores that the
  /// key of `old` opens so far (SS-35). No page is rewritten.
  ///
  /// Each store is changed completely or not at all, and one that this manager's key opens already
  /// is passed over, as is a plaintext one: after an interruption or a failure the call can be
  /// repeated. A store that fails keeps its key, and the others are changed all the same. To change
  /// the key of an app, make its manager with the new key and call this before any store is used.
  ///
  /// - Returns: How many stores there are.
  /// - Throws: ``SmartStoreError`` as ``StoreMaintenance/changeKey(from:to:)``, of the first store
  ///   that fails, after all others were changed, with the ``SmartStoreError/keyStates`` of all
  ///   stores; `readOnly`, and `io` if the stores could not be listed, when none was changed.
  @discardableResult
  public func changeKey(from old: some StoreKeyProvider) async throws -> Int {
    guard case .encrypted(let new) = encryption else { return 0 }
    try checkWritable("change their key")
    let all = try folders.allStores()
    var states: [StoreKeyState] = []
    var failure: SmartStoreError?
    for (name, owner) in all {
      let files = StoreMaintenance(
        at: try folders.folder(of: name, owner: owner), name: name, owner: owner)
      do {
        states.append(
          try await withClosedStore(named: name, owner: owner) { files in
            let isSealed = try files.hasKey()
            if isSealed { try files.changeKey(from: old, to: new) }
            return StoreKeyState(
              directory: files.paths.url, key: isSealed ? .new : .none, keepsBothKeys: false)
          })
      } catch {
        let error = SmartStoreError(grdb: error)
        failure = failure ?? error
        let inspection = files.inspection(old, new)
        let stated = error.keyStates.first
        let found = await StoreQueue.run { stated ?? inspection.state(after: error) }
        if let found { states.append(found) }
      }
    }
    if let failure { throw failure.stating(states) }
    return all.count
  }

  /// Encrypts all plaintext stores under the root with this manager's keys, each as by
  /// ``StoreMaintenance/encrypt(_:)``. Encrypted stores are skipped, so the call can be repeated after an
  /// interruption or a failure.
  ///
  /// - Returns: The number of encrypted stores.
  /// - Throws: ``SmartStoreError`` as ``StoreMaintenance/encrypt(_:)``, of the first store that fails, after all
  ///   others were encrypted; `readOnly`, and `io` if the stores could not be listed.
  @discardableResult
  public func encryptPlaintextStores() async throws -> Int {
    guard case .encrypted(let provider) = encryption else { return 0 }
    try checkWritable("encrypt them")
    var count = 0
    try await forEach(try folders.allStores()) { name, owner in
      let isDone = try await withClosedStore(named: name, owner: owner) { files in
        guard try !files.hasKey() else { return false }
        try files.encrypt(provider)
        return true
      }
      if isDone { count += 1 }
    }
    return count
  }

  // MARK: Removing

  /// Closes a store and deletes its files. Its instance fails from then on; a store that does not
  /// exist is not an error. A request for the store in that time gets a new one, once the old is gone.
  ///
  /// - Parameter owner: With a community, that community's store alone; without, the stores of this name in
  ///   every community of the account. Nil only logs a warning.
  /// - Throws: ``SmartStoreError`` `io`, `invalidStoreName`; `busyOtherProcess` if the store is open
  ///   for writing outside of this manager.
  public func removeShared(
    withName name: String = SmartStore.defaultStoreName, forUserAccount owner: StoreOwner?
  ) async throws {
    guard let owner else {
      logger.warning("No user is given, so no user store is removed.")
      return
    }
    try await forEach(try scopes(of: owner)) { scope in
      try await remove(Key(name: name, owner: scope))
    }
  }

  /// Closes a store of the app and deletes its files.
  public func removeSharedGlobal(
    withName name: String = SmartStore.defaultStoreName
  ) async throws {
    try await remove(Key(name: name, owner: .global))
  }

  /// Removes all stores of an account in all its communities, and those of no other account.
  public func removeAll(forUserAccount owner: StoreOwner?) async throws {
    guard let owner, !owner.isGlobal else {
      logger.warning("No user is given, so no user store is removed.")
      return
    }
    try await forEach(try scopes(of: owner.account)) { try await removeAll(of: $0) }
  }

  /// Deletes the key of an account's stores, in all its communities and under every root, for good: copies of
  /// the stores can never be opened again. A logout does it by itself; a program that keeps accounts of its own
  /// calls it after ``removeAll(forUserAccount:)``.
  ///
  /// - Throws: ``SmartStoreError`` `keyLocked`, `keyMissing`, `wrongKey`, `corruptKeyFile`, `io`; `readOnly`.
  public func eraseKey(forUserAccount owner: StoreOwner) async throws {
    guard case .encrypted(let provider) = encryption, !owner.isGlobal else { return }
    try checkWritable("erase the key of an account")
    try await StoreQueue.run {
      Result { () throws(SmartStoreError) in try provider.eraseKey(of: owner.account) }
    }.get()
  }

  /// Removes all stores of the app.
  public func removeAllGlobal() async throws {
    try await removeAll(of: .global)
  }

  /// Closes all stores, whose instances fail from then on. Their files stay.
  ///
  /// - Throws: The first failure, after all others were closed too.
  public func close() async throws {
    let endings = stores.keys.map { key in (key, end(key) {}) }
    try await forEach(endings) { key, ending in try await ended(key, ending) }
  }

  private func removeAll(of owner: StoreOwner) async throws {
    try await forEach(try keys(of: owner)) { try await remove($0) }
  }

  /// An owner's stores, with those that are being opened and may have no file yet, and those that lost
  /// their database and have others.
  func keys(of owner: StoreOwner) throws -> [Key] {
    let known = stores.keys.filter { $0.owner == owner }.map(\.name)
    return Set(try folders.folderNames(of: owner) + known).map { Key(name: $0, owner: owner) }
  }

  /// Does the work for each of the items, also after a failure; the first failure is thrown at last.
  func forEach<Items: Sequence>(
    _ items: Items, _ work: (Items.Element) async throws -> Void
  ) async throws {
    var failure: (any Error)?
    for item in items {
      do {
        try await work(item)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  func remove(_ key: Key) async throws {
    // Checked before anything is closed.
    _ = try folders.folder(of: key.name, owner: key.owner)
    try checkWritable("remove \(key.name)")
    try await ended(
      key,
      end(key) { [folders, encryption] in
        try folders.delete(key.name, owner: key.owner)
        guard case .encrypted(let provider) = encryption else { return }
        // What is remembered of a store that is gone does no harm.
        try? StoreKeySource(provider, for: StoreIdentity(name: key.name, owner: key.owner)).forget()
      })
  }

  /// Closes a store, if it is open. Its files stay.
  func close(_ key: Key) async throws { try await ended(key, end(key) {}) }

  /// Refuses what changes files, if this manager only reads them.
  private func checkWritable(_ work: String) throws(SmartStoreError) {
    guard options.isReadOnly else { return }
    throw SmartStoreError(.readOnly, "This manager only reads stores; it does not \(work).")
  }

  /// The end of a store that has begun.
  private struct Ending<Result: Sendable> {
    let work: Task<Result, any Error>
    let presence: Presence
  }

  /// Begins to close a store, after whatever is happening to it, and then to work on its files.
  private func end<Result: Sendable>(
    _ key: Key, _ work: @escaping @Sendable () throws -> Result
  ) -> Ending<Result> {
    let before = stores[key]
    let closing = Task { () -> (unclosed: Opening?, result: Swift.Result<Void, any Error>) in
      let opening: Opening? =
        switch before {
        case .open(let opening)?: opening
        case .ending(let earlier)?: await earlier.value
        case nil: nil
        }
      // One that could not be opened has nothing to close.
      guard let store = try? await opening?.value else { return (nil, .success(())) }
      do {
        try await store.close()
        return (nil, .success(()))
      } catch {
        return (opening, .failure(error))
      }
    }
    let working = Task {
      try await closing.value.result.get()
      return try await StoreQueue.run { Swift.Result { try work() } }.get()
    }
    // Its failure is thrown to the caller that began it.
    let ending = Presence.ending(
      Task {
        _ = await working.result
        return await closing.value.unclosed
      })
    stores[key] = ending
    return Ending(work: working, presence: ending)
  }

  /// Waits for an end, and lets the store be opened again unless another end has begun.
  private func ended<Result: Sendable>(
    _ key: Key, _ ending: Ending<Result>
  ) async throws -> Result {
    let result = await ending.work.result
    await awaitEnd(key, ending.presence)
    return try result.get()
  }

  /// The owners whose stores are meant by `owner`.
  func scopes(of owner: StoreOwner) throws -> [StoreOwner] {
    guard case .user(let organization, let user, nil) = owner else { return [owner] }
    let onDisk = try folders.scopes(ofOrganization: organization, user: user)
    let open = stores.keys.map(\.owner)
      .filter { $0.isAccount(organization: organization, user: user) }
    return Array(Set(onDisk + open + [owner]))
  }
}
