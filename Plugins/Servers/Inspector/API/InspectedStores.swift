import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// The stores that the page shows, and how they are opened: for reading, so that another process may write them, and
/// for writing when an action needs it. A store that the app has open is used as it is.
actor InspectedStores {
  /// A store that is open to be read.
  struct Opened: Sendable {
    let id: String
    let store: SmartStore
    /// The reason why entries cannot be changed; nil if they can.
    let readOnlyFailure: InspectorFailure?
  }

  /// The right to write to a store, to be given back with ``release(_:)``.
  struct Writer: Sendable {
    let id: String
    let store: SmartStore
  }

  private let app: InspectedApp
  private let isReadOnly: Bool
  /// The same stores, only read.
  private let readers: SmartStoreManager
  /// The number of writers of each store that was opened for them.
  private var writers: [String: Int] = [:]

  init(_ app: InspectedApp, isReadOnly: Bool) {
    self.app = app
    self.isReadOnly = isReadOnly
    readers = app.stores.readOnly()
  }

  func close() async { try? await readers.close() }

  // MARK: Listing

  /// The stores on disk: those of the accounts, the current one's first, then the app's.
  func found() async throws -> [SmartStoreManager.FoundStore] {
    var owners: [StoreOwner] = []
    if let accounts = app.accounts {
      let current = await accounts.current?.identity
      let all = await accounts.accounts
      owners = all.filter { $0.identity == current }.map(StoreOwner.init)
      owners += all.filter { $0.identity != current }.map(StoreOwner.init)
    }
    var stores: [SmartStoreManager.FoundStore] = []
    for owner in owners + [.global] { stores += try app.stores.foundStores(of: owner) }
    return stores
  }

  func found(_ id: String) async throws -> SmartStoreManager.FoundStore {
    guard let store = try await found().first(where: { $0.id == id }) else {
      throw InspectorFailure("notFound", "There is no such store. Reload the list of stores.")
    }
    return store
  }

  // MARK: Opening

  /// Opens a store by its id.
  ///
  /// - Throws: ``InspectorFailure`` `notFound`, `databaseMissing`; `SmartStoreError`.
  func open(_ id: String) async throws -> Opened { try await open(try await found(id)) }

  func open(_ found: SmartStoreManager.FoundStore) async throws -> Opened {
    try checkDatabase(found)
    if let store = await app.stores.openStore(named: found.name, owner: found.owner) {
      return Opened(
        id: found.id, store: store, readOnlyFailure: isReadOnly ? Self.readOnlyFailure : nil)
    }
    do {
      let store = try await get(found, readers)
      return Opened(id: found.id, store: store, readOnlyFailure: writeFailure(of: found))
    } catch let error as SmartStoreError where error.code == .readOnly {
      // Either an operation must be finished first, or the entries are files, which only their
      // writer can read.
      let store = try await get(found, app.stores)
      return Opened(
        id: found.id, store: store, readOnlyFailure: isReadOnly ? Self.readOnlyFailure : nil)
    }
  }

  /// The reason why a store that is not open here cannot be written; nil if it can.
  private func writeFailure(of found: SmartStoreManager.FoundStore) -> InspectorFailure? {
    if isReadOnly { return Self.readOnlyFailure }
    do {
      try app.stores.checkWritable(found.name, owner: found.owner)
      return nil
    } catch {
      return InspectorFailure(error)
    }
  }

  static var readOnlyFailure: InspectorFailure {
    InspectorFailure(
      "readOnly", "This inspector was started read-only.",
      remedy: "Start it again with write access to change data.")
  }

  private func checkDatabase(_ found: SmartStoreManager.FoundStore) throws(InspectorFailure) {
    guard !found.hasDatabase else { return }
    throw InspectorFailure(
      "databaseMissing", "Store '\(found.name)' has a key but no database file.")
  }

  // MARK: Writing

  /// Opens a store for writing, unless it is open already.
  ///
  /// - Throws: ``InspectorFailure`` `readOnly`; `SmartStoreError` `busyOtherProcess`.
  func writer(_ id: String) async throws -> Writer {
    let found = try await found(id)
    try checkDatabase(found)
    if isReadOnly { throw Self.readOnlyFailure }
    let known = await app.stores.openStore(named: found.name, owner: found.owner)
    let isOwn = app.closesStores && (writers[id] != nil || known == nil)
    if isOwn { writers[id, default: 0] += 1 }
    do {
      return Writer(id: isOwn ? id : "", store: try await get(found, app.stores))
    } catch {
      if isOwn { await release(id, nil) }
      throw error
    }
  }

  /// Releases the right to write. The last release of a store that was opened for it closes the
  /// store, if the app requests it.
  func release(_ writer: Writer) async {
    if !writer.id.isEmpty { await release(writer.id, writer.store) }
  }

  private func release(_ id: String, _ store: SmartStore?) async {
    let count = (writers[id] ?? 1) - 1
    writers[id] = count > 0 ? count : nil
    // One that could not be closed is closed with the app's stores.
    if count == 0 { try? await store?.close() }
  }

  /// Runs work that writes to a store.
  func write<Value: Sendable>(
    to id: String, _ work: @Sendable (SmartStore) async throws -> Value
  ) async throws -> Value {
    let writer = try await writer(id)
    do {
      let value = try await work(writer.store)
      await release(writer)
      return value
    } catch {
      await release(writer)
      throw error
    }
  }

  // MARK: Parts

  private func get(
    _ found: SmartStoreManager.FoundStore, _ manager: SmartStoreManager
  ) async throws -> SmartStore {
    guard
      let store = try await manager.shared(withName: found.name, forUserAccount: found.owner)
    else {
      throw InspectorFailure(
        "notLoggedIn", "The account of store '\(found.name)' has no session. Log in again.")
    }
    return store
  }

  /// Checks a store's files.
  func verify(_ found: SmartStoreManager.FoundStore) async throws -> StoreReport {
    try await app.stores.verify(found.name, owner: found.owner)
  }
}

extension SmartStoreManager.FoundStore {
  /// The id in paths: a name may hold a slash or be `..`.
  var id: String { InspectorIds.store(name, owner) }

  /// The id of the account; nil for a store of the app.
  var ownerId: String? {
    guard case .user(let organization, let user, _) = owner else { return nil }
    return UserAccountIdentity(userId: user, organizationId: organization).inspectorId
  }
}

/// Ids in paths, which consist of letters, digits, `_` and `-`.
enum InspectorIds {
  static func store(_ name: String, _ owner: StoreOwner) -> String {
    switch owner {
    case .global: return Base64URL.encode("/\(name)".utf8)
    case .user(let organization, let user, let community):
      let scope = [long(organization), long(user), community ?? ""].joined(separator: "/")
      return Base64URL.encode("\(scope)/\(name)".utf8)
    }
  }

  static func store(_ store: SmartStore) -> String { Self.store(store.name, store.owner) }

  static func account(_ identity: UserAccountIdentity) -> String {
    Base64URL.encode("\(long(identity.organizationId))/\(long(identity.userId))".utf8)
  }

  private static func long(_ id: String) -> String { SalesforceId.longForm(of: id) ?? id }
}

extension UserAccountIdentity {
  /// The id of the account in paths.
  var inspectorId: String { InspectorIds.account(self) }
}
