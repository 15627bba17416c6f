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
import SalesforceSDKCore
import SoqlSyncDown
import SoslSyncDown
import Testing
import TestSupport

/// Do the targets of the package keep what every target has to keep?
@Suite struct StandardTargetConformanceTests {
  private static let accounts = ParentInfo(sobjectType: "Account", soupName: Device.soup)
  private static let contacts = ChildrenInfo(
    sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
    parentIdFieldName: "AccountId")

  /// How many batches `count` records make.
  private static func batches(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

  @Test(
    .covers("MS-228"),
    arguments: SyncUpConformance(CollectionSyncUpTarget()) { count, mode in
      batches(count, of: 200) + (mode == .leaveIfChanged ? 1 : 0)
    }.cases)
  func `the collection target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-222"),
    arguments: SyncUpConformance(BatchSyncUpTarget()) { count, mode in
      batches(count, of: 25) + (mode == .leaveIfChanged ? 1 : 0)
    }.cases)
  func `the batch target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-181"),
    arguments: SyncUpConformance(BasicSyncUpTarget()) { count, mode in
      count * (mode == .leaveIfChanged ? 2 : 1)
    }.cases)
  func `the basic target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-241"),
    arguments: SyncUpConformance(
      ParentChildrenSyncUpTarget(
        parent: accounts, children: contacts, relationshipType: .masterDetail),
      requests: { count, mode in
        mode == .leaveIfChanged ? 2 * count + batches(count, of: 2_000) : count
      },
      prepare: { try await $0.prepareTrees() }
    ).cases)
  func `the parent-children target upwards`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-104"),
    arguments: try SyncDownConformance(SoqlSyncDownTarget(query: "select Name from Account")) {
      count in batches(count, of: 2_000)
    }.cases)
  func `the SOQL target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  private static func partitioned() throws -> SyncDownConformance<SoqlSyncDownTarget> {
    var conformance = SyncDownConformance(
      try SoqlSyncDownTarget(
        query: "select Name from Account", partitions: 3, partitionsFrom: 3))
    conformance.pageSize = 1
    // The query that counts, the bounds, and for each range the page that was on its way and the one behind it.
    conformance.resumptionCost = 9
    return conformance
  }

