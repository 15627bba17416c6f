import MobileSyncTestSupport
import ParentChildrenSync
import Testing

@testable import MobileSync
import TestSupport

@Suite struct TreeTargetTests {
  @Test(.covers("MS-252"))
  func `a tree target sends no single records`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let target = ParentChildrenSyncUpTarget(
      parent: ParentInfo(sobjectType: "Account", soupName: Device.soup),
      children: ChildrenInfo(
        sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
        parentIdFieldName: "AccountId"), relationshipType: .lookup)
    let context = SyncContext(
      store: device.store, soupName: Device.soup, syncId: 1, userId: nil, mergeMode: .overwrite,
      sender: device.org, signal: StopSignal(), serverClock: ServerClock())
    #expect(await syncErrorCode { _ = try await target.send([], in: context) } == .invalidTarget)
    #expect(device.org.requests.isEmpty)
  }
}
