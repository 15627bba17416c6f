import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import StandardSyncTargets
import Synchronization
import TestSupport
@testable import MobileSyncTests

/// One of the devices of a story: a store in a folder of its own, with the soups and syncs of a world.
final class ConvergenceDevice: Sendable {
  private struct Process {
    let store: SmartStore
    let manager: SyncManager
  }

  /// The user of all devices.
  static let userId = "005000000000001AAA"

  let world: ConvergenceWorld
  let number: Int
  private let org: InMemoryOrg
  private let folder: Mutex<TemporaryFolder>
  private let registry = SyncTargetRegistry()
  private let ids: Mutex<SeededGenerator>
  private let process: Mutex<Process?> = Mutex(nil)
  private let withExtra = Mutex(false)

  private init(
    _ world: ConvergenceWorld, _ org: InMemoryOrg, _ folder: TemporaryFolder, number: Int
  ) throws {
    self.world = world
    self.org = org
    self.number = number
    self.folder = Mutex(folder)
    ids = Mutex(SeededGenerator(seed: UInt64(number)))
    try StandardSyncTargets.register(into: registry)
  }

  /// A device with empty soups and the syncs of a world.
  static func open(
    _ world: ConvergenceWorld, _ org: InMemoryOrg, number: Int
  ) async throws -> ConvergenceDevice {
    let folder = try copy(of: try await Models.shared.folder(of: world.shape))
    let device = try ConvergenceDevice(world, org, folder, number: number)
    try await device.start()
    return device
  }

  /// Folders of stores with empty soups, one for each shape: registering soups takes longer than a story.
  private actor Models {
    static let shared = Models()
    private var folders: [ConvergenceWorld.Shape: Task<TemporaryFolder, any Error>] = [:]

    func folder(of shape: ConvergenceWorld.Shape) async throws -> TemporaryFolder {
      if let made = folders[shape] { return try await made.value }
      let task = Task {
        var world = ConvergenceWorld()
        world.shape = shape
        let folder = try TemporaryFolder(inMemory: true)
        let device = try ConvergenceDevice(world, InMemoryOrg(), folder, number: 99)
        let store = try await SmartStore.open(at: folder.url, encryption: .plaintext)
        try await world.registerSoups(in: store)
        // The manager creates the soups of its own.
        let manager = try await device.makeManager(store)
        await manager.close()
        try await store.close()
        return folder
      }
      folders[shape] = task
      return try await task.value
    }
  }

  private static func copy(of folder: TemporaryFolder) throws -> TemporaryFolder {
    let copy = try TemporaryFolder(inMemory: true)
    for file in try FileManager.default.contentsOfDirectory(
      at: folder.url, includingPropertiesForKeys: nil)
    {
      try FileManager.default.copyItem(at: file, to: copy.file(file.lastPathComponent))
    }
    return copy
  }

  // MARK: Processes

  private var current: Process {
    guard let process = process.withLock({ $0 }) else {
      preconditionFailure("Device \(number) is switched off.")
    }
    return process
  }

  var store: SmartStore { current.store }
  var manager: SyncManager { current.manager }

  private func makeManager(_ store: SmartStore) async throws -> SyncManager {
    let lead = world.hoursAhead.indices.contains(number) ? Int64(world.hoursAhead[number]) : 0
    return try await SyncManager(
      store: store, sender: org, userId: Self.userId, registry: registry,
      environment: SyncEnvironment(
        now: { [org] in org.now + lead * 3_600_000 },
        uniqueNumber: { self.ids.withLock { $0.next() } },
        wait: { [org] in org.advanceClock(by: $0) },
        instant: { [start = ContinuousClock.now] in start }))
  }

  /// Starts a process.
  func start() async throws {
    let place = folder.withLock { $0.url }
    let store = try await SmartStore.open(at: place, encryption: .plaintext)
    let manager = try await makeManager(store)
    process.withLock { $0 = Process(store: store, manager: manager) }
    guard let last = world.ups.last, try await !manager.hasSync(forName: last.name) else { return }
    for (number, level) in world.levels.enumerated() {
      let downs = world.downs.filter { $0.soup == level.soup }
      if downs.isEmpty { continue }
      let targets = try world.downTargets(number, withExtra: false)
      for (down, target) in zip(downs, targets) {
        _ = try await manager.createSyncDown(
          targetJSON: target,
          options: SyncOptions(
            mergeMode: world.downMode(of: down, device: self.number),
            lateCommitWindow: world.lateCommitWindow), soupName: down.soup, syncName: down.name)
      }
      for up in world.ups where up.soup == level.soup {
        _ = try await manager.createSyncUp(
          targetJSON: world.upTarget(),
          options: SyncOptions(
            mergeMode: world.modes[self.number].up, fieldlist: world.sentFields(level),
            fetchesModificationDates: world.fetchesModificationDates), soupName: up.soup,
          syncName: up.name)
      }
    }
  }

  /// Ends the process in order.
  func stop() async throws {
    let process = process.withLock { process in
      defer { process = nil }
      return process
    }
    await process?.manager.close()
    try await process?.store.close()
  }

  /// Ends the process as a kill does: the next one, which ``restart()`` starts, finds what is on disk at
  /// this moment, and nothing that this one still does.
  func kill() async throws {
    let dying = folder.withLock { $0 }
    let left = try await store.inTransaction { _ in try Self.copy(of: dying) }
    folder.withLock { $0 = left }
    let manager = manager
    Task { await manager.close() }
  }

  func restart() async throws {
    try await stop()
    try await start()
  }

  // MARK: Syncs

  /// Runs a sync down, and a sync up, to the end.
  func run(_ sync: ConvergenceWorld.Sync) async throws {
    _ = try await manager.reSync(named: sync.name).finished()
  }

  private static let rescueKey = RescueKeyPair()
  private static let rescueUser = RescueUser(
    organizationId: "00D000000000001AAA", userId: userId)

  func exportRescue() async throws -> [UInt8] {
    try await store.exportRescue(
      for: .publicKey(Self.rescueKey.publicKey), of: Self.rescueUser, registry: registry
    ).bundle
  }

  func importRescue(_ bundle: [UInt8]) async throws {
    _ = try await store.importRescue(
      bundle, with: .privateKey(Self.rescueKey.privateKey), of: Self.rescueUser, registry: registry)
  }

  /// Starts with empty soups, as a new device does.
  func replaceStore() async throws {
    try await stop()
    let fresh = try Self.copy(of: try await Models.shared.folder(of: world.shape))
    folder.withLock { $0 = fresh }
    withExtra.withLock { $0 = false }
    try await start()
  }

  /// Runs all syncs up in the order of references.
  func runRelated() async throws {
    try await manager.reSyncRelated(named: world.ups.map(\.name))
  }

  func cleanGhosts(of sync: ConvergenceWorld.Sync) async throws {
    _ = try await manager.cleanResyncGhosts(forName: sync.name)
  }

  /// Whether the device fetches the field that ``addField()`` adds.
  var fetchesExtra: Bool { withExtra.withLock { $0 } }

  /// Lets all syncs down fetch one more field.
  func addField() async throws {
    if fetchesExtra { return }
    for number in world.levels.indices {
      let downs = world.downs.filter { $0.soup == world.levels[number].soup }
      if downs.isEmpty { continue }
      for (down, target) in zip(downs, try world.downTargets(number, withExtra: true)) {
        guard let id = try await manager.syncStatus(forName: down.name)?.id else { continue }
        try await manager.changeSyncDown(forId: id, toTargetJSON: target)
      }
    }
    withExtra.withLock { $0 = true }
  }
}
