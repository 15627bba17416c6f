public import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// An encrypted cache of responses to GET requests, for clients that are given it (CO-188, BX-50).
///
/// ```swift
/// var options = RestClient.Options()
/// options.cache = ResponseCache(stores: keyValueStores, accounts: accounts)
/// let client = RestClient(account: account, accounts: accounts, transport: transport, options: options)
/// ```
///
/// No client has a cache by default. Each user has entries of their own, in a key-value store that the logout removes;
/// entries are found by the whole address. The cache follows `Cache-Control`, `Expires`, `Vary`, `ETag` and
/// `Last-Modified`: it uses a response without a request only while the server declares it fresh, and otherwise lets the
/// server confirm it. A request that changes data removes the responses of its path. An entry that cannot be read counts
/// as missing, and a full disk costs the entry, not the request.
///
/// The responses of streams and downloads are not cached. The limits apply to each process.
public actor ResponseCache {
  /// The maximum of all entries of a user in bytes, decrypted. Default: 20 MB.
  public nonisolated let maxBytes: Int
  /// The maximum of one entry in bytes. Default: 1 MB.
  public nonisolated let maxEntryBytes: Int

  static let storeName = "responses"
  private static let indexKey = "index"

  private let stores: KeyValueStores
  private let accounts: UserAccountManager?
  private let now: @Sendable () -> Date
  private var indexes: [UserAccountIdentity?: CacheIndex] = [:]

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - stores: The stores that keep the entries, made with the same accounts.
  ///   - accounts: The accounts of the clients; nil for clients without an account.
  ///   - now: The clock. Default: the system's.
  public init(
    stores: KeyValueStores, accounts: UserAccountManager?, maxBytes: Int = 20 << 20,
    maxEntryBytes: Int = 1 << 20, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.stores = stores
    self.accounts = accounts
    self.maxBytes = max(0, maxBytes)
    self.maxEntryBytes = max(0, min(maxEntryBytes, maxBytes))
    self.now = now
  }

  /// Removes all entries of a user.
  ///
  /// - Parameter account: Nil for clients without an account.
  /// - Throws: ``EncryptionError`` `inputOutput`.
  public func removeAll(of account: UserAccount?) throws(EncryptionError) {
    indexes[account?.identity] = nil
    if let account {
      try stores.removeStore(named: Self.storeName, for: account)
    } else {
      try stores.removeGlobalStore(named: Self.storeName)
    }
  }

  // MARK: Entries

  func entry(for url: String, of account: UserAccount?) -> StoredResponse? {
    do {
      guard let bytes = try store(of: account).readData(forKey: url, maxBytes: maxEntryBytes),
        let stored = StoredResponse(bytes), stored.url == url
      else { return nil }
      try index(of: account) { $0.touch(url) }
      return stored
    } catch {
      CoreLogger.log.warning("a stored response cannot be read: \(error)")
      return nil
    }
  }

  func insert(_ entry: StoredResponse, of account: UserAccount?) {
    let bytes = entry.bytes
    guard bytes.count <= maxEntryBytes else { return remove([entry.url], of: account) }
    do {
      let store = try store(of: account)
      // The first use of the index removes values that it does not list.
      try index(of: account) { _ in }
      try store.saveData(bytes, forKey: entry.url)
      var evicted: [String] = []
      try index(of: account, isSaved: true) {
        $0.insert(entry.url, size: bytes.count)
        evicted = $0.evict(to: maxBytes)
      }
      for url in evicted { try store.removeValue(forKey: url) }
      try checkLogout(of: account)
    } catch {
      CoreLogger.log.warning("a response is not stored: \(error)")
    }
  }

  /// Removes the entry of an address, with all its queries.
  func removePath(of url: String, of account: UserAccount?) {
    let path = url.prefix { $0 != "?" }
    var urls: [String] = []
    do {
      try index(of: account) { index in urls = index.keys.filter { $0.prefix { $0 != "?" } == path }
      }
    } catch {
      CoreLogger.log.warning("stored responses cannot be listed: \(error)")
    }
    remove(urls, of: account)
  }

  private func remove(_ urls: [String], of account: UserAccount?) {
    guard !urls.isEmpty else { return }
    do {
      let store = try store(of: account)
      for url in urls { try store.removeValue(forKey: url) }
      try index(of: account, isSaved: true) { index in for url in urls { index.remove(url) } }
    } catch {
      CoreLogger.log.warning("a stored response is not removed: \(error)")
    }
  }

  /// The time, in milliseconds since 1970.
  nonisolated var time: Int64 { SalesforceDate(now()).milliseconds }

  // MARK: Stores

  private func store(
    of account: UserAccount?
  ) throws(EncryptionError) -> KeyValueEncryptedFileStore {
    guard let account else { return try stores.globalStore(named: Self.storeName) }
    return try stores.store(named: Self.storeName, for: account)
  }

  /// A logout that has begun since may have removed the store before this entry created it again.
  private func checkLogout(of account: UserAccount?) throws(EncryptionError) {
    guard let account, let accounts, !accounts.mayKeepData(of: account.identity) else { return }
    try removeAll(of: account)
  }

  /// Changes the index of a user, which is read on first use. Values that it does not list, left by a process that ended
  /// early, are removed then.
  private func index(
    of account: UserAccount?, isSaved: Bool = false, _ change: (inout CacheIndex) -> Void
  ) throws(EncryptionError) {
    let identity = account?.identity
    var index: CacheIndex
    if let known = indexes[identity] {
      index = known
    } else {
      let store = try store(of: account)
      index =
        try store.readData(forKey: Self.indexKey, maxBytes: 4 << 20).map(CacheIndex.init)
        ?? CacheIndex()
      let listed = Set(index.keys)
      for key in try store.allKeys() where key != Self.indexKey && !listed.contains(key) {
        try store.removeValue(forKey: key)
      }
    }
    change(&index)
    indexes[identity] = index
    if isSaved { try store(of: account).saveData(index.bytes, forKey: Self.indexKey) }
  }
}
