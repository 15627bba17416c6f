import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import TestSupport
@testable import MobileSyncTests

/// A device with a sync down and a sync up of nine records, which come in three pages and are uploaded in
/// batches of two: what the proofs about single steps of a run work with.
struct SyncSteps {
  static let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]

  let org: InMemoryOrg
  let device: Device
  let ids: [String]

  /// Makes both syncs and runs the sync down.
  static func synced(_ mode: SyncMergeMode) async throws -> SyncSteps {
    let org = InMemoryOrg()
    org.pageSize = 3
    org.setClock(SalesforceDateNow.milliseconds)
    let ids = (0..<9).map { org.create("Account", ["Name": .string("n\($0)"), "Phone": "0"]) }
    let device = try await Device.open(org)
    let options = SyncOptions(
      mergeMode: mode, fieldlist: ["Name", "Phone"],
      fetchesModificationDates: mode == .leaveIfChanged)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options,
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(maxBatchSize: 2), options: options, soupName: Device.soup,
      syncName: "up")
    let steps = SyncSteps(org: org, device: device, ids: ids)
    try await steps.run("down")
    org.forgetRequests()
    return steps
  }

  /// Runs a sync to its end.
  func run(_ name: String) async throws {
    _ = try await device.manager.reSync(named: name).finished()
  }

  /// Another user changes every record.
  func changeOnServer() {
    for id in ids { org.update("Account", id, ["Name": "theirs"]) }
  }

  /// Runs a sync, and does something before the server sees its `number`th request, the first being 1.
  ///
  /// - Returns: Whether there was such a request.
  func run(
    _ name: String, at number: Int, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> Bool {
    org.intervene { seen, _ in
      if seen == number { try? await body() }
      return .none
    }
    try await run(name)
    org.intervene(nil)
    return org.requests.count >= number
  }

  /// Runs a sync in a process that is killed at its `number`th request, and starts another process.
  ///
  /// - Parameter isDone: Whether the server still processes the request.
  /// - Returns: Whether there was such a request.
  func kill(_ name: String, at number: Int, isDone: Bool) async throws -> Bool {
    let manager = device.manager
    org.intervene { seen, _ in
      guard seen == number else { return .none }
      let killing = Task { await manager.close() }
      await awaitCancellation()
      _ = killing
      return isDone ? .dropResponse : .unreachable
    }
    let code = await syncErrorCode { try await run(name) }
    org.intervene(nil)
    if code == .closed {
      // Later, when the server can no longer be at work on the request.
      org.advanceClock(by: SyncEnvironment().lateArrival + .seconds(10))
      try await device.restartProcess()
    }
    return code == .closed
  }

  /// The rows and the server's records, by id, as far as both have the fields.
  func sides() async throws -> (here: [String: [JSONValue]], there: [String: [JSONValue]]) {
    func shape(_ records: [JSONValue]) -> [String: [JSONValue]] {
      Dictionary(
        records.map { record in
          (record["Id"]?.string ?? "", ["Name", "Phone"].map { record[$0] ?? .null })
        }, uniquingKeysWith: { $0 + $1 })
    }
    return (
      shape(try await device.rows()), shape(org.records("Account").map { .object($0) })
    )
  }
}
