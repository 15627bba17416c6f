import Foundation

/// Where the stores of one root lie.
///
/// `<root>/stores/<name>` for the app, `<root>/<org>/<user>/<community or internal>/stores/<name>`
/// for accounts; each store's database is `store.sqlite` in its folder. A folder without that file
/// is no store.
struct StoreFolders: Sendable {
  let root: URL

  /// The folder of a store, whether it exists or not.
  ///
  /// - Throws: ``SmartStoreError`` `invalidStoreName`.
  func folder(of name: String, owner: StoreOwner) throws(SmartStoreError) -> URL {
    try StoreOwner.checkFolderName(name, of: "store name")
    return try stores(of: owner).appending(path: name, directoryHint: .isDirectory)
  }

  /// Whether the store's database is there.
  func exists(_ name: String, owner: StoreOwner) throws(SmartStoreError) -> Bool {
    StoreFolders.holdsStore(try folder(of: name, owner: owner))
  }

  /// The names of an owner's stores.
  func storeNames(of owner: StoreOwner) throws(SmartStoreError) -> [String] {
    try StoreFolders.subfolders(of: stores(of: owner)).filter(StoreFolders.holdsStore)
      .map(\.lastPathComponent)
  }

  /// The owners, one for each community that left a folder, of an account's stores.
  func scopes(ofOrganization organization: String, user: String) throws(SmartStoreError)
    -> [StoreOwner]
  {
    let internalScope = StoreOwner.user(organizationId: organization, userId: user)
    let account = try stores(of: internalScope).deletingLastPathComponent()
      .deletingLastPathComponent()
    return try StoreFolders.subfolders(of: account).map { folder in
      let name = folder.lastPathComponent
      return .user(
        organizationId: organization, userId: user,
        communityId: name == StoreOwner.internalScope ? nil : name)
    }
  }

  /// Every store under the root, by name and owner.
  func allStores() throws(SmartStoreError) -> [(name: String, owner: StoreOwner)] {
    var owners: [StoreOwner] = [.global]
    for organization in try StoreFolders.subfolders(of: root).map(\.lastPathComponent)
    where organization != "stores" && organization != "removed" {
      let folder = root.appending(path: organization, directoryHint: .isDirectory)
      for user in try StoreFolders.subfolders(of: folder).map(\.lastPathComponent) {
        owners += try scopes(ofOrganization: organization, user: user)
      }
    }
    var all: [(name: String, owner: StoreOwner)] = []
    for owner in owners {
      for name in try storeNames(of: owner) { all.append((name, owner)) }
    }
    return all
  }

  /// Deletes a store's folder.
  ///
  /// It is renamed first, which happens completely or not at all: a store is never seen half
  /// deleted. What a crash leaves of it is deleted with the next store of that owner.
  func delete(_ name: String, owner: StoreOwner) throws(SmartStoreError) {
    let folder = try folder(of: name, owner: owner)
    let removed = try stores(of: owner).deletingLastPathComponent()
      .appending(path: "removed", directoryHint: .isDirectory)
    let files = FileManager.default
    do {
      if files.fileExists(atPath: folder.path) {
        try files.createDirectory(
          at: removed, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try files.moveItem(
          at: folder,
          to: removed.appending(path: UUID().uuidString, directoryHint: .isDirectory))
      }
      if files.fileExists(atPath: removed.path) { try files.removeItem(at: removed) }
    } catch {
      throw SmartStoreError(
        .io, "The files of store \(name) could not be deleted. Check the folder's permissions.",
        cause: error)
    }
  }

  private func stores(of owner: StoreOwner) throws(SmartStoreError) -> URL {
    var folder = root
    for part in try owner.folders() {
      folder = folder.appending(path: part, directoryHint: .isDirectory)
    }
    return folder
  }

  private static func holdsStore(_ folder: URL) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: SmartStore.fileName).path)
  }

  /// The folders in a folder; none if it is not there.
  private static func subfolders(of folder: URL) throws(SmartStoreError) -> [URL] {
    let files = FileManager.default
    guard files.fileExists(atPath: folder.path) else { return [] }
    do {
      return try files.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: [.isDirectoryKey]
      ).filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
    } catch {
      throw SmartStoreError(
        .io, "The folder \(folder.path) could not be listed. Check its permissions.", cause: error)
    }
  }
}
