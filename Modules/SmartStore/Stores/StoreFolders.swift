import Foundation
import SalesforceSDKCommon

/// The folders of the stores under one root.
///
/// The app's stores are in `<root>/stores/<name>`, those of accounts in
/// `<root>/<org>/<user>/<community or internal>/stores/<name>`. Each store's database is
/// `store.sqlite` in its folder. A folder without that file is not a store.
struct StoreFolders: Sendable {
  let root: URL

  /// Returns the folder of a store, whether it exists or not.
  ///
  /// - Throws: ``SmartStoreError`` `invalidStoreName`.
  func folder(of name: String, owner: StoreOwner) throws(SmartStoreError) -> URL {
    try StoreOwner.checkFolderName(name, of: "store name")
    return try stores(of: owner).appending(path: name, directoryHint: .isDirectory)
  }

  /// Whether the store's database exists.
  func exists(_ name: String, owner: StoreOwner) throws(SmartStoreError) -> Bool {
    try StoreFolders.holdsStore(try folder(of: name, owner: owner))
  }

  /// Returns the names of an owner's stores.
  func storeNames(of owner: StoreOwner) throws(SmartStoreError) -> [String] {
    var names: [String] = []
    for folder in try StoreFolders.subfolders(of: stores(of: owner))
    where try StoreFolders.holdsStore(folder) {
      names.append(folder.lastPathComponent)
    }
    return names
  }

  /// Returns the owners of an account's stores: one for each community that has a folder.
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

  /// Returns the name and owner of every store under the root.
  func allStores() throws(SmartStoreError) -> [(name: String, owner: StoreOwner)] {
    var owners: [StoreOwner] = [.global]
    for organization in try StoreFolders.subfolders(of: root).map(\.lastPathComponent)
    where organization != "stores" && !organization.hasPrefix(StoreFolders.removedPrefix) {
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

  /// Returns the names of an owner's stores and of folders that remain of stores without a
  /// database.
  func folderNames(of owner: StoreOwner) throws(SmartStoreError) -> [String] {
    try StoreFolders.subfolders(of: stores(of: owner)).map(\.lastPathComponent)
  }

  /// Deletes a store's folder, including the write lock that another process may wait for.
  ///
  /// The folder is renamed first, which succeeds completely or not at all: no process sees a partly
  /// deleted store. Each removal uses a unique name, so that two removals never collide;
  /// ``sweep(_:)`` deletes the folders that a crash leaves.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess`, `io`, `invalidStoreName`.
  func delete(_ name: String, owner: StoreOwner) throws(SmartStoreError) {
    let folder = try folder(of: name, owner: owner)
    guard FileManager.default.fileExists(atPath: folder.path) else { return }
    let removed = try stores(of: owner).deletingLastPathComponent()
      .appending(path: StoreFolders.removedPrefix + UUID().uuidString, directoryHint: .isDirectory)
    do {
      let lock = try StoreFolders.takeLocks(of: StorePaths(directory: folder))
      guard let lock else {
        throw SmartStoreError(
          .busyOtherProcess,
          "The store \(name) is open for writing elsewhere and was not removed. Close it there and "
            + "try again.")
      }
      try lock.whileHeld { () throws in
        try DurableFile(folder).move(to: removed)
        try FileManager.default.removeItem(at: removed)
      }
    } catch let error as SmartStoreError {
      throw error
    } catch {
      throw SmartStoreError(
        .io, "The files of store \(name) could not be deleted. Check the folder's permissions.",
        cause: error)
    }
  }

  /// The right to remove a store's files; nil if a process writes to them, or is about to.
  private static func takeLocks(of paths: StorePaths) throws(FileFailure) -> FileLock? {
    let patience = StorePaths.lockPatience
    guard let gate = try FileLock.take(paths.opening, patience: patience) else { return nil }
    let lock = try FileLock.take(paths.lock, patience: patience)
    _ = consume gate
    return lock
  }

  /// Deletes the remains of interrupted removals of an owner's stores. Skips folders that another
  /// process is deleting, and folders that cannot be deleted yet.
  func sweep(_ owner: StoreOwner) {
    guard let stores = try? stores(of: owner),
      let folders = try? StoreFolders.subfolders(of: stores.deletingLastPathComponent())
    else { return }
    for folder in folders where folder.lastPathComponent.hasPrefix(StoreFolders.removedPrefix) {
      guard let lock = try? FileLock.take(StorePaths(directory: folder).lock) else { continue }
      lock.whileHeld { try? FileManager.default.removeItem(at: folder) }
    }
  }

  /// The prefix of folders of removed stores. They are next to the folder of stores.
  private static let removedPrefix = "removed-"

  private func stores(of owner: StoreOwner) throws(SmartStoreError) -> URL {
    var folder = root
    for part in try owner.folders() {
      folder = folder.appending(path: part, directoryHint: .isDirectory)
    }
    return folder
  }

  private static func holdsStore(_ folder: URL) throws(SmartStoreError) -> Bool {
    try exists(folder.appending(path: SmartStore.fileName))
  }

  /// Whether `url` exists. Throws if it cannot be examined, so that an unreadable folder does not
  /// count as missing.
  private static func exists(_ url: URL) throws(SmartStoreError) -> Bool {
    do {
      return try FileTree.exists(url.path)
    } catch {
      throw SmartStoreError(storage: error, at: url.path)
    }
  }

  /// Returns the folders in a folder; an empty array if it does not exist.
  private static func subfolders(of folder: URL) throws(SmartStoreError) -> [URL] {
    let files = FileManager.default
    guard try exists(folder) else { return [] }
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
