import MetadataSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct MetadataSyncTests {
  @Test(.covers("MS-298", "MS-141", "MS-146"))
  func `the description is one record under the object's name`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try MetadataSyncDownTarget(objectType: "Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == 1 && state.maxTimeStamp == -1)
    #expect(org.lines == ["GET /{v}/sobjects/Account/describe/"])
    let row = try #require(try await device.row("Id", "Account"))
    #expect(row["name"] == "Account" && row[SyncKeys.syncId] == .integer(state.id))
    org.forgetRequests()
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 0)
    #expect(org.requests.isEmpty)
    #expect(try await device.rows().count == 1)
  }

  @Test(.covers("MS-140", "MS-266", "MS-267"))
  func `the stored form reads back equal, the object is required`()
    throws
  {
    let target = try MetadataSyncDownTarget(objectType: "Account")
    #expect(
      JSONValue.object(target.json) == [
        "sobjectType": "Account", "type": "metadata", "iOSImpl": "SFMetadataSyncDownTarget",
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try MetadataSyncDownTarget(configuration: target.json) == target)
    #expect {
      try MetadataSyncDownTarget(configuration: [:])
    } throws: {
      ($0 as? SyncError)?.message.contains("'sobjectType'") == true
    }
  }

  @Test(.covers("MS-297"))
  func `the three modes ask the cache and the server in their order`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let metadata = MetadataSyncManager(device.manager)
    #expect(try await metadata.fetchMetadata(forObject: "Account", mode: .cacheOnly) == nil)
    #expect(org.requests.isEmpty)
    #expect(try await metadata.fetchMetadata(forObject: "Account")?.name == "Account")
    #expect(try await metadata.fetchMetadata(forObject: "Account")?.name == "Account")
    #expect(org.requests.count == 1)
    _ = try await metadata.fetchMetadata(forObject: "Account", mode: .serverFirst)
    #expect(org.requests.count == 2)
    #expect(
      try await metadata.fetchMetadata(forObject: "Account", mode: .cacheOnly)?.name == "Account")
    #expect(org.requests.count == 2)
  }

  @Test(.covers("MS-296", "MS-300", "MS-301"))
  func `one row a key, no sync stays behind, one index`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let metadata = MetadataSyncManager(device.manager)
    for object in ["Account", "Contact", "Account"] {
      _ = try await metadata.fetchMetadata(forObject: object, mode: .serverFirst)
    }
    let rows = try await device.store.query(
      "SELECT {sfdcMetadata:Id} FROM {sfdcMetadata} ORDER BY {sfdcMetadata:Id}")
    #expect(rows == [["Account"], ["Contact"]])
    #expect(try await device.manager.syncs().isEmpty)
    let indexes = try await device.store.indices(forSoupNamed: "sfdcMetadata")
    #expect(indexes.map(\.path) == ["Id"] && indexes.map(\.type) == [.json1])
  }

  @Test(.covers("MS-299"))
  func `the cached entry is used when the server is away, else the error is thrown`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let metadata = MetadataSyncManager(device.manager)
    _ = try await metadata.fetchMetadata(forObject: "Account")
    org.intervene { _, _ in .unreachable }
    #expect(
      try await metadata.fetchMetadata(forObject: "Account", mode: .serverFirst)?.name == "Account")
    for mode in [FetchMode.cacheFirst, .serverFirst] {
      #expect(
        await syncErrorCode {
          _ = try await metadata.fetchMetadata(forObject: "Contact", mode: mode)
        } == .failed)
    }
    #expect(try await device.manager.syncs().isEmpty)
  }

  @Test(.covers("MS-296"))
  func `a reset empties one user's cache and no other`() async throws {
    let org = InMemoryOrg()
    let devices = [try await Device.open(org), try await Device.open(org)]
    for device in devices {
      for object in ["Account", "Contact"] {
        _ = try await MetadataSyncManager(device.manager).fetchMetadata(forObject: object)
      }
    }
    try await MetadataSyncManager(devices[0].manager).reset()
    for (device, isKept) in zip(devices, [false, true]) {
      for object in ["Account", "Contact"] {
        let cached = try await MetadataSyncManager(device.manager)
          .fetchMetadata(forObject: object, mode: .cacheOnly)
        #expect((cached != nil) == isKept)
      }
    }
  }

  @Test(.covers("MS-300"))
  func `a sync that a crash left behind goes with the next fetch`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    _ = try await MetadataSyncManager(device.manager).fetchMetadata(forObject: "Account")
    let sync = try await device.manager.createSyncDown(
      target: try MetadataSyncDownTarget(objectType: "Contact"),
      options: SyncOptions(mergeMode: .overwrite), soupName: MetadataSyncManager.soupName)
    try await device.changeStoredSync(sync.id, ["status": "RUNNING"])
    try await device.restartProcess()
    #expect(try await device.manager.syncs().count == 1)
    _ = try await MetadataSyncManager(device.manager)
      .fetchMetadata(forObject: "Contact", mode: .serverFirst)
    #expect(try await device.manager.syncs().isEmpty)
  }

  @Test(.covers("MS-302"))
  func `flags are read by their values`() throws {
    let metadata = Metadata(
      rawData: try JSONSlice(
        parsing: #"{"name":"Account","createable":false,"custom":true,"fields":[{"name":"Id"}]}"#))
    #expect(!metadata.createable && metadata.custom && !metadata.queryable)
    #expect(metadata.fields.first?["name"]?.string == "Id" && metadata.childRelationships.isEmpty)
  }

  private static let flags: [(key: String, value: @Sendable (Metadata) -> Bool)] = [
    ("activateable", { $0.activateable }), ("compactLayoutable", { $0.compactLayoutable }),
    ("createable", { $0.createable }), ("custom", { $0.custom }),
    ("customSetting", { $0.customSetting }), ("deletable", { $0.deletable }),
    ("deprecatedAndHidden", { $0.deprecatedAndHidden }), ("feedEnabled", { $0.feedEnabled }),
    ("hasSubtypes", { $0.hasSubtypes }), ("isSubtype", { $0.isSubtype }),
    ("layoutable", { $0.layoutable }), ("mergeable", { $0.mergeable }),
    ("mruEnabled", { $0.mruEnabled }), ("queryable", { $0.queryable }),
    ("replicateable", { $0.replicateable }), ("retrieveable", { $0.retrieveable }),
    ("searchLayoutable", { $0.searchLayoutable }), ("searchable", { $0.searchable }),
    ("triggerable", { $0.triggerable }), ("undeletable", { $0.undeletable }),
    ("updateable", { $0.updateable }),
  ]

  @Test(.covers("MS-302"))
  func `each flag has its own key and its value, and is off where there is none`() throws {
    for (index, flag) in Self.flags.enumerated() {
      // Present and false everywhere but at one.
      let members = Self.flags.map { "\"\($0.key)\": \($0.key == flag.key)" }
      let metadata = Metadata(
        rawData: try JSONSlice(parsing: "{\(members.joined(separator: ", "))}"))
      let on = Self.flags.indices.filter { Self.flags[$0].value(metadata) }
      #expect(on == [index], "\(flag.key)")
    }
    let empty = Metadata(rawData: try JSONSlice(parsing: "{}"))
    #expect(Self.flags.allSatisfy { !$0.value(empty) })
    #expect(empty.label == nil && empty.urls == nil && empty.fields.isEmpty)
  }

  @Test(.covers("MS-302"))
  func `names, prefix, addresses and the whole description are read`() throws {
    let text = """
      {"name": "Account", "label": "Customer", "labelPlural": "Customers", "keyPrefix": "001",
      "networkScopeFieldName": "NetworkId", "urls": {"sobject": "/sobjects/Account"},
      "childRelationships": [{"field": "AccountId"}], "fields": [], "more": [1]}
      """
    let metadata = Metadata(rawData: try JSONSlice(parsing: text))
    #expect(
      [
        metadata.name, metadata.label, metadata.labelPlural, metadata.keyPrefix,
        metadata.networkScopeFieldName,
      ] == ["Account", "Customer", "Customers", "001", "NetworkId"])
    #expect(metadata.urls?["sobject"]?.string == "/sobjects/Account")
    #expect(metadata.childRelationships.map { $0["field"]?.string } == ["AccountId"])
    #expect(try metadata.rawData.value == JSONValue(parsing: text))
  }
}
