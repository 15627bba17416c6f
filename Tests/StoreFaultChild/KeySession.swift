import Foundation
import SalesforceSDKCommon
import SmartStore
import StoreCrashScript

#if os(Linux)
  import FaultyFiles

  /// Changes of keys and encryption, of which one operation on files fails: `keys FOLDER KIND FORM ERRNO
  /// CASES`.
  ///
  /// Each kind of change is made to a fresh copy of a store, so many times, with another operation
  /// failing each time; the operations are spread evenly. After a failure the store is opened with the key that the error
  /// names, and the change is repeated. Tells in lines:
  ///
  /// - `changed NAME FAILED STATED`: how often an operation failed, and how often the error said so;
  /// - `wrong TEXT`: what must not happen.
  struct KeySession {
    private let folder: URL
    private let failure: (kind: FaultyFilesKind, form: FaultyFilesForm, errno: Int32)
    private let cases: Int
    private let script = CrashScript(seed: 1)

    /// A change that can fail, for one store or for all of a manager.
    private enum Change: String, CaseIterable {
      case changeKey, reencrypt, encrypt, decrypt, changeAll

      /// The key after the change, as ``CrashScript`` numbers them.
      var after: Int { self == .decrypt ? CrashScript.plaintext : 1 }
    }

    private static let plaintextStore = "plain"

    static func main(_ arguments: [String]) async {
      let numbers = arguments.dropFirst().compactMap { Int($0) }
      guard let folder = arguments.first, numbers.count == 4 else {
        FileHandle.standardError.write(Data("wrong arguments\n".utf8))
        exit(2)
      }
      let session = KeySession(
        folder: URL(filePath: folder),
        failure: (
          FaultyFilesKind(UInt32(numbers[0])), FaultyFilesForm(UInt32(numbers[1])),
          Int32(numbers[2])
        ), cases: numbers[3])
      do {
        try await session.run()
      } catch {
        StoreFaultChild.say("wrong \(error)")
      }
    }

    private func run() async throws {
      for change in Change.allCases {
        let template = folder.appending(path: change.rawValue)
        if change == .changeAll {
          for name in ["one", "two"] { try await make(stores(in: template, name), key: 0) }
          try await make(
            stores(in: template, Self.plaintextStore), key: CrashScript.plaintext)
        } else {
          try await make(template, key: change == .encrypt ? CrashScript.plaintext : 0)
        }
        _ = try await run(change, in: try copy(template, "\(change)-whole"), failing: nil)
        let count = faulty_files_seen(failure.kind)
        var (failed, stated) = (0, 0)
        for number in stride(from: 0, to: count, by: max(1, count / cases)) {
          let place = try copy(template, "\(change)-\(number)")
          let (hasFailed, hasStated) = try await run(change, in: place, failing: number)
          try FileManager.default.removeItem(at: place)
          failed += hasFailed ? 1 : 0
          stated += hasStated ? 1 : 0
        }
        StoreFaultChild.say("changed \(change) \(failed) \(stated)")
      }
    }

    private func copy(_ template: URL, _ name: String) throws -> URL {
      let place = folder.appending(path: name)
      try FileManager.default.copyItem(at: template, to: place)
      return place
    }

    /// What a store is called: as a manager calls it, or as one that is opened by its folder alone.
    private static func name(of place: URL) -> String {
      place.deletingLastPathComponent().lastPathComponent == "stores"
        ? place.lastPathComponent : SmartStore.defaultStoreName
    }

    private func stores(in folder: URL, _ name: String) -> URL {
      folder.appending(path: "stores").appending(path: name, directoryHint: .isDirectory)
    }

    /// A closed store with elements in rows and in files.
    private func make(_ place: URL, key: Int) async throws {
      var writer = CrashWriter(folder: place, name: Self.name(of: place), script: script, key: key)
      try await writer.open()
      try await writer.run(.upsert([0, 1, 2, 3]), step: 0)
      try await writer.close()
    }

    /// Makes a change of which one operation fails.
    ///
    /// - Returns: Whether it failed, and whether an error said so.
    private func run(
      _ change: Change, in place: URL, failing number: Int?
    ) async throws -> (hasFailed: Bool, hasStated: Bool) {
      faulty_files_arm(
        place.path, failure.kind, number == nil ? FaultyFilesNot : failure.form, failure.errno,
        number ?? 0)
      var error: SmartStoreError?
      do {
        try await perform(change, in: place)
      } catch let thrown as SmartStoreError {
        error = thrown
      }
      let failed = faulty_files_failed().map { String(cString: $0) }
      faulty_files_disarm()
      let what =
        "\(change) \(number ?? -1) at \(failed?.dropFirst(place.path.count) ?? "nothing"), "
      if let error {
        try await check(error, change, in: place, what)
        do {
          try await repeated(change, after: error, in: place)
        } catch {
          StoreFaultChild.say("wrong \(what)repeated: \(error)")
        }
      }
      for store in stores(of: change, in: place) {
        let isPlain = store.lastPathComponent == Self.plaintextStore
        let problem = await problem(of: store, key: isPlain ? CrashScript.plaintext : change.after)
        if let problem { StoreFaultChild.say("wrong \(what)afterwards: \(problem)") }
      }
      return (failed != nil, error != nil)
    }

    /// Each store opens with the key that the error names.
    private func check(
      _ error: SmartStoreError, _ change: Change, in place: URL, _ what: String
    ) async throws {
      let stores = stores(of: change, in: place)
      // Without a list of stores none was changed, and none can be named.
      if error.keyStates.count != stores.count, change != .changeAll || !error.keyStates.isEmpty {
        StoreFaultChild.say("wrong \(what)\(error.keyStates.count) states: \(error)")
      }
      for state in error.keyStates {
        let key: Int
        switch state.key {
        case .old: key = 0
        case .new: key = 1
        case .none: key = CrashScript.plaintext
        case .another, .unknown:
          // Only a disk that stays broken may hide it, and then both keys are kept.
          if failure.form != FaultyFilesLasting || !state.keepsBothKeys {
            StoreFaultChild.say("wrong \(what)names no key: \(error)")
          }
          continue
        }
        if let problem = await problem(of: state.directory, key: key) {
          StoreFaultChild.say("wrong \(what)\(problem), though: \(error)")
        }
      }
    }

    private func stores(of change: Change, in place: URL) -> [URL] {
      guard change == .changeAll else { return [place] }
      return ["one", "two", Self.plaintextStore].map { stores(in: place, $0) }
    }

    private func perform(_ change: Change, in place: URL) async throws {
      let (old, new) = (CrashScript.provider(0), CrashScript.provider(1))
      let files = StoreMaintenance(at: place)
      switch change {
      case .changeKey: try files.changeKey(from: old, to: new)
      case .reencrypt: try files.reencrypt(from: old, to: new)
      case .encrypt: try files.encrypt(new)
      case .decrypt: try files.decrypt(old)
      case .changeAll:
        let manager = SmartStoreManager(root: place, encryption: .encrypted(new))
        try await manager.changeKey(from: old)
        try await manager.close()
      }
    }

    /// Repeats a change as its error demands: one that took place is refused by some calls.
    private func repeated(
      _ change: Change, after error: SmartStoreError, in place: URL
    ) async throws {
      let key = error.keyStates.first?.key
      if change == .encrypt && key == .new || change == .decrypt && key == StoreKeyState.Key.none {
        return
      }
      do {
        try await perform(change, in: place)
      } catch let error as SmartStoreError
        where error.keyStates.first?.key != .old && key == .unknown
      {
        // It had been made.
      }
    }

    /// Why the store does not open with a key, or lacks elements; nil if all is well.
    private func problem(of store: URL, key: Int) async -> String? {
      do {
        let store = try await SmartStore.open(
          name: Self.name(of: store), at: store, encryption: CrashScript.encryption(key),
          options: SmartStoreOptions(encryptsPlaintextStore: false))
        for soup in [CrashScript.soup, CrashScript.externalSoup.name] {
          let count = try await store.query(
            using: .buildAllQuerySpec(
              soupName: soup, orderPath: SmartStore.soupEntryId, pageSize: 10)
          ).count
          if count != 4 { return "\(count) of 4 elements are there" }
        }
        try await store.close()
        return nil
      } catch {
        return "key \(key) does not open it: \(error)"
      }
    }
  }
#endif
