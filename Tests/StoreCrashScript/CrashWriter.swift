package import Foundation
import SalesforceSDKCommon
package import SmartStore

/// Does the steps of a script to a store.
package struct CrashWriter {
  private let folder: URL
  private let name: String
  private let script: CrashScript
  /// The number of the key that opens the store.
  package var key: Int
  package private(set) var store: SmartStore?
  /// The file system below the cipher.
  package var vfs: EncryptedVFS? = .standard
  /// Whether the soup is used whose elements lie in files.
  package var usesFiles = true
  /// Pages in the log after which they are folded into the database.
  package var checkpointPages = 60
  /// Bytes written between two background checkpoints.
  package var checkpointInterval = StoreDatabaseOptions().checkpointInterval

  /// So short that every few steps one begins.
  package static let shortInterval = 20 << 10

  package init(
    folder: URL, name: String = SmartStore.defaultStoreName, script: CrashScript, key: Int
  ) {
    self.folder = folder
    self.name = name
    self.script = script
    self.key = key
  }

  /// Opens the store, or leaves it closed.
  package mutating func open() async throws {
    var files = StoreDatabaseOptions()
    files.checkpointPages = checkpointPages
    files.checkpointInterval = checkpointInterval
    files.vfs = vfs
    let store = try await SmartStore.open(
      name: name, at: folder, encryption: CrashScript.encryption(key),
      options: SmartStoreOptions(encryptsPlaintextStore: false), files: files)
    do {
      try await store.registerSoup(
        withName: CrashScript.soup, withIndices: CrashScript.indexes[0])
      try await store.registerSoup(
        withName: CrashScript.plainSoup, withIndices: CrashScript.plainIndexes)
      if usesFiles {
        try await store.registerSoup(
          withSpec: CrashScript.externalSoup, withIndices: CrashScript.externalIndexes)
      }
    } catch {
      // The failure to open is the one to tell.
      try? await store.close()
      throw error
    }
    self.store = store
  }

  /// Closes the store.
  package mutating func close() async throws {
    try await store?.close()
    store = nil
  }

  /// Does one step. One that works on the files of the closed store may leave it closed if it fails.
  package mutating func run(_ action: CrashScript.Action, step: Int) async throws {
    guard let store else { return }
    switch action {
    case .changeKey, .reencrypt, .convert:
      try await close()
      try maintain(action)
      key = CrashModel(key: key).after(action, step: step).key
      try await open()
    case .alterFiles:
      guard usesFiles else { return }
      let name = CrashScript.externalSoup.name
      let isExternal = try await !store.soupSpec(forSoupNamed: name).features.isEmpty
      try await store.alterSoup(
        named: name, soupSpec: isExternal ? SoupSpec(name: name) : CrashScript.externalSoup,
        indexSpecs: CrashScript.externalIndexes, reIndexData: true)
    case .bulkLoad(let first, let second):
      // One append changes what is stored, so that the load happens completely or not at all.
      let slices = try self.slices(first + second, step)
      try await store.bulkLoad(intoSoupNamed: CrashScript.soup) { load in
        if !second.isEmpty { try await load.buildIndexes() }
        try await load.append(slices)
      }
    case .alter:
      let known = try await store.indices(forSoupNamed: CrashScript.soup)
      let isFirst = known.count == CrashScript.indexes[0].count
      try await store.alterSoup(
        named: CrashScript.soup, indexSpecs: CrashScript.indexes[isFirst ? 1 : 0],
        reIndexData: true)
    case .refill(let keys):
      let slices = try self.slices(keys, step)
      try await store.inTransaction { transaction in
        try transaction.clearSoup(CrashScript.plainSoup)
        try transaction.upsert(slices: slices, soup: CrashScript.plainSoup)
      }
    case .checkpoint:
      _ = try await store.databaseSize()
    case .upsert(let keys):
      try await replace([], keys, step, in: store)
    case .upsertNormally(let keys):
      try await replace([], keys, step, in: store, durability: .normal)
    case .delete(let keys):
      try await replace(keys, [], step, in: store)
    case .replace(let deleted, let upserted):
      try await replace(deleted, upserted, step, in: store)
    }
  }

  private func slices(_ keys: [Int], _ step: Int) throws -> [JSONSlice] {
    try keys.map { try JSONSlice(parsing: script.element($0, step: step).serialized()) }
  }

  /// Works on the files of the store, which is closed.
  private func maintain(_ action: CrashScript.Action) throws {
    let files = StoreMaintenance(at: folder, name: name)
    guard key != CrashScript.plaintext else {
      if action == .convert { try files.encrypt(CrashScript.provider(0)) }
      return
    }
    let (old, new) = (CrashScript.provider(key), CrashScript.provider(1 - key))
    switch action {
    case .changeKey: try files.changeKey(from: old, to: new)
    case .reencrypt: try files.reencrypt(from: old, to: new)
    default: try files.decrypt(old)
    }
  }

  private func replace(
    _ deleted: [Int], _ upserted: [Int], _ step: Int, in store: SmartStore,
    durability: Durability = .full
  ) async throws {
    let script = script
    let soups = [CrashScript.soup] + (usesFiles ? [CrashScript.externalSoup.name] : [])
    try await store.inTransaction(durability: durability) { transaction in
      for soup in soups {
        for key in deleted {
          let id = try transaction.lookupSoupEntryId(
            soupNamed: soup, fieldPath: "key", fieldValue: .integer(Int64(key)))
          if let id { try transaction.remove(entryIds: [id], forSoupNamed: soup) }
        }
        try transaction.upsert(
          entries: upserted.map { script.element($0, step: step) }, forSoupNamed: soup,
          withExternalIdPath: "key")
      }
    }
  }
}
