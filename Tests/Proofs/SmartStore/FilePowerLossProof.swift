import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

#if os(Linux)
  /// Is every acknowledged step there, whatever of a store's files the disk held when the power failed: its
  /// key file, the copies that maintenance makes, the files of elements, and the database?
  ///
  /// The session runs in a program of its own that writes down each change of a file or name; see
  /// ``RecordedDisk``.
  @Suite(.ownThreads) struct FilePowerLossProof {
    private let script = CrashScript(seed: Effort.seed(51))

    @Test(.covers("SS-210"))
    func `every state of its files that a failing power can leave is a whole store`()
      async throws
    {
      let folder = try TemporaryFolder(inMemory: true)
      let root = folder.file("recorded").resolvingSymlinksInPath()
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
      let number = try FileManager.default.attributesOfItem(atPath: root.path)[.systemFileNumber]
      let inode = try #require((number as? NSNumber)?.uint64Value)
      let log = folder.file("log")
      let child = try ChildProcess(
        "StoreFaultChild", ["record", root.path, "\(script.seed)", log.path])
      while let line = child.line() {
        #expect(!line.hasPrefix("wrong") && !line.hasPrefix("failed"), "\(line)")
      }
      let record = try DiskRecord(parsing: Array(try Data(contentsOf: log)))
      var models = [CrashModel()]
      for (step, action) in CrashScript.fileSteps.enumerated() {
        models.append((models.last ?? CrashModel()).after(action, step: step))
      }

      var disk = RecordedDisk(root: root.path, inode: inode)
      var random = SeededGenerator(seed: script.seed)
      var (acknowledged, certain, images) = (0, 0, 0)
      let all = DiskState.Luck.allCases + Array(repeating: .someSectors, count: Effort.factor)
      for event in record.events {
        if case .acknowledged(let step) = event {
          acknowledged = step + 1
          // What changes nothing does not wait for the disk.
          if CrashScript.fileSteps[step].isDurable, models[step + 1] != models[step] {
            certain = acknowledged
          }
        }
        // The most is pending right before a sync.
        if case .sync = event, disk.pendingCount > 0 {
          let lucks = Effort.factor > 1 ? all : Array(all.shuffled(using: &random).prefix(1))
          for luck in lucks {
            let image = folder.file("image")
            try? FileManager.default.removeItem(at: image)
            try disk.write(to: image, luck, using: &random)
            let found = try? await CrashModel.found(
              at: image.appending(path: "store"), keys: [0, 1, CrashScript.plaintext],
              script: script)
            let possible = models[certain...min(acknowledged + 1, models.count - 1)]
            #expect(
              found.map(possible.contains) == true,
              "after step \(acknowledged - 1), image \(images), \(luck), seed \(script.seed)")
            images += 1
          }
        }
        disk.apply(event)
      }
      #expect(acknowledged == CrashScript.fileSteps.count)
      #expect(images > 100)
    }
  }
#endif
