import Foundation
import SalesforceSDKCommon
import SmartStore
import StoreCrashScript

#if os(Linux)
  import FaultyFiles

  /// A session with a store, one of whose operations on files fails.
  ///
  /// Tells in lines what happened:
  ///
  /// - `done STEP`: the step's call has returned;
  /// - `failed STEP CODE`: it threw, as it may once the disk failed;
  /// - `met STEP`: its call has returned, although the disk failed in the meantime;
  /// - `opened KEY`: the store was opened again, with this of the keys, and with none else;
  /// - `read KEY:STEP,…|KEY:STEP,…|KEY:STEP,…`: the elements of the three soups;
  /// - `wrong TEXT`: what must not happen.
  struct FaultSession {
    private let script: CrashScript
    private let folder: URL
    private var writer: CrashWriter
    /// How often a call failed.
    private var failures = 0

    /// After these steps all is read.
    private static let readings: Set = [1, 4, 8, 10, 16]

    /// How a store refuses another key, and one that it has no use for.
    private static let refusals: Set<SmartStoreError.Code> = [.wrongKey, .keyMissing]

    init(folder: URL, script: CrashScript) {
      self.script = script
      self.folder = folder
      writer = CrashWriter(folder: folder, script: script, key: 0)
      writer.checkpointInterval = CrashWriter.shortInterval
    }

    mutating func run() async {
      do {
        try await open()
        for (step, action) in CrashScript.fileSteps.enumerated() {
          try await run(action, step)
          if Self.readings.contains(step) { try await read() }
        }
        try await close()
      } catch {
        StoreFaultChild.say("wrong \(error)")
      }
    }

    private mutating func open() async throws {
      do {
        try await writer.open()
      } catch let error as SmartStoreError {
        try tell(error, -1)
        try await reopen([0])
      }
    }

    private mutating func run(_ action: CrashScript.Action, _ step: Int) async throws {
      let after = CrashModel(key: writer.key).after(action, step: step).key
      do {
        let isOver = faulty_files_failed() != nil
        try await writer.run(action, step: step)
        StoreFaultChild.say("done \(step)")
        faulty_files_note("\(step)")
        if !isOver, faulty_files_failed() != nil { StoreFaultChild.say("met \(step)") }
      } catch let error as SmartStoreError {
        try tell(error, step)
        if action.isMaintenance { try await reopen(Set([writer.key, after])) }
        // What was reported is what is there, in the same open store.
        try await read()
      }
    }

    private mutating func close() async throws {
      do {
        try await writer.close()
      } catch let error as SmartStoreError {
        try tell(error, CrashScript.fileSteps.count)
        // The second call completes the first.
        try await writer.close()
      }
    }

    /// Opens the store, which is closed or cannot be used, with the one key that opens it.
    private mutating func reopen(_ keys: Set<Int>) async throws {
      try await writer.close()
      var fitting: [Int] = []
      for key in keys {
        writer.key = key
        do {
          try await writer.open()
          try await writer.close()
          fitting.append(key)
        } catch let error as SmartStoreError where Self.refusals.contains(error.code) {
        }
      }
      guard let key = fitting.first, fitting.count == 1 else {
        throw Unexpected("\(fitting.count) keys open the store")
      }
      writer.key = key
      try await writer.open()
      StoreFaultChild.say("opened \(key)")
    }

    /// Reads every element, and checks that it is as some step wrote it.
    private mutating func read() async throws {
      do {
        try await readOnce()
      } catch let error as SmartStoreError {
        try tell(error, -1)
        try await readOnce()
      }
    }

    private func readOnce() async throws {
      guard let store = writer.store else { throw Unexpected("the store is closed") }
      var soups: [String] = []
      for soup in [
        CrashScript.soup, CrashScript.externalSoup.name, CrashScript.plainSoup,
      ] {
        let elements = try await store.query(
          using: .buildAllQuerySpec(
            soupName: soup, orderPath: SmartStore.soupEntryId, pageSize: 1000))
        let found = try elements.map { element in
          guard let key = element["key"]?.int64, let step = element["step"]?.int64,
            element["text"] == script.element(Int(key), step: Int(step))["text"]
          else { throw Unexpected("an element of \(soup) that no step wrote") }
          return "\(key):\(step)"
        }
        soups.append(found.joined(separator: ","))
      }
      StoreFaultChild.say("read \(soups.joined(separator: "|"))")
    }

    /// One failure of the disk is reported twice at most: by the call that met it, and by the next one on
    /// a store that has to be opened again.
    private mutating func tell(_ error: SmartStoreError, _ step: Int) throws {
      StoreFaultChild.say("failed \(step) \(error.code) \(error.message)")
      failures += 1
      if failures > 1 { throw Unexpected("a second call failed: \(error)") }
    }
  }

  /// What must not happen.
  struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
  }
#endif
