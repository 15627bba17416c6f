import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Does what the message of a sync error says help?
@Suite struct SyncRemediesTests {
  /// A call that fails, and what its message says to do before it is repeated.
  private struct Case: Sendable {
    let code: SyncError.Code
    /// The remedy as the message words it.
    let says: String
    var prepare: @Sendable (Device) async throws -> Void = { _ in }
    let call: @Sendable (Device) async throws -> Void
    let remedy: @Sendable (Device) async throws -> Void
    /// The call as it is corrected; nil for the same call.
    var corrected: (@Sendable (Device) async throws -> Void)?
  }

  private static let options = SyncOptions(mergeMode: .overwrite)

  @Sendable private static func create(_ device: Device) async throws {
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options, soupName: Device.soup,
      syncName: "s")
  }

  @Sendable private static func run(_ device: Device) async throws {
    _ = try await device.manager.reSync(named: "s").finished()
  }

  private static func down(_ target: JSONObject) -> @Sendable (Device) async throws -> Void {
    { device in
      _ = try await device.manager.createSyncDown(
        targetJSON: target, options: options, soupName: Device.soup)
    }
  }

  private static let cases = [
    Case(code: .doesNotExist, says: "Make it first", call: run, remedy: create),
    Case(
      code: .nameInUse, says: "or delete that sync", prepare: create, call: create,
      remedy: { try await $0.manager.deleteSync(forName: "s") }),
    Case(
      code: .managerStopped, says: "Restart it first",
      prepare: { device in
        try await create(device)
        await device.manager.stop()
      }, call: run,
      remedy: { _ = try await $0.manager.restart(restartStoppedSyncs: false) }),
    Case(
      code: .closed, says: "Get a new one",
      prepare: { device in
        try await create(device)
        await device.manager.close()
      }, call: run, remedy: { _ = try await $0.restartProcess() }),
    Case(
      code: .unknownTarget, says: "correct the target's JSON",
      call: down(["type": "sokl", "query": "select Id from Account"]), remedy: { _ in },
      corrected: down(["type": "soql", "query": "select Id from Account"])),
    Case(
      code: .invalidTarget, says: "it needs a select and a from clause",
      call: down(["type": "soql", "query": "Account"]), remedy: { _ in },
      corrected: down(["type": "soql", "query": "select Id from Account"])),
    Case(
      code: .invalidOptions, says: #"such as {"mergeMode": "LEAVE_IF_CHANGED"}"#,
      call: { _ in _ = try SyncOptions(json: ["LEAVE_IF_CHANGED"]) }, remedy: { _ in },
      corrected: { _ in _ = try SyncOptions(json: ["mergeMode": "LEAVE_IF_CHANGED"]) }),
    Case(
      code: .storeInUse, says: "or close it first",
      call: { device in
        let manager = try await SyncManager(
          store: device.store, sender: device.org, registry: device.registry)
        await manager.close()
      }, remedy: { await $0.manager.close() }),
    Case(
      code: .invalidEdit, says: "Register or alter it with that index",
      prepare: {
        try await $0.store.registerSoup(
          withName: "bare", withIndices: [SoupIndex(path: "Id", type: .string)])
      },
      call: { device in
        try await device.store.createRecord(["Name": "a"], type: "Account", in: "bare")
      },
      remedy: {
        try await $0.store.alterSoup(
          named: "bare",
          indexSpecs: [
            SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
          ], reIndexData: true)
      }),
    Case(
      code: .recordNotFound, says: "Query the soup again",
      call: { try await $0.store.deleteRecord(id: "001000000000001AAA", in: Device.soup) },
      remedy: { try await $0.download([$0.org.create("Account", ["Name": "a"])]) },
      corrected: { device in
        let id = try #require(try await device.rows().first?["Id"]?.string)
        try await device.store.deleteRecord(id: id, in: Device.soup)
      }),
    Case(
      code: .cannotUndo, says: "Run a new sync down",
      prepare: { device in
        _ = device.org.create("Account", ["Name": "a"])
        try await create(device)
        try await run(device)
        let id = try #require(try await device.rows().first?["Id"]?.string)
        _ = try await device.store.editRecord(id: id, in: Device.soup) { $0["Name"] = "b" }
      },
      call: { device in
        let id = try #require(try await device.rows().first?["Id"]?.string)
        try await device.store.undoEdit(id: id, in: Device.soup)
      },
      remedy: { device in
        _ = try await device.manager.syncDown(
          target: try SoqlSyncDownTarget(query: Device.query), options: options,
          soupName: Device.soup
        ).finished()
      },
      corrected: { device in
        let (rows, dirty) = (try await device.rows(), try await device.dirtyRows())
        #expect(rows.map { $0["Name"] } == ["a"] && dirty.isEmpty)
      }),
  ]

  @Test(arguments: cases.indices)
  func `the call succeeds once what the message says is done`(number: Int) async throws {
    let tested = Self.cases[number]
    let device = try await Device.open(InMemoryOrg())
    try await tested.prepare(device)
    let error = await #expect(throws: SyncError.self) { try await tested.call(device) }
    #expect(error?.code == tested.code)
    #expect(error?.message.contains(tested.says) == true, "\(error?.message ?? "")")
    try await tested.remedy(device)
    try await (tested.corrected ?? tested.call)(device)
  }

  @Test func `a sync up without fields sends everything once it is given a list`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "a"]])
    let up = try await device.manager.createSyncUp(
      options: Self.options, soupName: Device.soup, syncName: "up")
    await #expect(throws: SyncError.self) {
      try await device.manager.reSync(named: "up").finished()
    }
    let state = try #require(try await device.manager.syncStatus(forName: "up"))
    #expect(state.error.contains("give the sync's options a field list"))
    var options = up.options
    options.fieldlist = ["Name"]
    try await device.manager.changeSyncUp(forId: up.id, options: options)
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(device.org.records("Account").map { $0["Name"] } == ["a"])
    #expect(try await device.dirtyRows().isEmpty)
  }
}
