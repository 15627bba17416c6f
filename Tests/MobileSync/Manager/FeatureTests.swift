import BriefcaseSyncDown
import LayoutSyncDown
import MetadataSyncDown
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCore
import Testing
import TestSupport

/// Which features does the user agent tell?
@Suite struct FeatureTests {
  @Test(.covers("MS-11", "MS-162", "MS-318.1", "CO-183.2"))
  func `features are reported by their codes once they are used`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    _ = try await SyncManagerRegistry(registry: device.registry)
      .sharedInstance(store: device.store, sender: device.org)
    _ = BriefcaseSyncDownTarget(infos: [])
    _ = ParentChildrenSyncDownTarget(
      parent: ParentInfo(sobjectType: "Account", soupName: "a"), parentFieldlist: [],
      children: ChildrenInfo(
        sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "c",
        parentIdFieldName: "AccountId"), childrenFieldlist: [], relationshipType: .lookup)
    _ = MetadataSyncManager(device.manager)
    _ = LayoutSyncManager(device.manager)
    let codes = Set(FeatureMarkers.shared.text.split(separator: "."))
    #expect(codes.isSuperset(of: ["SY", "BC", "RR", "MD", "LY"]))
  }
}
