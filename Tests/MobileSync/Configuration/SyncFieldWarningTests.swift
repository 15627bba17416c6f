import MetadataSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Does every way to create a sync name the mistakes in its fields?
@Suite struct SyncFieldWarningTests {
  enum Way: CaseIterable {
    case create, run, load, change
  }

  private static let options = SyncOptions(mergeMode: .overwrite)

  private func device(_ query: String = Device.query) async throws -> Device {
    let device = try await Device.open(InMemoryOrg())
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: query), options: Self.options, soupName: Device.soup,
      syncName: "down")
    return device
  }

  /// The warnings of a sync up with these fields, each as its code and fields.
  private func warnings(
    _ fields: [String], _ device: Device, _ way: Way = .create
  ) async throws -> [String] {
    let manager = device.manager
    var options = Self.options
    options.fieldlist = fields
    let created: SyncState
    switch way {
    case .create:
      created = try await manager.createSyncUp(
        options: options, soupName: Device.soup, syncName: "up")
    case .run:
      let run = try await manager.syncUp(options: options, soupName: Device.soup, syncName: "up")
      _ = try await run.finished()
      created = run.state
    case .load:
      let file: JSONValue = [
        "syncs": [
          [
            "syncName": "up", "syncType": "syncUp", "soupName": .string(Device.soup),
            "options": .object(options.json),
          ]
        ]
      ]
      let loaded = try await manager.load(
        SyncsConfig(parsing: Array(file.text.utf8), file: "f.json", registry: device.registry))
      created = try #require(loaded.created.first)
      #expect(loaded.warnings == created.warnings)
    case .change:
      options.fieldlist = ["Name", "Phone"]
      let sync = try await manager.createSyncUp(
        options: options, soupName: Device.soup, syncName: "up")
      #expect(sync.warnings.isEmpty)
      options.fieldlist = fields
      created = try await manager.changeSyncUp(forId: sync.id, options: options)
    }
    #expect(created.json["warnings"]?.array?.count ?? 0 == created.warnings.count)
    let stored = try #require(try await manager.syncStatus(forName: "up"))
    #expect(stored.warnings.isEmpty && stored.json["warnings"] == nil)
    return created.warnings.map { "\($0.code) \($0.fields.joined(separator: ","))" }
  }

  @Test(arguments: Way.allCases)
  func `a misspelled field is named by every way to create a sync up`(way: Way) async throws {
    #expect(
      try await warnings(["Name", "Phon"], try await device(), way)
        == ["fieldNotDownloaded Phon", "fieldNotSent Phone"])
  }

  @Test(arguments: Way.allCases)
  func `fields that fit say nothing`(way: Way) async throws {
    #expect(try await warnings(["Name", "Phone"], try await device(), way) == [])
  }

  @Test func `a sync down that comes after the sync up names the same`() async throws {
    let device = try await Device.open(InMemoryOrg())
    #expect(try await warnings(["Name", "Phon"], device) == [])
    let down = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: Self.options,
      soupName: Device.soup, syncName: "down")
    #expect(down.warnings.map { "\($0.code)" } == ["fieldNotDownloaded", "fieldNotSent"])
    #expect(down.warnings.map(\.fields) == [["Phon"], ["Phone"]])
  }

  @Test func `letters are compared with those of the entries before those of the query`()
    async throws
  {
    let device = try await device("select Id, NAME, Phone from Account")
    try await device.download([device.org.create("Account", ["Name": "a", "Phone": "1"])])
    #expect(try await warnings(["NAME", "Phone"], device) == ["fieldInOtherCase NAME"])
    try await device.manager.deleteSync(forName: "up")
    #expect(try await warnings(["Name", "Phone"], device) == [])
  }

  @Test func `a cached describe result tells fields that the object lacks or that are read-only`()
    async throws
  {
    let device = try await device("select Id, Name, Score__c from Account")
    try await device.store.registerSoup(
      withName: MetadataSyncManager.soupName, withIndices: [SoupIndex(path: "Id", type: .json1)])
    try await device.store.upsert(
      entries: [
        [
          "Id": "Account",
          "fields": [
            ["name": "Name", "updateable": true], ["name": "Score__c", "updateable": false],
            ["name": "Fax", "updateable": true],
          ],
        ]
      ], forSoupNamed: MetadataSyncManager.soupName)
    #expect(
      try await warnings(["Name", "Phon", "fax"], device) == [
        "fieldNotOnServer Phon", "fieldInOtherCase fax", "fieldNotDownloaded fax",
      ])
    // FIELDS(ALL) are those of the description.
    try await device.manager.deleteSync(forName: "up")
    try await device.manager.changeSyncDown(
      forId: try #require(try await device.manager.syncStatus(forName: "down")).id,
      to: try SoqlSyncDownTarget(query: "select FIELDS(ALL) from Account limit 200"))
    #expect(try await warnings(["Name"], device) == ["fieldNotSent Fax"])
  }

  @Test func `a stored sync that differs from the file is named and stays`() async throws {
    let device = try await device()
    func load(_ query: String) async throws -> SyncManager.LoadedSyncs {
      let file = """
        {"syncs": [
          {"syncName": "down", "syncType": "syncDown", "soupName": "\(Device.soup)",
           "target": {"type": "soql", "query": "\(query)"}},
          {"syncName": "poor", "syncType": "syncDown", "soupName": "a", "target": {"type": "soql"}},
          {"syncType": "syncUp"}
        ]}
        """
      return try await device.manager.load(
        SyncsConfig(parsing: Array(file.utf8), file: "f.json", registry: device.registry))
    }
    let same = try await load(Device.query)
    #expect(same.existing == ["down"] && same.differing == [])
    #expect(same.leftOut == ["poor", "syncs[2]"])
    let other = try await load("select Id, Name from Account")
    #expect(other.existing == ["down"] && other.differing == ["down"])
    let problem = try #require(other.problems.first { $0.code == .differsFromStored })
    #expect(problem.isWarning && problem.line == 2 && problem.message.contains("'down'"))
    // The remedy.
    try await device.manager.deleteSync(forName: "down")
    #expect(try await load("select Id, Name from Account").created.map(\.name) == ["down"])
  }

  @Test func `a sync up that was changed sends what it left out, and its base versions begin`()
    async throws
  {
    let device = try await device()
    let id = device.org.create("Account", ["Name": "a", "Phone": "1"])
    _ = try await device.manager.reSync(named: "down").finished()
    var options = SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"])
    let up = try await device.manager.createSyncUp(
      options: options, soupName: Device.soup, syncName: "up")
    _ = try await device.store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "2" }
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(device.org.record("Account", id)?["Phone"] == "1")
    options.fieldlist = ["Name", "Phone"]
    options.mergeMode = .mergeFields
    let changed = try await device.manager.changeSyncUp(forId: up.id, options: options)
    #expect(changed.options == options && changed.target == up.target)
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(device.org.record("Account", id)?["Phone"] == "2")
    #expect(try await device.dirtyRows().isEmpty)
    let down = try #require(try await device.manager.syncStatus(forName: "down"))
    await #expect(throws: SyncError.self) {
      try await device.manager.changeSyncUp(forId: down.id, options: options)
    }
  }
}
