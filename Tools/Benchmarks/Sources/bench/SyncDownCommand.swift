import ArgumentParser
import Crypto
import Foundation
import MobileSync
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets

/// Syncs all records of the replay server down into an encrypted, empty store.
struct SyncDownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "sync-down")
  @Option var url: String

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "fieldforce-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let stores = SmartStoreManager(
      root: folder, encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))))
    let store = try await stores.sharedGlobal()
    try await store.registerSoup(
      withName: "accounts",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: "Name", type: .string),
        SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: "NumberOfEmployees", type: .integer),
        SoupIndex(path: "AnnualRevenue", type: .floating),
      ])
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let manager = try await SyncManager(
      store: store, sender: try ReplaySender(url: url), registry: registry)
    let target = try SoqlSyncDownTarget(query: "SELECT Id, Name FROM Account")

    let start = ContinuousClock.now
    let run = try await manager.syncDown(target: target, soupName: "accounts")
    let state = try await run.finished()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await manager.close()
    try await stores.close()
    try Measurement(
      seconds: seconds, records: state.totalSize, peakMegabytes: peakMegabytes()
    ).print()
  }
}

/// A client of the replay server; the requests and answers are those of any account.
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