  @Test(arguments: try partitioned().cases)
  func `the SOQL target in ranges of ids`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-118"),
    arguments: try SyncDownConformance(
      SoslSyncDownTarget(query: "FIND {a} RETURNING Account(Id, Name, LastModifiedDate)"),
      requests: { _ in 1 }, prepare: { device, ids in device.org.setFound(ids) }
    ).cases)
  func `the SOSL target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-122"),
    arguments: try SyncDownConformance(
      MruSyncDownTarget(objectType: "Account", fieldlist: ["Name"]),
      requests: { 1 + batches($0, of: 500) },
      prepare: { device, ids in device.org.setRecent(ids) }
    ).cases)
  func `the MRU target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-128"),
    arguments: try SyncDownConformance(
      RefreshSyncDownTarget(
        soupName: Device.soup, objectType: "Account", fieldlist: ["Name"]),
      requests: { batches($0, of: 500) },
      prepare: { device, ids in try await device.download(ids) }
    ).cases)
  func `the refresh target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-163"),
    arguments: SyncDownConformance(
      BriefcaseSyncDownTarget(infos: [
        BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
      ]),
      requests: { 2 * batches($0, of: 2_000) },
      prepare: { device, ids in device.org.setBriefcase(["Account": ids]) }
    ).cases)
  func `the briefcase target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-147"),
    arguments: SyncDownConformance(
      ParentChildrenSyncDownTarget(
        parent: accounts, parentFieldlist: ["Name"], children: contacts,
        childrenFieldlist: ["LastName"], relationshipType: .masterDetail),
      requests: { batches($0, of: 2_000) },
      prepare: { device, _ in try await device.prepareTrees() }
    ).cases)
  func `the parent-children target downwards`(
    _ guarantee: SyncConformanceCase
  ) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-143"),
    arguments: try DescriptionConformance(
      LayoutSyncDownTarget(LayoutRequest(objectAPIName: "Account", formFactor: "Large"))
    ).cases)
  func `the layout target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-141"),
    arguments: try DescriptionConformance(MetadataSyncDownTarget(objectType: "Account")).cases)
  func `the metadata target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  // MARK: Another id field

  @Test(
    .covers("MS-179"),
    arguments: try SyncDownConformance(
      SoqlSyncDownTarget(query: "select Name from Account", idFieldName: "Key__c")
    ).cases)
  func `a SOQL target with an id field of its own`(
    _ guarantee: SyncConformanceCase
  ) async throws {
    try await guarantee.check()
  }

  @Test(
    .covers("MS-179"),
    arguments: SyncUpConformance(CollectionSyncUpTarget(idFieldName: "Key__c")).cases)
  func `a collection target with an id field of its own`(
    _ guarantee: SyncConformanceCase
  ) async throws {
    try await guarantee.check()
  }

  // MARK: The suite itself

  /// A target that forgets the mark, doubles records and tells lies, so that the suite is seen to fail.
  private struct BrokenTarget: SyncUpTarget {
    static let kind = SyncTargetKind(.syncUp, typeName: "broken", implementationName: "Broken")
    let fields = SyncUpFields()
    init() {}
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }
    func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
      group.map { _ in .succeeded(id: "001") }
    }
    func remoteDates(
      of records: [SyncUpRecord], in context: SyncContext
    ) async throws -> [RemoteDate] { records.map { _ in .modified(0) } }
  }

  @Test func `a target that does nothing fails by the names of its guarantees`() async throws {
    do {
      try await SyncUpConformance(BrokenTarget()).check()
      Issue.record("the broken target passed")
    } catch let failure as ConformanceFailure {
      for guarantee in [
        "What was made, edited and deleted here is so on the server",
        "A newer record on the server is left alone", "A refused record keeps the server's words",
      ] {
        #expect(failure.description.contains(guarantee))
      }
    }
  }

  /// A target that does not tell a record that is gone from one that it could not ask for.
  private struct ForgetfulTarget: SyncUpTarget {
    static let kind = SyncTargetKind(
      .syncUp, typeName: "forgetful", implementationName: "Forgetful")
    private let basic = BasicSyncUpTarget()
    var fields: SyncUpFields { basic.fields }
    init() {}
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }
    func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
      try await basic.send(group, in: context)
    }
    func remoteDates(
      of records: [SyncUpRecord], in context: SyncContext
    ) async throws -> [RemoteDate] {
      try await basic.remoteDates(of: records, in: context).map { $0 == .gone ? .unknown : $0 }
    }
  }

  @Test func `a target that does not know that a record is gone is noticed`() async throws {
    let proof = try #require(
      SyncUpConformance(ForgetfulTarget()).cases.first {
        $0.guarantee == "A record that is gone on the server is reported as gone"
      })
    let failure = await #expect(throws: ConformanceFailure.self) { try await proof.check() }
    #expect(failure?.description.contains("remoteDates(of:in:)") == true)
  }

  /// A target whose cursor names a record, which moves to the end when it is changed.
  private struct MovingCursorTarget: SyncDownTarget {
    static let kind = SyncTargetKind(.syncDown, typeName: "moving", implementationName: "Moving")
    init() {}
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }
    var isSortedByModificationDate: Bool { true }

    func startFetch(
      since maxTimeStamp: Int64, in context: SyncContext
    ) async throws -> SyncPage<String>? {
      try await page(
        "since", maxTimeStamp > 0 ? SalesforceDate(milliseconds: maxTimeStamp).text : "",
        in: context)
    }

    func continueFetch(
      _ cursor: String, in context: SyncContext
    ) async throws -> SyncPage<String>? { try await page("after", cursor, in: context) }

    private func page(
      _ name: String, _ value: String, in context: SyncContext
    ) async throws -> SyncPage<String> {
      let json = try await context.json(
        for: RestRequest(path: "/services/apexrest/list", query: [RestQueryItem(name, value)]))
      return SyncPage(
        records: json["records"].map { Array($0.elements) } ?? [], next: json["after"]?.string)
    }

    func remoteIds(
      for localIds: [String], in context: SyncContext
    ) async throws -> Set<String>? { nil }
  }

  @Test(arguments: [("Every record arrives once", false), ("between two pages", true)])
  func `a cursor that names a record is noticed`(guarantee: String, isNoticed: Bool) async throws {
    let suite = SyncDownConformance(
      MovingCursorTarget(),
      prepare: { device, _ in
        device.org.respond(to: "GET /services/apexrest/list") { records, request in
          func date(_ record: JSONObject) -> String { record["LastModifiedDate"]?.string ?? "" }
          var found = records.all("Account").filter { date($0) > request.query["since"] ?? "" }
            .sorted { date($0) < date($1) }
          if let index = found.firstIndex(where: { $0["Id"]?.string == request.query["after"] }) {
            found.removeFirst(index + 1)
          }
          let page = found.prefix(2)
          return (
            200,
            [
              "records": .array(page.map { .object($0) }),
              "after": found.count > 2 ? page.last?["Id"] ?? .null : .null,
            ]
          )
        }
      })
    let proof = try #require(suite.cases.first { $0.guarantee.contains(guarantee) })
    if isNoticed {
      await #expect(throws: ConformanceFailure.self) { try await proof.check() }
    } else {
      try await proof.check()
    }
  }

  @Test func `a guarantee that cannot be proved says why`() {
    let skipped = SyncUpConformance(BrokenTarget()).cases.filter { $0.skipped != nil }
    #expect(skipped.count == 4)
    #expect(skipped.contains { $0.description.contains("UnacknowledgedCreateFinding") })
  }
}

extension Device {
  /// Gives the org accounts with contacts, and the device a soup for the latter.
  fileprivate func prepareTrees() async throws {
    org.relate("Contacts", parent: "Account", child: "Contact", by: "AccountId", cascades: true)
    try await registerSoup("contacts", "AccountId")
  }
}
