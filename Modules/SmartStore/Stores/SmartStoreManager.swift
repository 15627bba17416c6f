public import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
public import SalesforceSDKCore

/// A manager of the stores of one root folder: opens, lists and removes them.
///
/// All callers receive the same instance for a name and owner, until it is removed. A store belongs to its
/// owner, and does not depend on the current user. Create one manager for a root folder: a process can have the
/// files of a store open for writing only once, while other processes may write to them as well.
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
  /// Whether developers may inspect the stores.
  nonisolated var supportsDevelopers: Bool { options.isDeveloperSupportEnabled }
  /// Whether an account may open its stores now.
  private let mayOpen: @Sendable (StoreOwner) async throws -> Bool
  let logger: SalesforceLogger
  private var stores: [Key: Presence] = [:]
  /// The number of logouts that have begun to close stores.
  var logouts = 0
  /// The stores that a logout has locked, open so that it can count their entries.
  var heldStores: [Key: SmartStore] = [:]
  /// The number of logouts that lock each account's stores.
  var heldAccounts: [UserAccountIdentity: Int] = [:]

  private typealias Opening = Task<SmartStore, any Error>

  /// The state of a store that is open or about to be closed.
  private enum Presence: Equatable {
    /// The store is open or is being opened, or a caller that had received it has closed it.
    case open(Opening)
    /// The store is being closed, and its files are in maintenance or being deleted. A request for
    /// the store waits for the end, which returns the store if it could not be closed.
    case ending(Task<Opening?, Never>)
  }

  /// Creates a manager of the stores of the app and of accounts.
  ///
  /// - Parameters:
  ///   - root: Created with the first store. Its last part is noted in the accounts: where it is renamed,
  ///     logouts need the manager of the former name, or `force`.
  ///   - encryption: The encryption of the files of all stores.
  ///   - accounts: The accounts whose logouts count and remove the stores. An account may open its
  ///     stores as long as it exists, with or without a session, and is not being logged out.
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

  /// Creates a manager that has only stores of the app. It refuses the store of an account, because
  /// no logout would count or remove it.
  ///
  /// - Parameters:
  ///   - root: The root folder. It is created with the first store.
  ///   - encryption: The encryption of the files of all stores.
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

  /// Creates a manager for a program that manages its accounts without a `UserAccountManager`. At a
  /// logout the program calls ``removeAll(forUserAccount:)``, after it has checked
  /// ``SmartStore/unsyncedEntries()`` of each store.
  ///
  /// - Parameters:
  ///   - root: The root folder. It is created with the first store.
  ///   - encryption: The encryption of the files of all stores.
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

  /// Returns the store with this name. Opens it, and creates it if it does not exist.
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
    // An invalid name is an error for every account.
    _ = try folders.folder(of: key.name, owner: owner)
    if owner.isGlobal { return try await store(key) }
    while true {
      try await awaitEnd(key)
      if case .open(let opening)? = stores[key] { return try await opened(opening, key) }
      let before = logouts
      let mayOpen = try await mayOpen(owner)
      // In the meantime a logout may have run, or another caller may have opened the store.
      guard before == logouts, stores[key] == nil else { continue }
      guard mayOpen else {
        logger.warning("The account is not logged in, so its store is not opened.")
        return nil
      }
      return try await opened(try open(key), key)
    }
  }

  /// Returns the app's store with this name. Opens it, and creates it if it does not exist.
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

  /// Starts opening a store.
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
        // A folder that cannot be listed is not a failure: the store is open.
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
      // The next request tries again, unless another request has done so already.
      if stores[key] == .open(opening) {
        stores[key] = nil
        logger.error("The store '\(key.name)' could not be opened.", error: error)
      }
      throw error
    }
  }

  /// Returns the store with this name, if this manager has it open.
  package func openStore(named name: String, owner: StoreOwner) async -> SmartStore? {
    guard case .open(let opening)? = stores[Key(name: name, owner: owner)],
      let store = try? await opening.value, !store.isClosed
    else { return nil }
    return store
  }

  /// Waits until a store is neither being closed nor being removed, by this manager or by a caller
  /// that has the store.
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

  /// Waits until one closing of a store has ended, and lets the store be opened again unless
  /// another closing has begun.
  private func awaitEnd(_ key: Key, _ presence: Presence) async {
    guard case .ending(let ending) = presence else { return }
    let unclosed = await ending.value
    if stores[key] == presence { stores[key] = unclosed.map { .open($0) } }
  }

  // MARK: Listing

  /// Returns the names of an owner's stores, in no particular order. Opens and creates nothing.
  ///
  /// - Throws: ``SmartStoreError`` `io`, `invalidStoreName`.
  public nonisolated func allStoreNames(
    forUserAccount owner: StoreOwner?
  ) throws(SmartStoreError) -> [String] {
    guard let owner else { return [] }
    return try folders.storeNames(of: owner)
  }

  /// Returns the names of the app's stores, in no particular order.
  public nonisolated func allGlobalStoreNames() throws(SmartStoreError) -> [String] {
    try folders.storeNames(of: .global)
  }

  /// Whether a store's database file exists. Opens and creates nothing.
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

  /// Closes a store and calls `work` with its files. Calls to the previous instance fail from then
  /// on. A request for the store waits until `work` has returned, and receives a new instance.
  ///
  /// - Parameter work: Runs on a thread of its own; it must not request this store.
  /// - Throws: The error of `work`; ``SmartStoreError`` `invalidStoreName`, `io`, `readOnly`.
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

  /// Wraps the data-encryption keys of all stores under the root with this manager's key, for
  /// stores that the key of `old` has opened so far. Rewrites no page.
  ///
  /// Each store is changed completely or not at all. Plaintext stores, and stores that this
  /// manager's key already opens, are skipped, so the call can be repeated after an interruption or
  /// a failure. A store that fails keeps its key, and the other stores are still changed. To change
  /// the key of an app, create its manager with the new key and call this before any store is used.
  ///
  /// - Returns: The number of stores.
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

  /// Closes a store and deletes its files. Calls to its instance fail from then on; a store that
  /// does not exist is not an error. A request for the store at the same time waits for the
  /// removal, and receives a new store.
  ///
  /// - Parameter owner: With a community, only that community's store is removed; without one, the
  ///   stores of this name in every community of the account. Nil only logs a warning.
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

  /// Removes all stores of an account in all its communities.
  public func removeAll(forUserAccount owner: StoreOwner?) async throws {
    guard let owner, !owner.isGlobal else {
      logger.warning("No user is given, so no user store is removed.")
      return
    }
    try await forEach(try scopes(of: owner.account)) { try await removeAll(of: $0) }
  }

  /// Deletes the key of an account's stores permanently, in all its communities and under every
  /// root: copies of the stores can never be opened again. A logout calls this itself; a program
  /// that manages its own accounts calls it after ``removeAll(forUserAccount:)``.
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

  /// Closes all stores. Calls to their instances fail from then on. The files stay.
  ///
  /// - Throws: The first failure, after all other stores were closed.
  public func close() async throws {
    let endings = stores.keys.map { key in (key, end(key) {}) }
    try await forEach(endings) { key, ending in try await ended(key, ending) }
  }

  private func removeAll(of owner: StoreOwner) async throws {
    try await forEach(try keys(of: owner)) { try await remove($0) }
  }

  /// Returns the keys of an owner's stores, including stores that are being opened and may have no
  /// file yet, and stores whose database is missing but that have other files.
  func keys(of owner: StoreOwner) throws -> [Key] {
    let known = stores.keys.filter { $0.owner == owner }.map(\.name)
    return Set(try folders.folderNames(of: owner) + known).map { Key(name: $0, owner: owner) }
  }

  /// Runs the work for each item, also after a failure, and then throws the first failure.
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
        // A stale record of a removed store does no harm.
        try? StoreKeySource(provider, for: StoreIdentity(name: key.name, owner: key.owner)).forget()
      })
  }

  /// Closes a store, if it is open. Its files stay.
  func close(_ key: Key) async throws { try await ended(key, end(key) {}) }

  /// Refuses to change files if this manager is read-only.
  private func checkWritable(_ work: String) throws(SmartStoreError) {
    guard options.isReadOnly else { return }
    throw SmartStoreError(.readOnly, "This manager only reads stores; it does not \(work).")
  }

  /// A closing of a store that has begun.
  private struct Ending<Result: Sendable> {
    let work: Task<Result, any Error>
    let presence: Presence
  }

  /// Starts closing a store and then working on its files, after any earlier operation on the
  /// store.
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
      // A store that could not be opened has nothing to close.
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
    // The failure is thrown to the caller that began the closing.
    let ending = Presence.ending(
      Task {
        _ = await working.result
        return await closing.value.unclosed
      })
    stores[key] = ending
    return Ending(work: working, presence: ending)
  }

  /// Waits for a closing, and lets the store be opened again unless another closing has begun.
  private func ended<Result: Sendable>(
    _ key: Key, _ ending: Ending<Result>
  ) async throws -> Result {
    let result = await ending.work.result
    await awaitEnd(key, ending.presence)
    return try result.get()
  }

  /// Returns the owners whose stores `owner` includes.
  func scopes(of owner: StoreOwner) throws -> [StoreOwner] {
    guard case .user(let organization, let user, nil) = owner else { return [owner] }
    let onDisk = try folders.scopes(ofOrganization: organization, user: user)
    let open = stores.keys.map(\.owner)
      .filter { $0.isAccount(organization: organization, user: user) }
    return Array(Set(onDisk + open + [owner]))
  }
}
