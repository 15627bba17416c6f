import BasicSyncUp
import BatchSyncUp
import BriefcaseSyncDown
import CollectionSyncUp
import LayoutSyncDown
import MetadataSyncDown
import MobileSync
import MobileSyncTestSupport
import MruSyncDown
import ParentChildrenSync
import RefreshSyncDown
import SalesforceSDKCommon
import SoqlSyncDown
import SoslSyncDown
import StandardSyncTargets
import Testing

/// The samples of the targets' landing pages, and the JSON that stands next to each.
@Suite struct TargetSamples {
  /// A target from the JSON of its page equals the one that the page makes in code.
  private func same<Target: SyncTarget>(_ target: Target, _ json: String) throws {
    guard case .object(let configuration) = try JSONSlice(parsing: json).value else {
      Issue.record("The sample is no object.")
      return
    }
    let read = try Target(configuration: configuration)
    #expect(read.configuration == target.configuration)
  }

  @Test func `the samples of targets that download make the targets of their JSON`() throws {
    // sample: soql-target
    let accounts = try SoqlSyncDownTarget(
      query: "SELECT Name, Phone FROM Account WHERE Industry = 'Energy'")
    // end of sample
    try same(
      accounts,
      #"{"type": "soql", "query": "SELECT Name, Phone FROM Account WHERE Industry = 'Energy'"}"#)

    // sample: sosl-target
    let found = try SoslSyncDownTarget(
      query: "FIND {harbor} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)")
    // end of sample
    #expect(found.query.hasPrefix("FIND {harbor}"))

    // sample: mru-target
    let recent = try MruSyncDownTarget(objectType: "Account", fieldlist: ["Name", "Phone"])
    // end of sample
    try same(
      recent, #"{"type": "mru", "sobjectType": "Account", "fieldlist": ["Name", "Phone"]}"#)

    // sample: refresh-target
    let refresh = try RefreshSyncDownTarget(
      soupName: "accounts", objectType: "Account", fieldlist: ["Name", "Phone"])
    // end of sample
    #expect(refresh.soupName == "accounts")

    // sample: briefcase-target
    let briefcase = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(
        sobjectType: "Account", soupName: "accounts", fieldlist: ["Name", "Phone"]),
      BriefcaseObjectInfo(sobjectType: "Contact", soupName: "contacts", fieldlist: ["LastName"]),
    ])
    // end of sample
    #expect(briefcase.infos.count == 2)

    // sample: trees
    let parent = ParentInfo(sobjectType: "Account", soupName: "accounts")
    let children = ChildrenInfo(
      sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
      parentIdFieldName: "AccountId")
    let down = ParentChildrenSyncDownTarget(
      parent: parent, parentFieldlist: ["Name"], children: children,
      childrenFieldlist: ["LastName"], relationshipType: .lookup)
    let up = ParentChildrenSyncUpTarget(
      parent: parent, children: children, relationshipType: .lookup, createFieldlist: ["Name"],
      updateFieldlist: ["Name"], childrenCreateFieldlist: ["LastName", "AccountId"],
      childrenUpdateFieldlist: ["LastName"])
    // end of sample
    #expect(try down.query(since: 0).contains("Contacts"))
    #expect(up.relationshipType == .lookup)
  }

  @Test func `the samples of targets that upload make the targets of their JSON`() throws {
    // sample: collection-target
    let contacts = CollectionSyncUpTarget(
      fields: SyncUpFields(
        createFieldlist: ["FirstName", "LastName"], updateFieldlist: ["LastName"]))
    // end of sample
    try same(
      contacts,
      #"{"createFieldlist": ["FirstName", "LastName"], "updateFieldlist": ["LastName"]}"#)

    // sample: batch-target
    let inOrder = BatchSyncUpTarget(fields: SyncUpFields(createFieldlist: ["Name"]))
    // end of sample
    try same(inOrder, #"{"type": "batch", "createFieldlist": ["Name"]}"#)

    // sample: basic-target
    let single = BasicSyncUpTarget(fields: SyncUpFields(createFieldlist: ["Name"]))
    // end of sample
    try same(single, #"{"type": "basic", "createFieldlist": ["Name"]}"#)
  }

  @Test func `the samples of descriptions and layouts read the server once`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org, registering: StandardSyncTargets.register)
    let manager = device.manager

    // sample: metadata
    let descriptions = MetadataSyncManager(manager)
    let account = try await descriptions.fetchMetadata(forObject: "Account")
    print(account?.fields.count ?? 0)
    // end of sample
    #expect(account?.name == "Account")
    _ = try await descriptions.fetchMetadata(forObject: "Account")

    // sample: layout
    let layouts = LayoutSyncManager(manager)
    let (_, layout) = try await layouts.fetchLayout(forObjectAPIName: "Account")
    print(layout?.sections.count ?? 0)
    // end of sample
    #expect(layout != nil)
    #expect(org.requests.count == 2)
  }

  @Test func `the sample of the registry names all targets`() throws {
    // sample: targets
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    // end of sample
    let recent: JSONObject = ["type": "mru", "sobjectType": "Account", "fieldlist": ["Name"]]
    #expect(try registry.downTarget(from: recent) is MruSyncDownTarget)
    #expect(try registry.upTarget(from: [:]) is CollectionSyncUpTarget)
    #expect(try registry.upTarget(from: ["type": "batch"]) is BatchSyncUpTarget)
    #expect(try registry.upTarget(from: ["type": "basic"]) is BasicSyncUpTarget)
  }
}
