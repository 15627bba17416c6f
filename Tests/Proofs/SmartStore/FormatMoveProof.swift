import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

#if os(Linux)
  /// Does a store of format 1 open with all its entries, wherever a kill or a failing power interrupts its move
  /// to the present format: key file, secret store, and the anchor of the write-ahead log (WAL)?
  ///
  /// The move runs in a program of its own that writes down each change of a file or name; see
  /// ``RecordedDisk``.
  @Suite(.ownThreads) struct FormatMoveProof {
    private let folder: TemporaryFolder
    private let seed = Effort.seed(61)

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private func prepare() throws -> (root: URL, disk: RecordedDisk) {
      let root = folder.file("recorded").resolvingSymlinksInPath()
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
      for name in ["state", "fixed", "crashed"] {
        try GoldenFiles.copy("format-1/\(name)", to: root.appending(path: name))
      }
      let number = try FileManager.default.attributesOfItem(atPath: root.path)[.systemFileNumber]
      let inode = try #require((number as? NSNumber)?.uint64Value)
      var disk = RecordedDisk(root: root.path, inode: inode)
      try disk.load(root)
      return (root, disk)
    }

    /// Every store has its entries, and those of the stores whose move was acknowledged; then it is moved.
    private func check(_ image: URL, moved: Int, _ comment: String) async {
      let stores = FormatOneStores(in: image)
      for (number, store) in FormatOneStores.all.enumerated() {
        do {
          let words = try await stores.words(store)
          let possible = number < moved ? [true] : number == moved ? [true, false] : [false]
          #expect(
            possible.contains { FormatOneStores.words(store, isMoved: $0) == words },
            "\(store.word), \(comment): \(words)")
          #expect(try await stores.words(store) == words, "again: \(store.word), \(comment)")
        } catch {
          Issue.record("\(store.word), \(comment): \(error)")
        }
      }
      let formats = try? stores.keyFiles().map {
        try StoreKeyFile(parsing: Array(Data(contentsOf: $0))).format
      }
      #expect(formats?.filter { $0 == StoreKeyFile.currentFormat }.count == 4, "\(comment)")
    }

    @Test func `stores of format 1 survive a kill and a power loss at each step of their move`()
      async throws
    {
      var (root, disk) = try prepare()
      let log = folder.file("log")
      let child = try ChildProcess("StoreFaultChild", ["move", root.path, log.path])
      while let line = child.line() { Issue.record("\(line)") }
      let record = try DiskRecord(parsing: Array(try Data(contentsOf: log)))
      var random = SeededGenerator(seed: seed)
      let image = folder.file("image")
      var (moved, images) = (0, 0)
      for (number, event) in record.events.enumerated() {
        if case .acknowledged(let store) = event { moved = store + 1 }
        var lucks: [DiskState.Luck] = []
        // A kill leaves everything. Between two changes of names, or around them, more is at stake.
        if event.changesNames || Effort.factor > 1 || number % 8 == 0 { lucks.append(.everything) }
        // The most is pending right before a sync.
        if case .sync = event, disk.pendingCount > 0 {
          let others = DiskState.Luck.allCases.filter { $0 != .everything }
          lucks += Effort.factor > 1 ? others : [others.randomElement(using: &random) ?? .nothing]
        }
        for luck in lucks {
          try? FileManager.default.removeItem(at: image)
          try disk.write(to: image, luck, using: &random)
          await check(image, moved: moved, "event \(number), \(luck), seed \(seed)")
          images += 1
        }
        disk.apply(event)
      }
      #expect(moved == FormatOneStores.all.count)
      #expect(images > 100)
    }
  }
#endif
