import ArgumentParser
import CollectionSyncUp
import Crypto
import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets

/// Syncs with an encrypted store of accounts, as far as that is this side's work.
struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    subcommands: [Down.self, Prepare.self, Nothing.self, Ghosts.self, Up.self])

  /// All records of the replay server into an empty store, or into one that has them already.
  struct Down: AsyncParsableCommand {
    @Option var url: String
    @Flag var again = false

    func run() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "fieldforce-bench-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let device = try await BenchDevice(folder, try ReplaySender(url: url))
      if again { _ = try await device.syncDown().finished() }
      let start = ContinuousClock.now
      let state =
        again
        ? try await device.manager.reSync(named: BenchDevice.down).finished()
        : try await device.syncDown().finished()
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      try await device.close()
      try Measurement(
        seconds: seconds, records: state.totalSize, peakMegabytes: peakMegabytes()
      ).print()
    }
  }

  /// Fills a store in a folder, for the rows below.
  struct Prepare: AsyncParsableCommand {
    @Argument var folder: String
    @Option var records: Int

    func run() async throws {
      let device = try await BenchDevice(
        URL(filePath: folder), StoredResponses(records: records))
      let state = try await device.syncDown().finished()
      try await device.close()
      try Measurement(records: state.totalSize).print()
    }
  }

  /// A re-sync that finds nothing new.
  struct Nothing: AsyncParsableCommand {
    @Argument var folder: String

    func run() async throws {
      let server = StoredResponses(records: 0)
      let device = try await BenchDevice(URL(filePath: folder), server)
      let start = ContinuousClock.now
      _ = try await device.manager.reSync(named: BenchDevice.down).finished()
      try await device.report(since: start, server)
    }
  }

  /// Cleaning of ghosts where the server has all records but the first hundred.
  struct Ghosts: AsyncParsableCommand {
    @Argument var folder: String
    @Option var records: Int

    func run() async throws {
      let server = StoredResponses(records: records, gone: 100)
      let device = try await BenchDevice(URL(filePath: folder), server)
      let start = ContinuousClock.now
      let ghosts = try await device.manager.cleanResyncGhosts(forName: BenchDevice.down)
      guard ghosts == 100 else { throw ValidationError("\(ghosts) ghosts were removed") }
      try await device.report(since: start, server)
    }
  }

  /// Edits of 10,000 records, sent 200 at a time, with and without a look at the server's dates.
  struct Up: AsyncParsableCommand {
    @Argument var folder: String
    @Flag var detectsConflicts = false

    func run() async throws {
      let edits = 10_000
      let server = StoredResponses(records: edits)
      let device = try await BenchDevice(URL(filePath: folder), server)
      try await device.edit(edits)
      let start = ContinuousClock.now
      let run = try await device.manager.syncUp(
        target: CollectionSyncUpTarget(),
        options: SyncOptions(
          mergeMode: detectsConflicts ? .leaveIfChanged : .overwrite, fieldlist: ["Phone"]),
        soupName: BenchDevice.soup)
      let state = try await run.finished()
      let left = try await device.manager.unsyncedRecords()
      guard state.totalSize == edits, left.isEmpty else {
        throw ValidationError("\(left) of \(state.totalSize) edits were left")
      }
      try await device.report(since: start, server)
    }
  }
}

/// A store with one soup of five indexes, and the syncs of it.
struct BenchDevice {
  static let soup = "accounts"
  static let down = "accounts down"

  let stores: SmartStoreManager
  let store: SmartStore
  let manager: SyncManager

  /// Opens the store in `folder`, always with the same key.
  init(_ folder: URL, _ sender: some SyncRequestSender) async throws {
    let key = SymmetricKey(data: Array(0..<32 as Range<UInt8>))
    stores = SmartStoreManager(root: folder, encryption: .encrypted(FixedKeyProvider(key)))
    store = try await stores.sharedGlobal()
    try await store.registerSoup(
      withName: Self.soup,
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: "Name", type: .string),
        SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: "NumberOfEmployees", type: .integer),
        SoupIndex(path: "AnnualRevenue", type: .floating),
      ])
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    manager = try await SyncManager(store: store, sender: sender, registry: registry)
  }

  func syncDown() async throws -> SyncRun {
    try await manager.syncDown(
      target: try SoqlSyncDownTarget(query: "SELECT Id, Name FROM Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Self.soup, syncName: Self.down)
  }

  /// Changes the phone number of the first records, as a user would.
  func edit(_ count: Int) async throws {
    for start in stride(from: 1, to: count + 1, by: 1000) {
      let rows = try await store.retrieve(
        usingSoupEntryIds: Array(Int64(start)..<Int64(start + 1000)), fromSoupNamed: Self.soup)
      let edited = rows.map { row in
        var row = row.value
        row["Phone"] = "555-0100"
        row[SyncKeys.local] = true
        row[SyncKeys.locallyUpdated] = true
        return row
      }
      try await store.upsert(entries: edited, forSoupNamed: Self.soup)
    }
  }

  /// Ends, and prints the time without that of the stored responses.
  func report(since start: ContinuousClock.Instant, _ server: StoredResponses) async throws {
    let seconds = (ContinuousClock.now - start) / .seconds(1) - server.spent.seconds
    try await close()
    try Measurement(
      seconds: seconds, records: server.spent.requests, peakMegabytes: peakMegabytes()
    ).print()
  }

  func close() async throws {
    await manager.close()
    try await stores.close()
  }
}

/// A client of the replay server; the requests and responses are those of any account.
struct ReplaySender: SyncRequestSender {
  private let client: RestClient
  private let base: URL

  init(url: String) throws {
    guard let base = URL(string: url) else { throw ValidationError("\(url) is no address") }
    self.base = base
    client = RestClient(transport: URLSessionTransport())
  }

  func response(to request: RestRequest) async throws -> RestResponse {
    var anonymous = request
    anonymous.host = .base(base)
    anonymous.requiresAuthentication = false
    return try await client.response(to: anonymous)
  }
}
