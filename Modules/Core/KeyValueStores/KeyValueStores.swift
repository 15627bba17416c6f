import Foundation
import SalesforceSDKCommon
import Synchronization

/// The key-value stores of an installation: those of each user, which a logout removes, and those of the app.
///
/// ```swift
/// let stores = KeyValueStores(folders: folders, keys: keys, accounts: accounts)
/// let drafts = try stores.store(named: "drafts", for: account)
/// ```
///
/// All callers get the same object for an open store. A logout removes the user's stores in every
/// community, including stores that were never opened.
public final class KeyValueStores: Sendable {
  private let folders: UserFolders
  private let mayKeepData: @Sendable (UserAccountIdentity) throws(EncryptionError) -> Bool
  private let keys: any EncryptionKeyProvider
  private let open = Mutex<[URL: KeyValueEncryptedFileStore]>([:])

  /// Creates an object for the stores of the app and of users; reads and creates no files yet.
  ///
  /// - Parameters:
  ///   - keys: Provides the keys with the label ``KeyLabel/keyValueStores``, of the app and of each user.
  ///   - accounts: The accounts whose logouts remove the users' stores.
  public init(
    folders: UserFolders, keys: any EncryptionKeyProvider, accounts: UserAccountManager
  ) {
    self.folders = folders
    self.keys = keys
    mayKeepData = { [weak accounts] identity throws(EncryptionError) in
      accounts?.mayKeepData(of: identity) ?? false
    }
    accounts.register(KeyValueKeeper(stores: self, folders: folders))
  }

  /// Creates an object for stores of the app only: a store of a user is refused, since no logout would remove
  /// it.
  ///
  /// - Parameter keys: Provides the key with the label ``KeyLabel/keyValueStores``.
  public init(folders: UserFolders, keys: any EncryptionKeyProvider) {
    self.folders = folders
    self.keys = keys
    mayKeepData = { _ throws(EncryptionError) in
      throw EncryptionError(
        .accountsMissing,
        "Cannot open a user's key-value store: no logout would remove it. Make KeyValueStores with "
          + "accounts:.")
    }
  }

  // MARK: - Stores of a user

  /// Returns the store of that user and community; it is created if it does not exist.
  ///
  /// - Parameter name: 1 to 96 letters, digits and `_`.
  /// - Throws: ``EncryptionError`` `invalidStoreName`; `accountsMissing`; `removed` if the account
  ///   is not logged in or is being logged out; the errors of the key provider; as
  ///   ``KeyValueEncryptedFileStore/init(at:key:)``.
  public func store(
    named name: String, for account: UserAccount
  ) throws(EncryptionError) -> KeyValueEncryptedFileStore {
    try checkAccount(account)
    let place = place(of: account)
    let scope = [
      UserFolders.part(account.organizationId), UserFolders.part(account.userId),
      place.deletingLastPathComponent().lastPathComponent,
    ]
    let store = try store(name, in: place, scope: scope, user: account.identity)
    do throws(EncryptionError) {
      try checkAccount(account)
    } catch {
      // A logout that began since may have removed the stores before this one was made.
      try removeFolder(place.appending(path: name))
      throw error
    }
    return store
  }

  private func checkAccount(_ account: UserAccount) throws(EncryptionError) {
    guard try mayKeepData(account.identity) else {
      throw EncryptionError(
        .removed, "Cannot open a key-value store of \(account): it is logged out. Log in first.")
    }
  }

