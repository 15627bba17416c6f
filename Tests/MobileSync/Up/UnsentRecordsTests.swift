import HTTPTypes
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import Testing

/// What if a plugin does not send what it was given?
@Suite struct UnsentRecordsTests {
  private func device(_ names: [String]) async throws -> Device {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(PickyTarget.self) }
    try await device.create(names.map { ["Name": .string($0)] })
    return device
  }

  @Test func `a record that the target leaves out is not sent, and the run fails`()
    async throws
  {
    let device = try await device(["a", "lost", "b"])
    let run = try await device.manager.syncUp(
      target: PickyTarget(), options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.code == .failed)
    #expect((error?.cause as? SyncError)?.code == .invalidTarget)
    #expect(error?.message.contains("1 of 3 records") == true)
    let outcomes = try await device.manager.outcomes(forId: run.state.id)
    #expect(outcomes.map(\.kind) == [.succeeded, .succeeded, .notSent])
    #expect(outcomes.last?.error?["statusCode"] == "NOT_SENT")
    // No search on the server follows: it was never sent.
    #expect(outcomes.last?.action == nil && outcomes.last?.entryId == 2)
    #expect(await run.allOutcomes().count == 3)
    #expect(try await device.dirtyRows().compactMap { $0["Name"]?.string } == ["lost"])
    #expect(try await device.row("Name", "lost")?[SyncKeys.lastError] == nil)
  }

  @Test func `a record that the target names twice is sent once`() async throws {
    let device = try await device(["a", "twice"])
    let run = try await device.manager.syncUp(
      target: PickyTarget(), options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup)
    _ = try await run.finished()
    #expect(device.org.lines == ["POST /services/data/a", "POST /services/data/twice"])
    #expect(try await device.dirtyRows().isEmpty)
  }
}

/// Sends each record on its own; one called `lost` not at all, one called `twice` twice.
private struct PickyTarget: SyncUpTarget {
  static let kind = SyncTargetKind(.syncUp, typeName: "picky", implementationName: "Picky")

  init() {}
  init(configuration: JSONObject) {}

  var configuration: JSONObject { [:] }
  var maxBatchSize: Int { 10 }
  var fields: SyncUpFields { SyncUpFields() }

  func requests(for batch: [SyncUpRecord]) -> [[SyncUpRecord]] {
    batch.flatMap { record in
      switch record.record["Name"]?.string {
      case "lost": [] as [[SyncUpRecord]]
      case "twice": [[record], [record]]
      default: [[record]]
      }
    }
  }

  func send(
    _ group: [SyncUpRecord], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    for record in group {
      _ = try await context.response(
        to: .init(method: .post, path: record.record["Name"]?.string ?? ""))
    }
    return group.map { .succeeded(id: "001\($0.entryId)") }
  }

  func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    records.map { _ in .unknown }
  }
}
