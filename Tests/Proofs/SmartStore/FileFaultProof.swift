import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

#if os(Linux)
  /// Does a session lose nothing when a call on any of its files fails, SQLite's or the store's own, say
  /// so where it must, and go on?
  ///
  /// The sessions run in a program of their own, whose calls on files take the place of the system's:
  /// element files, key file, locks, copies that maintenance makes, and the database below all.
  @Suite(.ownThreads) struct FileFaultProof {
    private let folder: TemporaryFolder
    private let script = CrashScript(seed: Effort.seed(41))

    /// A kind of call, and how it fails. The numbers are those of `FaultyFiles.h`.
    struct Failure: Sendable, CustomTestStringConvertible {
      let name: String
      let kind: Int
      var form = Self.error
      var errno = EIO
      /// Whether the first calls of this kind are met in every run.
      var makesStore = false
      var testDescription: String { form == Self.lasting ? name + ", lasting" : name }

      static let (error, short, torn, lasting) = (1, 2, 3, 4)
      static let (removing, examining) = (7, 10)
    }

    static let failures = [
      Failure(name: "open: EIO", kind: 0, makesStore: true),
      Failure(name: "open: EMFILE", kind: 0, errno: EMFILE),
      Failure(name: "read: EIO", kind: 1),
      Failure(name: "read: short", kind: 1, form: Failure.short),
      Failure(name: "write: EIO", kind: 2),
      Failure(name: "write: ENOSPC", kind: 2, errno: ENOSPC),
      Failure(name: "write: short", kind: 2, form: Failure.short),
      Failure(name: "write: short, then ENOSPC", kind: 2, form: Failure.torn, errno: ENOSPC),
      Failure(name: "sync: EIO", kind: 3),
      Failure(name: "truncate: EIO", kind: 4),
      Failure(name: "rename: EIO", kind: 5),
      Failure(name: "link: EIO", kind: 6),
      Failure(name: "remove: EIO", kind: Failure.removing),
      Failure(name: "make a folder: ENOSPC", kind: 8, errno: ENOSPC),
      Failure(name: "lock: EIO", kind: 9),
      Failure(name: "examine: EIO", kind: Failure.examining),
    ]

    /// What a session reports.
    private struct Session {
      /// What the store may hold. A step that failed may have happened: the caller cannot know if what
      /// failed is the wait for the disk after the change, such as the sync of a folder after a rename.
      /// All that is read and acknowledged afterwards agrees with one of the two.
      var possible = [CrashModel()]
      var isTold = false
      /// Whether an alter met the failure and returned: what is left to do once the new table counts is
      /// done when the store is opened next.
      var isLeftover = false
      var wrong: String?
      /// How many calls of each kind there were.
      var seen: [Int] = []
      /// The path of what failed, below the store's folder; nil if there were fewer calls.
      var failed: String?
    }

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test(arguments: failures)
    func `each call on a file fails once, nothing is lost, and lost writes are reported`(
      failure: Failure
    ) async throws {
      let count = try Self.counts.get()[failure.kind]
      #expect(count > 0)
      for numbers in sample(of: count, failure) {
        let sessions = try Self.sessions(of: failure, numbers, in: folder.url, script)
        for (number, session) in zip(numbers, sessions) {
          let comment = "\(failure.name) \(number) of \(count), \(session.failed ?? "nothing")"
          #expect(session.wrong == nil, "\(comment), seed \(script.seed)")
          let store = folder.file("\(number)")
          let found = try? await CrashModel.found(
            at: store, keys: [0, 1, CrashScript.plaintext], script: script)
          #expect(
            found.map(session.possible.contains) == true, "\(comment), seed \(script.seed)")
          if let path = session.failed, !session.isLeftover, mustTell(failure, path) {
            #expect(session.isTold, "\(comment) was not told")
          }
          try FileManager.default.removeItem(at: store)
        }
      }
    }

    /// The calls to fail: all of them at night, in small groups of which each is one process.
    private func sample(of count: Int, _ failure: Failure) -> [[Int]] {
      var numbers = Array(0..<count)
      if Effort.factor < 20 {
        var random = SeededGenerator(seed: script.seed)
        let some = (0..<Effort.times(2)).map { _ in Int.random(in: 0..<count, using: &random) }
        // The first calls make the key file and the database, which need each other.
        numbers = Set(some + (failure.makesStore ? Array(0..<8) : [])).sorted()
      }
      return stride(from: 0, to: numbers.count, by: 50).map { Array(numbers[$0...].prefix(50)) }
    }

    /// Whether a failure is one that the caller has to hear of.
    ///
    /// Not what the system may do at any time; not what could not be removed, which is removed when the
    /// store is opened next; not a look at a file, without which more may be done than is needed; and
    /// not the files that SQLite works on besides, when it copies its WAL to the database and when it waits for the
    /// folder: the other proof tells what is written to its log.
    private func mustTell(_ failure: Failure, _ path: String) -> Bool {
      failure.form != Failure.short && path != "/"
        && failure.kind != Failure.removing && failure.kind != Failure.examining
        && path != "/store.sqlite" && !path.hasPrefix("/store.sqlite-")
    }

    /// How many calls of each kind a session makes in which none fails.
    private static let counts = Result {
      let folder = try TemporaryFolder(inMemory: true)
      let whole = try sessions(
        of: failures[0], [-1], in: folder.url, CrashScript(seed: Effort.seed(41)))
      return try #require(whole.first).seen
    }

    /// Runs sessions in a process of their own.
    private static func sessions(
      of failure: Failure, _ numbers: [Int], in folder: URL, _ script: CrashScript
    ) throws -> [Session] {
      let arguments = [
        folder.path, "\(script.seed)", "\(failure.kind)", "\(failure.form)", "\(failure.errno)",
      ]
      let child = try ChildProcess("StoreFaultChild", arguments + numbers.map { "\($0)" })
      var sessions: [Session] = []
      var session = Session()
      while let line = child.line() {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "begin": session = Session()
        case "end":
          session.seen = words[1].split(separator: ",").compactMap { Int($0) }
          session.failed = words[2] == "-" ? nil : words[2]
          sessions.append(session)
        default: hear(line, words, in: &session)
        }
      }
      // A process that ended in the midst of a session says nothing of it.
      try #require(sessions.count == numbers.count, "\(failure.name) ended at \(numbers)")
      return sessions
    }

    /// Reads what a session reports.
    private static func hear(_ line: String, _ words: [String], in session: inout Session) {
      let number = words.count > 1 ? Int(words[1]) : nil
      let action = number.flatMap {
        CrashScript.fileSteps.indices.contains($0) ? CrashScript.fileSteps[$0] : nil
      }
      switch (words.first, number, action) {
      case ("done", let step?, let action?):
        session.possible = session.possible.map { $0.after(action, step: step) }
      case ("failed", let step?, let action):
        session.isTold = true
        if let action {
          session.possible += session.possible.map { $0.after(action, step: step) }
        }
      case ("met", _, let action?):
        session.isLeftover = action == .alterFiles
      case ("opened", let key?, _):
        session.possible.removeAll { $0.key != key }
      case ("read", _, _):
        let soups = words[1].split(separator: "|", omittingEmptySubsequences: false)
          .map(elements)
        session.possible.removeAll { model in
          let external = model.elements.filter { $0.key < CrashScript.bulkKeys }
          return soups != [model.elements, external, model.plainElements]
        }
      default: session.wrong = line
      }
      if session.possible.isEmpty { session.wrong = session.wrong ?? line }
    }

    /// The step of each key, from `KEY:STEP,…`.
    private static func elements(_ text: Substring) -> [Int: Int] {
      let pairs = text.split(separator: ",").map { $0.split(separator: ":").compactMap { Int($0) } }
      return Dictionary(pairs.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
    }
  }
#endif
