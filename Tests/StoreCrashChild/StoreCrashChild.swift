import Foundation
import SalesforceSDKCommon
import SmartStore

/// A process that writes to a store until it is killed:
/// `StoreCrashChild FOLDER SEED FIRST-STEP KEY-NUMBER`.
///
/// Prints `ready`, then the number of each step once its call has returned.
@main
struct StoreCrashChild {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let seed = UInt64(arguments[2]), let first = Int(arguments[3]),
      let key = Int(arguments[4])
    else {
      FileHandle.standardError.write(Data("wrong arguments\n".utf8))
      exit(2)
    }
    let script = CrashScript(seed: seed)
    var writer = CrashWriter(folder: URL(filePath: arguments[1]), script: script, key: key)
    try await writer.open()
    say("ready")
    for step in first... {
      try await writer.run(script.action(step), step: step)
      say("\(step)")
    }
  }

  /// Past any buffer, in one piece: what was said before the end is read after it.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}

/// Does the steps of a script to a store.
struct CrashWriter {
  private let folder: URL
  private let script: CrashScript
  private var key: Int
  private(set) var store: SmartStore?
  /// The file system below the cipher.
  var vfs: SealedVFS? = .standard
  /// Whether the soup is used whose elements lie in files.
  var usesFiles = true
  /// Pages in the log after which they are folded into the database.
  var checkpointPages = 60

  init(folder: URL, script: CrashScript, key: Int) {
    self.folder = folder
    self.script = script
    self.key = key
  }

  /// Opens the store.
  mutating func open() async throws {
    var files = StoreDatabaseOptions()
    files.checkpointPages = checkpointPages
    files.vfs = vfs
    let store = try await SmartStore.open(
      at: folder, encryption: .encrypted(CrashScript.provider(key)), files: files)
    try await store.registerSoup(
      withName: CrashScript.soup, withIndices: CrashScript.indexes[0])
    if usesFiles {
      try await store.registerSoup(
        withSpec: CrashScript.externalSoup, withIndices: CrashScript.externalIndexes)
    }
    self.store = store
  }

  /// Closes the store.
  mutating func close() async throws {
    try await store?.close()
    store = nil
  }

  /// Does one step.
  mutating func run(_ action: CrashScript.Action, step: Int) async throws {
    guard let store else { return }
    switch action {
    case .changeKey, .reencrypt:
      try await store.close()
      let files = StoreMaintenance(at: folder)
      let (old, new) = (CrashScript.provider(key), CrashScript.provider(1 - key))
      if action == .changeKey {
        try files.changeKey(from: old, to: new)
      } else {
        try files.reencrypt(from: old, to: new)
      }
      key = 1 - key
      try await open()
    case .alter:
      let known = try await store.indices(forSoupNamed: CrashScript.soup)
      let isFirst = known.count == CrashScript.indexes[0].count
      try await store.alterSoup(
        named: CrashScript.soup, indexSpecs: CrashScript.indexes[isFirst ? 1 : 0],
        reIndexData: true)
    case .checkpoint:
      _ = try await store.databaseSize()
    case .upsert(let keys):
      try await replace([], keys, step, in: store)
    case .delete(let keys):
      try await replace(keys, [], step, in: store)
    case .replace(let deleted, let upserted):
      try await replace(deleted, upserted, step, in: store)
    }
  }

  private func replace(
    _ deleted: [Int], _ upserted: [Int], _ step: Int, in store: SmartStore
  ) async throws {
    let script = script
    let soups = [CrashScript.soup] + (usesFiles ? [CrashScript.externalSoup.name] : [])
    try await store.inTransaction { transaction in
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
