import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Synchronization
import TestSupport
import Testing
@testable import MobileSyncTests

/// Does a first download in ranges bring what the serial one brings, whatever happens to it?
@Suite struct PartitionStoryTests {
  @Test func `any history of changes and kills ends with the records of the serial form`()
    async throws
  {
    let first = Effort.seed(1)
    for number in 0..<Effort.times(60) {
      let seed = first &+ UInt64(number)
      if let fault = try await Self.live(seed) {
        Issue.record("Seed \(seed): \(fault)")
        return
      }
    }
  }

  /// Lives through a history.
  ///
  /// - Returns: What is wrong in the end; nil if nothing is.
  private static func live(_ seed: UInt64) async throws -> String? {
    var random = SeededGenerator(seed: seed)
    let org = InMemoryOrg()
    org.pageSize = Int.random(in: 1...6, using: &random)
    // Changes within one second have the same date.
    org.setTickLength([1_000, 1_000, 5_000].randomElement(using: &random) ?? 1_000)
    for number in 0..<Int.random(in: 12...60, using: &random) {
      org.create("Account", ["Name": .string("\(number)"), "Phone": "0"])
      if Int.random(in: 0..<12, using: &random) == 0 {
        for _ in 0..<Int.random(in: 1...200, using: &random) { org.create("Contact", [:]) }
      }
    }
    let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]
    let options = SyncOptions(mergeMode: modes[Int(seed % 3)])
    let device = try await Device.open(org)
    let sync = try await device.manager.createSyncDown(
      target: SoqlSyncDownTarget(
        query: Device.query, partitions: Int.random(in: 2...6, using: &random),
        partitionsFrom: 10), options: options, soupName: Device.soup)
    var attempts = 0
    while attempts < 12 {
      attempts += 1
      let kill = attempts < 6 ? Int.random(in: 1...20, using: &random) : Int.max
      let changes = Mutex(SeededGenerator(seed: seed &* 31 &+ UInt64(attempts)))
      org.forgetRequests()
      org.intervene { number, _ in
        changes.withLock { change(org, &$0) }
        guard number == kill else { return .none }
        await device.endProcess()
        return .dropResponse
      }
      let state = try await device.manager.reSync(id: sync.id).lastState()
      org.intervene(nil)
      if state?.status == .done { break }
      try await device.restartProcess()
    }
    let rows = try await device.rows()
    if Set(rows.compactMap { $0["Id"]?.string }).count != rows.count { return "doubles: \(rows)" }
    let last = try await device.manager.reSync(id: sync.id).lastState()
    if last?.status != .done { return "the last run ended as \(String(describing: last))" }
    _ = try await device.manager.cleanResyncGhosts(forId: sync.id)

    let other = try await Device.open(org)
    _ = try await other.manager.syncDown(
      target: SoqlSyncDownTarget(query: Device.query, partitions: 1), options: options,
      soupName: Device.soup
    ).lastState()
    let (here, there) = (shape(try await device.rows()), shape(try await other.rows()))
    return here == there ? nil : "\(attempts) runs: here \(here), by the serial form \(there)"
  }

  private static func shape(_ records: [JSONValue]) -> [String] {
    records.map { record in
      ["Id", "Name", "Phone", "LastModifiedDate"].map { record[$0]?.string ?? "" }
        .joined(separator: ", ")
    }.sorted()
  }

  private static func change(_ org: InMemoryOrg, _ random: inout SeededGenerator) {
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    guard let id = ids.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: org.create("Account", ["Name": .string("new \(ids.count)"), "Phone": "1"])
    case 1: org.delete("Account", id)
    case 2: org.undelete(org.deletedRecords("Account").last?["Id"]?.string ?? "")
    case 3, 4: org.update("Account", id, ["Phone": .string("\(random.next() % 1_000)")])
    default: break
    }
  }
}
