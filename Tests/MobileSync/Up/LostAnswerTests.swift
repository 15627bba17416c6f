import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

/// A create that was sent and not answered must not make a second record, wherever the server can tell.
@Suite struct LostAnswerTests {
  private func up(_ device: Device, _ target: CollectionSyncUpTarget) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(fieldlist: ["Name", "Phone", "Ext__c"]),
      soupName: Device.soup)
  }

  private func down(_ device: Device) async throws {
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup)
    _ = try await run.finished()
  }

  private func org() -> InMemoryOrg {
    let org = InMemoryOrg()
    org.setClock(SalesforceDateNow.milliseconds)
    return org
  }

  @Test func `MS-195 a lost answer is known and its record is not created twice`() async throws {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"], ["Name": "b", "Phone": "1"]])
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(
      try await device.manager.outcomes(forId: run.state.id).map(\.kind)
        == [.unanswered, .unanswered])
    #expect(try await device.dirtyRows().count == 2)

    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").compactMap { $0["Name"]?.string } == ["a", "b"])
    #expect(try await device.dirtyRows().isEmpty)
    let local = Set(try await device.rows().compactMap { $0["Id"]?.string })
    let remote = Set(org.records("Account").compactMap { $0["Id"]?.string })
    #expect(local == remote)
  }

  @Test(arguments: [403, 414, 500, 503])
  func `MS-195 a look-up that the server cannot answer sends nothing a second time`(status: Int)
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }

    org.intervene { number, _ in number == 2 ? .answer(status: status, body: "[]") : .none }
    let second = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await second.finished() }
    #expect(org.requests.count == 2)

    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `MS-195 a request that never arrived is sent again`() async throws {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { number, _ in number == 1 ? .unreachable : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `MS-195 edits and deletions since a lost answer reach the record that was made`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Id": "local_1", "Name": "a"], ["Id": "local_2", "Name": "b"]])
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    try await device.edit("local_1", ["Name": "edited"])
    try await device.delete("local_2")
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").compactMap { $0["Name"]?.string } == ["edited"])
    #expect(try await device.rows().count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `MS-195 a record that came down meanwhile is the lost one, not a second`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Id": "local_1", "Name": "a"]])
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    try await down(device)
    #expect(try await device.rows().count == 2)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.rows().count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `MS-195 equal records are told apart by their number`() async throws {
    let org = org()
    let device = try await Device.open(org)
    // One made and acknowledged, then two more with the same content, one of which gets lost.
    try await device.create([["Name": "same"]])
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await device.create([["Name": "same"], ["Name": "same"]])
    org.forgetRequests()
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 3)
    let ids = Set(try await device.rows().compactMap { $0["Id"]?.string })
    #expect(ids.count == 3)
  }

  @Test func `BX-61 MS-210 with an external id the server itself finds the record`() async throws {
    let org = org()
    let device = try await Device.open(org)
    let target = CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    try await device.create([["Name": "a", "Ext__c": "x1"]])
    org.intervene { number, _ in number == 1 ? .dropAnswer : .none }
    let run = try await up(device, target)
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await up(device, target).finished()
    #expect(org.records("Account").count == 1)
    #expect(org.lines.allSatisfy { $0 == "PATCH /{v}/composite/sobjects/Account/Ext__c" })
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: 1...6)
  func `MS-60 a process that dies at any step of an upload neither loses nor doubles a record`(
    step: Int
  ) async throws {
    let org = org()
    let ids = (0..<2).map { org.create("Account", ["Name": .string("n\($0)")]) }
    let device = try await Device.open(org)
    try await down(device)
    try await device.create((0..<3).map { ["Name": .string("new \($0)")] })
    try await device.edit(ids[0], ["Name": "edited"])
    try await device.delete(ids[1])
    org.forgetRequests()
    // Odd steps: the process dies before the server has done the request; even ones: after.
    let gate = Gate()
    org.intervene { number, _ in
      guard number == (step + 1) / 2 else { return .none }
      if step % 2 == 0 { return .dropAnswer }
      await gate.pass()
      return .unreachable
    }
    let run = try await up(device, CollectionSyncUpTarget())
    if step % 2 == 1 {
      await gate.arrival()
    }
    let closing = Task { _ = try await device.restartProcess() }
    await Task.yield()
    gate.open()
    try await closing.value
    _ = try? await run.finished()
    org.intervene(nil)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    let names = org.records("Account").compactMap { $0["Name"]?.string }.sorted()
    #expect(names == ["edited", "new 0", "new 1", "new 2"])
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.rows().count == 4)
  }
}
