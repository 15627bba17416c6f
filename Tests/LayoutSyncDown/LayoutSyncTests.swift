import LayoutSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct LayoutSyncTests {
  @Test(.covers("MS-298", "MS-143", "BX-69"))
  func `the given values are requested and the record is kept under all of them`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let request = LayoutRequest(
      objectAPIName: "Account", formFactor: "Medium", layoutType: "", mode: "Edit",
      recordTypeId: nil)
    let run = try await device.manager.syncDown(
      target: try LayoutSyncDownTarget(request), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == 1 && state.maxTimeStamp == -1)
    #expect(org.lines == ["GET /{v}/ui-api/layout/Account"])
    #expect(org.requests[0].query == ["formFactor": "Medium", "mode": "Edit"])
    // MS-144: a missing part is written as null.
    let row = try #require(try await device.row("Id", "Account-Medium-null-Edit-null"))
    #expect(row["objectApiName"] == "Account")
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 0)
  }

  @Test(.covers("MS-144", "MS-145"))
  func `unknown values are passed through, missing parts of the id are null`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let request = LayoutRequest(objectAPIName: "Account", formFactor: "Gigantic", mode: "Look")
    _ = try await device.manager.syncDown(
      target: try LayoutSyncDownTarget(request), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(org.requests[0].query == ["formFactor": "Gigantic", "mode": "Look"])
    #expect(try await device.row("Id", "Account-Gigantic-null-Look-null") != nil)
  }

  @Test(.covers("BX-69", "MS-143", "MS-144"))
  func `all values of a layout are in its request and in the id of its record`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let target = try LayoutSyncDownTarget(configuration: [
      "sobjectType": "Account", "formFactor": "Small", "layoutType": "Compact", "mode": "Create",
      "recordTypeId": "012000000000001AAA",
    ])
    _ = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(
      org.requests.map(\.query) == [
        [
          "formFactor": "Small", "layoutType": "Compact", "mode": "Create",
          "recordTypeId": "012000000000001AAA",
        ]
      ])
    let key = "Account-Small-Compact-Create-012000000000001AAA"
    #expect(try await device.rows().map { $0["Id"]?.string } == [key])
  }

  @Test(.covers("MS-142", "MS-266", "MS-267"))
  func `the stored form reads back equal, the object is required`()
    throws
  {
    let target = try LayoutSyncDownTarget(
      LayoutRequest(objectAPIName: "Account", formFactor: "Large"))
    #expect(
      JSONValue.object(target.json) == [
        "sobjectType": "Account", "formFactor": "Large", "layoutType": nil, "mode": nil,
        "recordTypeId": nil, "type": "layout", "iOSImpl": "SFLayoutSyncDownTarget",
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try LayoutSyncDownTarget(configuration: target.json) == target)
    #expect {
      try LayoutSyncDownTarget(configuration: ["formFactor": "Large"])
    } throws: {
      ($0 as? SyncError)?.message.contains("'sobjectType'") == true
    }
  }

  @Test(.covers("MS-297", "MS-304"))
  func `a fetch repeats its request and uses the cache the next time`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let layouts = LayoutSyncManager(device.manager)
    let fetched = try await layouts.fetchLayout(forObjectAPIName: "Account")
    #expect(fetched.request.key == "Account-Large-Full-View-null")
    #expect(fetched.layout?.id == "Layout" && fetched.layout?.sections.isEmpty == true)
    _ = try await layouts.fetchLayout(forObjectAPIName: "Account")
    #expect(org.requests.count == 1)
    let other = try await layouts.fetchLayout(
      forObjectAPIName: "Account", mode: "Edit", fetchMode: .cacheOnly)
    #expect(other.layout == nil)
    try await layouts.reset()
    #expect(
      try await layouts.fetchLayout(forObjectAPIName: "Account", fetchMode: .cacheOnly).layout
        == nil)
    #expect(try await device.manager.syncs().isEmpty)
  }

  @Test(.covers("MS-296"))
  func `layouts have a soup with an index on the key, and one user's reset leaves others' alone`()
    async throws
  {
    let org = InMemoryOrg()
    let devices = [try await Device.open(org), try await Device.open(org)]
    for device in devices {
      let layouts = LayoutSyncManager(device.manager)
      _ = try await layouts.fetchLayout(forObjectAPIName: "Account")
      _ = try await layouts.fetchLayout(forObjectAPIName: "Contact", fetchMode: .serverFirst)
      let indexes = try await device.store.indices(forSoupNamed: "sfdcLayouts")
      #expect(indexes.map(\.path) == ["Id"] && indexes.map(\.type) == [.json1])
      #expect(
        try await device.store.query("SELECT {sfdcLayouts:Id} FROM {sfdcLayouts} ORDER BY 1") == [
          ["Account-Large-Full-View-null"], ["Contact-Large-Full-View-null"],
        ])
    }
    try await LayoutSyncManager(devices[0].manager).reset()
    org.forgetRequests()
    for (device, isKept) in zip(devices, [false, true]) {
      for object in ["Account", "Contact"] {
        let cached = try await LayoutSyncManager(device.manager)
          .fetchLayout(forObjectAPIName: object, fetchMode: .cacheOnly)
        #expect((cached.layout != nil) == isKept)
      }
    }
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-299"))
  func `the cached layout is used when the server is away, else the error is thrown`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let layouts = LayoutSyncManager(device.manager)
    _ = try await layouts.fetchLayout(forObjectAPIName: "Account")
    org.intervene { _, _ in .unreachable }
    let cached = try await layouts.fetchLayout(
      forObjectAPIName: "Account", fetchMode: .serverFirst)
    #expect(cached.layout?.rawData["objectApiName"]?.string == "Account")
    for mode in [FetchMode.cacheFirst, .serverFirst] {
      #expect(
        await syncErrorCode {
          _ = try await layouts.fetchLayout(forObjectAPIName: "Contact", fetchMode: mode)
        } == .failed)
    }
    #expect(try await device.manager.syncs().isEmpty)
  }

  @Test(.covers("MS-303"))
  func `a layout is read down to its components`() throws {
    let layout = Layout(
      rawData: try JSONSlice(
        parsing: """
          {"id": "00h", "layoutType": "Full", "mode": "View", "sections": [{"id": "s", "columns": 2,
          "rows": 1, "collapsible": true, "useHeading": true, "heading": "H", "layoutRows":
          [{"layoutItems": [{"label": "Name", "required": true, "editableForNew": true,
          "editableForUpdate": false, "sortable": false, "lookupIdApiName": null,
          "layoutComponents": [{"apiName": "Name"}]}, {"sortable": true,
          "lookupIdApiName": "OwnerId"}]}]}, {"useHeading": false, "collapsible": false}]}
          """))
    let section = try #require(layout.sections.first)
    #expect(section.columns == 2 && section.rows == 1 && section.collapsible && section.useHeading)
    let item = try #require(section.layoutRows.first?.layoutItems.first)
    #expect(item.label == "Name" && item.required && item.editableForNew && !item.editableForUpdate)
    #expect(item.layoutComponents.first?["apiName"]?.string == "Name")
    #expect(item.lookupIdApiName == nil && !item.sortable)
    #expect(layout.id == "00h" && layout.mode == "View" && layout.layoutType == "Full")
    #expect(layout.rawData["sections"]?[0]?["heading"]?.string == "H")
    #expect(section.id == "s" && section.heading == "H")
    let lookup = try #require(section.layoutRows.first?.layoutItems.last)
    #expect(lookup.sortable && lookup.lookupIdApiName == "OwnerId" && lookup.label == nil)
    #expect(!lookup.required && !lookup.editableForNew && lookup.layoutComponents.isEmpty)
    #expect(layout.sections.count == 2)
    #expect(!layout.sections[1].useHeading && !layout.sections[1].collapsible)
  }
}
