import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Synchronization
import Testing

@testable import MobileSync
import TestSupport

/// How likely is it that two records created locally have one id?
@Suite struct LocalIdTests {
  @Test(.covers("MS-3"))
  func `a local id holds every bit of the number that is drawn for it`() async throws {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    let numbers = [0, UInt64.max] + (0..<64).map { 1 << $0 }
    let drawn = Mutex(numbers[...])
    let manager = try await SyncManager(
      store: device.store, sender: device.org, registry: device.registry,
      environment: SyncEnvironment(uniqueNumber: {
        drawn.withLock { $0.popFirst() } ?? 0
      }))
    let ids = numbers.map { _ in manager.createLocalId() }
    #expect(ids == numbers.map { "local_\($0)" })
    #expect(Set(ids).count == 66)
    await manager.close()
  }

  @Test(.covers("MS-3"), arguments: [true, false])
  func `all 64 bits are drawn, for a manager and for an edit without one`(
    withManager: Bool
  ) async throws {
    let device = try await Device.open(InMemoryOrg())
    let numbers = try (0..<500).map { _ in
      let id = withManager ? device.manager.createLocalId() : SyncKeys.newLocalId()
      return try #require(UInt64(id.dropFirst("local_".count)))
    }
    // Each bit is one in half of the numbers: that it is the same in all of them happens once in 2^499 runs.
    #expect(numbers.reduce(0, |) == .max)
    #expect(numbers.reduce(.max, &) == 0)
  }
}
