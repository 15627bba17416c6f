import Crypto
public import Foundation
import SalesforceSDKCommon
import SmartStore

/// The stores of `Tests/Golden/format-1` in one folder, which the first opening for writing moves to the
/// present format.
public struct FormatOneStores: Sendable {
  /// A store by the word that its entries have.
  public struct Store: Sendable {
    public let word: String
    /// Nil for a store that is opened by its folder alone.
    let owner: StoreOwner?
  }

  public static let all = [
    Store(
      word: "mine",
      owner: .user(organizationId: "00DFf0000000001MAA", userId: "005Ff0000000001IAA")),
    Store(word: "app", owner: .global), Store(word: "fixed", owner: nil),
    Store(word: "crashed", owner: nil),
  ]

  private static let soup = "notes"
  private let folder: URL

  /// - Parameter folder: Holds the golden `state`, `fixed` and `crashed`.
  public init(in folder: URL) { self.folder = folder }

  /// The keys that the golden state folder has in its secret store.
  private var provider: SecretStoreKeyProvider {
    let state = folder.appending(path: "state")
    return SecretStoreKeyProvider(
      FileSecretStore(in: state, masterKey: KeyFile(state.appending(path: "master.key"))))
  }

  /// Opens a store, has `body` use it, and closes it.
  private func with<T>(
    _ store: Store, _ body: (SmartStore) async throws -> T
  ) async throws -> T {
    guard let owner = store.owner else {
      let key = SymmetricKey(data: Data(repeating: 7, count: 32))
      let opened = try await SmartStore.open(
        at: folder.appending(path: store.word), encryption: .encrypted(FixedKeyProvider(key)))
      let result = try await body(opened)
      try await opened.close()
      return result
    }
    let manager = SmartStoreManager(
      root: folder.appending(path: "state/stores"), encryption: .encrypted(provider),
      isLoggedIn: { _ in true })
    guard let opened = try await manager.shared(forUserAccount: owner) else {
      throw CocoaError(.fileNoSuchFile)
    }
    let result = try await body(opened)
    try await manager.close()
    return result
  }

  /// Opens a store, which moves it, adds an entry and closes it.
  public func move(_ store: Store) async throws {
    _ = try await with(store) { store in
      try await store.upsert(entries: [["k": "new", "n": 9]], forSoupNamed: Self.soup)
    }
  }

  /// The words of a store's entries, after a check that found nothing.
  public func words(_ store: Store) async throws -> [String] {
    let (report, entries) = try await with(store) { store in
      let entries = try await store.query(
        using: .buildAllQuerySpec(soupName: Self.soup, orderPath: "n", pageSize: 100))
      return (try await store.verify(), entries)
    }
    return report.findings.map(\.description) + entries.compactMap { $0["k"]?.string }
  }

  /// The words of a store that was moved, or not yet.
  public static func words(_ store: Store, isMoved: Bool) -> [String] {
    (0..<6).map { "\(store.word) \($0)" } + (isMoved ? ["new"] : [])
  }

  /// Where the key files of the stores are.
  public func keyFiles() throws -> [URL] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix("/store.key") }.sorted().map { folder.appending(path: $0) }
  }
}