  /// Returns the names of a user's stores, sorted.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func storeNames(for account: UserAccount) throws(EncryptionError) -> [String] {
    try names(in: place(of: account))
  }

  /// Removes a store of a user with all its values, even if it is damaged.
  ///
  /// - Throws: ``EncryptionError`` `invalidStoreName` or `inputOutput`.
  public func removeStore(
    named name: String, for account: UserAccount
  ) throws(EncryptionError) {
    try remove(name, in: place(of: account))
  }

  /// Removes all stores of a user in the community of `account`.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func removeAllStores(for account: UserAccount) throws(EncryptionError) {
    try removeFolder(place(of: account))
  }

  /// Removes all stores of a user, in every community.
  fileprivate func removeAll(of identity: UserAccountIdentity) throws(EncryptionError) {
    let user = folders.folder(of: identity)
    for name in try KeyValueFolder(url: user, isListed: false).names() {
      try removeFolder(user.appending(path: name).appending(path: Self.folderName))
    }
  }

  /// Deletes the keys of a user, so that no copy of the stores can be opened.
  fileprivate func eraseKeys(of identity: UserAccountIdentity) throws(EncryptionError) {
    try keys.eraseKeys(of: identity)
  }

  // MARK: - Stores of the app

  /// Returns a store without an owner; it is created if there is none.
  ///
  /// - Throws: As ``store(named:for:)``.
  public func globalStore(
    named name: String
  ) throws(EncryptionError) -> KeyValueEncryptedFileStore {
    try store(name, in: globalPlace, scope: [], user: nil)
  }

  /// Returns the names of the app's stores, sorted.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func globalStoreNames() throws(EncryptionError) -> [String] { try names(in: globalPlace) }

  /// Removes a store of the app with all its values.
  ///
  /// - Throws: As ``removeStore(named:for:)``.
  public func removeGlobalStore(named name: String) throws(EncryptionError) {
    try remove(name, in: globalPlace)
  }

  /// Removes all stores of the app.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func removeAllGlobalStores() throws(EncryptionError) { try removeFolder(globalPlace) }

  // MARK: - Places

  private static let folderName = "key_value_stores"

  private func place(of account: UserAccount) -> URL {
    folders.communityFolder(of: account).appending(path: Self.folderName)
  }

  private var globalPlace: URL { folders.root.appending(path: Self.folderName) }

  private func store(
    _ name: String, in place: URL, scope: [String], user: UserAccountIdentity?
  ) throws(EncryptionError) -> KeyValueEncryptedFileStore {
    try Self.check(name)
    let url = place.appending(path: name)
    if let store = open.withLock({ $0[url] }), DurableFile(url).exists { return store }
    // Of two who open it at once both get a whole store; one of the objects stays.
    let store = try KeyValueEncryptedFileStore(
      at: url, KeyValueBinding(name: name, scope: scope, user: user, keys: keys))
    open.withLock { $0[url] = store }
    return store
  }

  private func names(in place: URL) throws(EncryptionError) -> [String] {
    try KeyValueFolder(url: place, isListed: false).names()
      .filter { Self.isValid($0) }.sorted()
  }

  private func remove(_ name: String, in place: URL) throws(EncryptionError) {
    try Self.check(name)
    try removeFolder(place.appending(path: name))
  }

  private func removeFolder(_ url: URL) throws(EncryptionError) {
    open.withLock { open in
      open = open.filter { !$0.key.path.hasPrefix(url.path + "/") && $0.key != url }
    }
    guard DurableFile(url).exists else { return }
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      throw EncryptionError(.inputOutput, "\(url.path) cannot be removed.", cause: error)
    }
  }

  private static func check(_ name: String) throws(EncryptionError) {
    guard isValid(name) else {
      throw EncryptionError(
        .invalidStoreName, "Invalid store name: it has 1 to 96 letters, digits and underscores.")
    }
  }

  private static func isValid(_ name: String) -> Bool {
    (1...96).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == 0x5f
      }
  }
}

/// Removes the stores of a user at the logout, in every community.
private struct KeyValueKeeper: AccountDataKeeper {
  let stores: KeyValueStores
  let folders: UserFolders

  var keeperName: String { "KeyValueStores:\(folders.root.lastPathComponent)" }
  var keeperId: String { "\(keeperName) \(ObjectIdentifier(stores))" }

  func erase(_ account: UserAccount) async throws {
    let removal = Result { try stores.removeAll(of: account.identity) }
    // Also if a file could not be removed: without its key it is nothing.
    try stores.eraseKeys(of: account.identity)
    try removal.get()
  }
}
