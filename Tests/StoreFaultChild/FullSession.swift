import Foundation
import SalesforceSDKCommon
import SmartStore
import StoreCrashScript

#if os(Linux)
  import FaultyFiles

  /// Alters of a soup on a disk that has room for a given number of bytes: `full FOLDER STEP`.
  ///
  /// Each kind of alter begins with no room and gets `STEP` bytes more each time, until it succeeds. After
  /// a failure the soup is as it was, can be read while the disk is full, and written once it is not.
  /// Tells in lines:
  ///
  /// - `altered NAME FAILED`: how often the alter failed before it succeeded;
  /// - `wrong TEXT`: what must not happen.
  struct FullSession {
    private let folder: URL
    private let step: Int
    private static let soup = "notes"
    private static let count = 200
    private static let before = [
      SoupIndex(path: "key", type: .integer), SoupIndex(path: "text", type: .string),
      SoupIndex(path: "words", type: .fullText),
    ]
    private static let after = [
      SoupIndex(path: "text", type: .fullText), SoupIndex(path: "key", type: .string),
      SoupIndex(path: "more", type: .string),
    ]

    /// An alter: where the elements lie before and after, and whether new paths are indexed.
    private enum Kind: String, CaseIterable {
      case indexes, withoutReIndexing, intoFiles, outOfFiles
    }

    static func main(_ arguments: [String]) async {
      guard let folder = arguments.first, let step = arguments.last.flatMap({ Int($0) }) else {
        FileHandle.standardError.write(Data("wrong arguments\n".utf8))
        exit(2)
      }
      do {
        for kind in Kind.allCases {
          try await FullSession(folder: URL(filePath: folder), step: step).run(kind)
        }
      } catch {
        StoreFaultChild.say("wrong \(error)")
      }
    }

    private func run(_ kind: Kind) async throws {
      let template = folder.appending(path: kind.rawValue)
      let store = try await open(template)
      try await store.registerSoup(
        withSpec: spec(isExternal: kind == .outOfFiles), withIndices: Self.before)
      try await store.upsert(
        entries: (0..<Self.count).map { element($0) }, forSoupNamed: Self.soup)
      try await store.close()
      var failures = 0
      while true {
        let place = folder.appending(path: "\(kind)-\(failures)")
        try FileManager.default.copyItem(at: template, to: place)
        let isAltered = try await alter(kind, at: place, room: failures * step)
        try FileManager.default.removeItem(at: place)
        if isAltered { break }
        failures += 1
        if failures * step > 64 << 20 { throw Unexpected("\(kind) never succeeds") }
      }
      StoreFaultChild.say("altered \(kind) \(failures)")
    }

    private func spec(isExternal: Bool) -> SoupSpec {
      SoupSpec(name: Self.soup, features: isExternal ? [SoupSpec.featureExternalStorage] : [])
    }

    private func element(_ key: Int) -> JSONValue {
      let words = (0..<40).map { "word\(($0 * 7 + key) % 53)" }.joined(separator: " ")
      return [
        "key": .integer(Int64(key)), "text": .string("\(key) " + words), "words": .string(words),
        "more": .string("m\(key)"),
      ]
    }

    private func open(_ place: URL) async throws -> SmartStore {
      try await SmartStore.open(at: place, encryption: CrashScript.encryption(0))
    }

    /// Alters the soup of a store.
    ///
    /// - Returns: Whether that succeeded.
    private func alter(_ kind: Kind, at place: URL, room: Int) async throws -> Bool {
      let what = "\(kind) with \(room) bytes"
      var store = try await open(place)
      var isAltered = true
      faulty_files_fill(place.path, room)
      do {
        try await store.alterSoup(
          named: Self.soup, soupSpec: spec(isExternal: kind == .intoFiles), indexSpecs: Self.after,
          reIndexData: kind != .withoutReIndexing)
      } catch let error as SmartStoreError {
        isAltered = false
        if error.code != .diskFull, error.code != .io {
          StoreFaultChild.say("wrong \(what): \(error)")
        }
      }
      // The disk is still full.
      try await check(store, kind, isAltered, "\(what), full disk")
      faulty_files_disarm()
      try await store.upsert(entries: [element(0)], forSoupNamed: Self.soup)
      try await check(store, kind, isAltered, what, added: 1)
      try await store.close()
      // Nothing waits for the next opening.
      store = try await open(place)
      try await check(store, kind, isAltered, "\(what), opened again", added: 1)
      let report = try await store.verify()
      if report.findings.contains(where: { $0.kind != .notIndexed }) {
        StoreFaultChild.say("wrong \(what): \(report.findings)")
      }
      try await store.close()
      return isAltered
    }

    /// The soup has all its elements, and finds them as the specs say that it has now.
    private func check(
      _ store: SmartStore, _ kind: Kind, _ isAltered: Bool, _ what: String, added: Int = 0
    ) async throws {
      do {
        let paths = try await store.indices(forSoupNamed: Self.soup).map(\.path)
        if paths != (isAltered ? Self.after : Self.before).map(\.path) {
          StoreFaultChild.say("wrong \(what): \(isAltered), indexes on \(paths)")
        }
        let external = try await !store.soupSpec(forSoupNamed: Self.soup).features.isEmpty
        if external != (isAltered ? kind == .intoFiles : kind == .outOfFiles) {
          StoreFaultChild.say("wrong \(what): \(isAltered), in files: \(external)")
        }
        let all = try await store.query(
          using: .buildAllQuerySpec(
            soupName: Self.soup, orderPath: SmartStore.soupEntryId, pageSize: 1000))
        if all.count != Self.count + added {
          StoreFaultChild.say("wrong \(what): \(all.count) elements")
        }
        let path = isAltered ? "text" : "words"
        let matches = try await store.count(
          using: .buildMatchQuerySpec(
            soupName: Self.soup, path: path, matchKey: "word3", pageSize: 1))
        let expected = (0..<Self.count).count {
          element($0)[path]?.string?.contains("word3 ") == true
        }
        if kind != .withoutReIndexing || !isAltered, matches < Int64(expected) {
          StoreFaultChild.say("wrong \(what): \(matches) of \(expected) matches")
        }
      } catch {
        StoreFaultChild.say("wrong \(what): \(isAltered), \(error)")
      }
    }
  }
#endif
