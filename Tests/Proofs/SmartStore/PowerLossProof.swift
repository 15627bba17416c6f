import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Is every acknowledged step there, and nothing half, whatever the disk held when the power failed?
@Suite(.ownThreads) struct PowerLossProof {
  private let script = CrashScript(seed: Effort.seed(31))

  /// Steps of a session; those of maintenance write files past the VFS and are left out.
  private func steps(_ count: Int) -> [Int] {
    Array(
      (0...).lazy.filter { !script.action($0).isMaintenance }.prefix(count))
  }

  /// Does the steps over a recording disk.
  ///
  /// - Returns: The files at the beginning, what happened, and the state after each step.
  private func record(
    _ folder: TemporaryFolder, _ count: Int
  ) async throws -> (DiskState, [(path: String, event: DiskRecorder.Event)], [CrashModel]) {
    let directory = folder.file("recorded").resolvingSymlinksInPath()
    var writer = CrashWriter(folder: directory, script: script, key: 0)
    writer.usesFiles = false
    writer.checkpointInterval = CrashWriter.shortInterval
    try await writer.open()
    try await writer.close()
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
    where name != "store.lock" {
      let path = directory.appendingPathComponent(name).path
      files[path] = Array(try Data(contentsOf: URL(filePath: path)))
    }
    let recorder = DiskRecorder()
    let disk = try #require(FaultyDisk(recorder: recorder))
    writer.vfs = EncryptedVFS(over: disk.name)
    try await writer.open()
    var models = [CrashModel()]
    for step in steps(count) {
      let action = script.action(step)
      try await writer.run(action, step: step)
      models.append((models.last ?? CrashModel()).after(action, step: step))
      // What changes nothing does not wait for the disk.
      let isDurable = action.isDurable && models.last != models.dropLast().last
      recorder.add(.acknowledged(models.count - 1, isDurable: isDurable), to: "")
    }
    try await writer.close()
    return (DiskState(files), recorder.events, models)
  }

  @Test(.covers("SS-210"))
  func `every image that a failing power can leave holds what was acknowledged`()
    async throws
  {
    let folder = try TemporaryFolder(inMemory: true)
    let (start, events, models) = try await record(folder, 40)
    var random = SeededGenerator(seed: script.seed)
    var disk = start
    var images = 0
    for (path, event) in events {
      // The most is pending right before a sync.
      if case .sync = event, disk.pendingCount > 0 {
        let luck = DiskState.Luck.allCases + Array(repeating: .someSectors, count: Effort.factor)
        for luck in luck {
          let image = disk.image(luck, using: &random)
          let (durable, done) = (disk.durable, disk.acknowledged)
          try await check(image, in: folder, models, from: durable, through: done, "\(luck)")
          images += 1
        }
      }
      disk.apply(event, to: path)
    }
    #expect(disk.acknowledged == 40)
    #expect(images > 200)
  }

  private func check(
    _ image: [String: [UInt8]], in folder: TemporaryFolder, _ models: [CrashModel],
    from durable: Int, through done: Int, _ luck: String
  ) async throws {
    let place = folder.file("image")
    try? FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for (path, bytes) in image {
      try Data(bytes).write(
        to: place.appendingPathComponent(URL(filePath: path).lastPathComponent))
    }
    let found = try await CrashModel.found(at: place, keys: [0], script: script)
    // The step that was under way may be there, and steps that need not be durable may be missing,
    // the last first.
    let next = min(done + 1, models.count - 1)
    #expect(
      models[durable...next].contains(found), "after step \(done), \(luck), seed \(script.seed)")
  }
}
