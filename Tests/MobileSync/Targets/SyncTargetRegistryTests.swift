import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import StandardSyncTargets
import Testing
import TestSupport

@Suite struct SyncTargetRegistryTests {
  /// A third party's target with keys of its own.
  struct ApexTarget: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "apex", implementationName: "ApexTarget",
      aliases: ["com.example.ApexTarget"], writtenTypeName: "custom")
    let keys: JSONObject
    var idFieldName: String { "Key" }

    init(configuration: JSONObject) throws {
      _ = try configuration.requiredSyncText("endpoint")
      keys = configuration
    }

    var configuration: JSONObject { keys }
    func startFetch(since: Int64, in context: SyncContext) async throws -> SyncPage<Int>? { nil }
    func continueFetch(_ cursor: Int, in context: SyncContext) async throws -> SyncPage<Int>? {
      nil
    }
    func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>? {
      nil
    }
  }

  /// Another target that wants the same name.
  struct Pretender: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "other", implementationName: "Other", aliases: ["soql"])
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }
    func startFetch(since: Int64, in context: SyncContext) async throws -> SyncPage<Int>? { nil }
    func continueFetch(_ cursor: Int, in context: SyncContext) async throws -> SyncPage<Int>? {
      nil
    }
    func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>? {
      nil
    }
  }

  private func registry() throws -> SyncTargetRegistry {
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    try registry.register(ApexTarget.self)
    return registry
  }

  @Test(
    .covers("MS-260", "MS-261"),
    arguments: [
      ["type": "soql"], ["iOSImpl": "SFSoqlSyncDownTarget"],
      ["androidImpl": "com.salesforce.androidsdk.mobilesync.target.SoqlSyncDownTarget"],
      ["androidImpl": "com.salesforce.androidsdk.smartsync.target.SoqlSyncDownTarget"],
      ["type": "soql", "androidImpl": "unknown"],
      ["type": "custom", "iOSImpl": "SFSoqlSyncDownTarget"],
    ] as [JSONObject])
  func `a down target is found by each of its names`(names: JSONObject) throws {
    var json = names
    json["query"] = "select Id from T"
    #expect(try registry().downTarget(from: json) is SoqlSyncDownTarget)
  }

  @Test(.covers("MS-260"))
  func `iOSImpl decides before type, type before androidImpl`() throws {
    var json: JSONObject = [
      "type": "soql", "iOSImpl": "ApexTarget", "endpoint": "x", "query": "select Id from T",
    ]
    #expect(try registry().downTarget(from: json) is ApexTarget)
    json["iOSImpl"] = nil
    json["androidImpl"] = "com.example.ApexTarget"
    #expect(try registry().downTarget(from: json) is SoqlSyncDownTarget)
    json["type"] = "custom"
    #expect(try registry().downTarget(from: json) is ApexTarget)
  }

  @Test(
    .covers("BX-73", "MS-228", "MS-262"),
    arguments: [
      [:], ["type": "rest"], ["type": "collection"], ["iOSImpl": "SFCollectionSyncUpTarget"],
      ["createFieldlist": ["Name"]],
    ] as [JSONObject])
  func `an up target that names no other is the collection target`(
    json: JSONObject
  )
    throws
  {
    #expect(try registry().upTarget(from: json) is CollectionSyncUpTarget)
  }

  @Test(
    .covers("MS-263"),
    arguments: [
      ["type": "nothing"], ["iOSImpl": "Nothing", "type": "soql", "query": "select Id from T"], [:],
    ] as [JSONObject])
  func `an unknown name is an error that gives it`(json: JSONObject) throws {
    let registry = try registry()
    #expect {
      try registry.downTarget(from: json)
    } throws: { error in
      let error = error as? SyncError
      return error?.code == .unknownTarget && error?.message.contains("Unknown target type") == true
    }
  }

  @Test(.covers("MS-264"))
  func `a name of the other direction is an error`() throws {
    let registry = try registry()
    #expect(throws: SyncError.self) { try registry.upTarget(from: ["type": "soql"]) }
    #expect(throws: SyncError.self) { try registry.downTarget(from: ["type": "rest"]) }
  }

  @Test(.covers("MS-265"))
  func `a name cannot be taken over, and registering again does nothing`() throws {
    let registry = try registry()
    try StandardSyncTargets.register(into: registry)
    #expect {
      try registry.register(Pretender.self)
    } throws: { error in
      (error as? SyncError)?.code == .duplicateTarget
        && (error as? SyncError)?.message.contains("soql") == true
    }
    let json: JSONObject = ["type": "soql", "query": "select Id from T"]
    #expect(try registry.downTarget(from: json) is SoqlSyncDownTarget)
    #expect(throws: SyncError.self) { try registry.downTarget(from: ["type": "other"]) }
  }

  @Test(.covers("MS-177", "MS-266"))
  func `a custom target keeps its keys, with type custom and its name`() throws {
    let json: JSONObject = [
      "iOSImpl": "ApexTarget", "endpoint": "/x", "limits": ["n": 1, "l": [1.5, "a", nil]],
    ]
    let target = try registry().downTarget(from: json)
    let stored = target.json
    #expect(stored["type"] == "custom" && stored["iOSImpl"] == "ApexTarget")
    #expect(stored["idFieldName"] == "Key" && stored["limits"] == json["limits"])
    #expect(try registry().downTarget(from: stored).json == stored)
  }

  @Test(.covers("MS-263"))
  func `a stored sync with an unknown target is listed and deleted but not run`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(ApexTarget.self) }
    let sync = try await device.manager.createSyncDown(
      targetJSON: ["iOSImpl": "ApexTarget", "endpoint": "x"],
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "a")
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    await device.manager.close()
    let other = try await SyncManager(store: device.store, sender: device.org, registry: registry)
    #expect(try await other.syncs().map(\.id) == [sync.id])
    let run = try await other.reSync(named: "a")
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .unknownTarget)
    try await other.deleteSync(forName: "a")
    #expect(try await other.syncs().isEmpty)
    #expect(
      await syncErrorCode {
        _ = try await other.createSyncDown(
          targetJSON: ["iOSImpl": "ApexTarget"], options: SyncOptions(mergeMode: .overwrite),
          soupName: Device.soup)
      } == .unknownTarget)
  }

  @Test(.covers("MS-180"))
  func `a target that fetches nothing is done`() async throws {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(ApexTarget.self) }
    try await device.store.registerSoupForApex()
    let run = try await device.manager.syncDown(
      targetJSON: ["iOSImpl": "ApexTarget", "endpoint": "x"],
      options: SyncOptions(mergeMode: .overwrite), soupName: "apex")
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "DONE 100/0"])
  }
}
