import CollectionSyncUp
import HTTPTypes
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// A create that was sent without a response must not make a second record, wherever the server can tell.
@Suite struct LostResponseTests {
  private func up(_ device: Device, _ target: CollectionSyncUpTarget) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target,
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phone", "Ext__c"]),
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

  @Test(.covers("MS-195"))
  func `a lost response is known and its record is not created twice`() async throws {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"], ["Name": "b", "Phone": "1"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
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

  @Test(.covers("MS-195"), arguments: [403, 414, 500, 503])
  func `a look-up that fails on the server sends nothing a second time`(status: Int)
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }

    org.intervene { number, _ in number == 2 ? .response(status: status, body: "[]") : .none }
    let second = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await second.finished() }
    #expect(org.requests.count == 2)

    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `a request that never arrived is sent again`() async throws {
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

  @Test(.covers("MS-195"))
  func `edits and deletions since a lost response reach the record that was made`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Id": "local_1", "Name": "a"], ["Id": "local_2", "Name": "b"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    try await device.edit("local_1", ["Name": "edited"])
    try await device.delete("local_2")
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").compactMap { $0["Name"]?.string } == ["edited"])
    #expect(try await device.rows().count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `a record that was downloaded since is the lost one, not a second`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org)
    try await device.create([["Id": "local_1", "Name": "a"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    try await down(device)
    #expect(try await device.rows().count == 2)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.rows().count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `equal records are distinguished by their number`() async throws {
    let org = org()
    let device = try await Device.open(org)
    // One made and acknowledged, then two more with the same content, one of which gets lost.
    try await device.create([["Name": "same"]])
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await device.create([["Name": "same"], ["Name": "same"]])
    org.forgetRequests()
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device, CollectionSyncUpTarget())
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(org.records("Account").count == 3)
    let ids = Set(try await device.rows().compactMap { $0["Id"]?.string })
    #expect(ids.count == 3)
  }

  /// Whether a request that fails has arrived.
  private static let arrivals = [false, true]

  private func lose(_ device: Device, arrives: Bool) async throws {
    device.org.forgetRequests()
    device.org.intervene { number, _ in
      number > 1 ? .none : arrives ? .dropResponse : .unreachable
    }
    #expect(
      await syncErrorCode { _ = try await up(device, CollectionSyncUpTarget()).finished() }
        == .failed)
    device.org.intervene(nil)
  }

  private func expectRecords(_ count: Int, _ device: Device) async throws {
    let there = device.org.records("Account").compactMap { $0["Id"]?.string }
    let here = try await device.rows().compactMap { $0["Id"]?.string }
    #expect(there.count == count)
    #expect(here.sorted() == there.sorted())
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"), arguments: arrivals)
  func `a record that was downloaded before an equal one was sent is not taken for that one`(
    arrives: Bool
  ) async throws {
    let device = try await Device.open(org())
    try await device.create([["Name": "Call back"]])
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await down(device)
    try await device.create([["Name": "Call back"]])
    try await lose(device, arrives: arrives)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(2, device)
  }

  @Test(.covers("MS-195"), arguments: arrivals)
  func `nor is one that another process created as this user`(
    arrives: Bool
  ) async throws {
    let device = try await Device.open(org())
    let other = try await Device.open(device.org)
    try await other.create([["Name": "Call back"]])
    _ = try await up(other, CollectionSyncUpTarget()).finished()
    try await down(device)
    try await device.create([["Name": "Call back"]])
    try await lose(device, arrives: arrives)
    // It is downloaded between the two runs, too, if it arrived.
    try await down(device)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(2, device)
  }

  @Test(.covers("MS-195"))
  func `nor is one that was created locally and whose row is gone`() async throws {
    let device = try await Device.open(org())
    for _ in 0..<2 {
      try await device.create([["Name": "Call back"]])
      _ = try await up(device, CollectionSyncUpTarget()).finished()
      try await device.store.clearSoup(Device.soup)
    }
    try await device.create([["Name": "Call back"]])
    try await lose(device, arrives: false)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(device.org.records("Account").count == 3)
  }

  @Test(.covers("MS-195"))
  func `what was sent first and lost is found after a second loss`() async throws {
    let device = try await Device.open(org())
    try await device.create([["Name": "a"]])
    try await lose(device, arrives: true)
    // The look-up finds nothing yet, and the record is sent again, in vain.
    device.org.intervene { number, request in
      switch number {
      case 2: .response(status: 200, body: #"{"totalSize":0,"done":true,"records":[]}"#)
      case 3: .unreachable
      default: .none
      }
    }
    _ = await syncErrorCode { _ = try await up(device, CollectionSyncUpTarget()).finished() }
    device.org.intervene(nil)
    try await down(device)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  @Test(.covers("MS-195"), arguments: [-26, -9, 0, 2, 14, 26])
  func `a device whose clock is hours off finds what it has made`(hours: Int64) async throws {
    let org = org()
    let device = try await Device.open(org, now: { org.now + hours * 3_600_000 })
    try await device.create([["Name": "a"]])
    try await lose(device, arrives: true)
    try await device.restartProcess()
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  /// Years in hours, and the greatest number of hours that a wrong time zone makes.
  @Test(
    .covers("MS-195"), arguments: [-10 * 8_766, -26, 26, 10 * 8_766] as [Int64], [false, true])
  func `a device whose clock is years off sends no create twice`(
    hours: Int64, isCorrected: Bool
  ) async throws {
    let org = org()
    let offset = Mutex(hours * 3_600_000)
    // The org's time is on no response that came before: this process sends a create first.
    let sender = UntimedSender(org: org)
    let device = try await Device.open(
      org, sender: sender, now: { org.now + offset.withLock { $0 } })
    try await device.create([["Name": "a"]])
    org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
    _ = await syncErrorCode { _ = try await up(device, CollectionSyncUpTarget()).finished() }
    org.intervene(nil)
    #expect(org.lines.first == "GET /{v}")
    try await device.restartProcess()
    if isCorrected { offset.withLock { $0 = 0 } }
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  @Test(.covers("MS-195"))
  func `the server's time costs one request, and none if a response had it`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org, sender: UntimedSender(org: org))
    for name in ["a", "b"] {
      try await device.create([["Name": .string(name)]])
      _ = try await up(device, CollectionSyncUpTarget()).finished()
    }
    #expect(org.lines.filter { $0 == "GET /{v}" }.count == 1)
    try await device.restartProcess()
    org.forgetRequests()
    try await down(device)
    try await device.create([["Name": "c"]])
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(!org.lines.contains("GET /{v}"))
  }

  @Test(.covers("MS-195"))
  func `nor does a clock that is days off matter once the server has told the time`()
    async throws
  {
    let org = org()
    let device = try await Device.open(org, now: { org.now + 9 * 86_400_000 })
    try await down(device)
    try await device.create([["Name": "a"]])
    try await lose(device, arrives: true)
    try await device.restartProcess()
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  @Test(.covers("MS-217"))
  func `a record that is created again and gets no response is not created a third time`()
    async throws
  {
    let device = try await Device.open(org())
    let id = device.org.create("Account", ["Name": "a"])
    try await down(device)
    try await device.edit(id, ["Name": "mine"])
    device.org.delete("Account", id)
    device.org.intervene { _, request in
      request.line.hasPrefix("POST") ? .dropResponse : .none
    }
    _ = await syncErrorCode { _ = try await up(device, CollectionSyncUpTarget()).finished() }
    device.org.intervene(nil)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  @Test func `a create whose response has no id counts as unacknowledged`() async throws {
    let device = try await Device.open(org())
    try await device.create([["Name": "a"]])
    device.org.intervene { number, request in
      guard number == 1 else { return .none }
      _ = try? await device.org.response(
        to: RestRequest(
          method: .post, path: "/{v}/composite/sobjects", body: Array(request.body.utf8)))
      return .response(status: 200, body: #"[{"success":true,"errors":[]}]"#)
    }
    let state = try await up(device, CollectionSyncUpTarget()).finished()
    #expect(try await device.manager.outcomes(forId: state.id).map(\.kind) == [.unanswered])
    device.org.intervene(nil)
    _ = try await up(device, CollectionSyncUpTarget()).finished()
    try await expectRecords(1, device)
  }

  @Test(arguments: [400, 403, 404, 409, 408, 425, 499, 500, 502, 504])
  func `a status that leaves open what was done counts as no response`(status: Int) async throws {
    let device = try await Device.open(org())
    try await device.create([["Name": "a"]])
    device.org.intervene { _, _ in .response(status: status, body: "[]") }
    let run = try await up(device, CollectionSyncUpTarget())
    _ = await syncErrorCode { _ = try await run.finished() }
    #expect(
      try await device.manager.outcomes(forId: run.state.id).map(\.kind)
        == [[400, 403, 404, 409].contains(status) ? .rejected : .unanswered])
  }

  @Test(
    arguments: [
      (400, false), (404, false), (408, true), (425, true), (499, true), (500, false),
      (502, true), (503, false), (504, true),
    ])
  func `so it does for one record, whatever words come with it`(status: Int, isOpen: Bool) {
    let error: JSONValue = ["errorCode": "X"]
    #expect(
      SyncUpOutcome(status: status, body: nil, error: error, of: .create)
        == (isOpen ? .unanswered : .rejected(error)))
    if status >= 500 {
      #expect(
        SyncUpOutcome(status: status, body: nil, error: nil, of: .create) == .unanswered)
    }
  }

  @Test(.covers("BX-61", "MS-210"))
  func `with an external id the server itself finds the record`() async throws {
    let org = org()
    let device = try await Device.open(org)
    let target = CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    try await device.create([["Name": "a", "Ext__c": "x1"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device, target)
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await up(device, target).finished()
    #expect(org.records("Account").count == 1)
    #expect(org.lines.allSatisfy { $0 == "PATCH /{v}/composite/sobjects/Account/Ext__c" })
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-60"), arguments: 1...6)
  func `a process that dies at any step of an upload neither loses nor doubles a record`(
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
    let latch = Latch()
    org.intervene { number, _ in
      guard number == (step + 1) / 2 else { return .none }
      if step % 2 == 0 { return .dropResponse }
      await latch.pass()
      return .unreachable
    }
    let run = try await up(device, CollectionSyncUpTarget())
    if step % 2 == 1 {
      await latch.arrival()
    }
    let closing = Task { _ = try await device.restartProcess() }
    await Task.yield()
    latch.open()
    try await closing.value
    _ = try? await run.finished()
    org.intervene(nil)
    // The server may still be at work on a create of the process that ended: it is held for some runs.
    for _ in 0..<10 where try await !device.dirtyRows().isEmpty {
      _ = try await up(device, CollectionSyncUpTarget()).finished()
    }
    let names = org.records("Account").compactMap { $0["Name"]?.string }.sorted()
    #expect(names == ["edited", "new 0", "new 1", "new 2"])
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.rows().count == 4)
  }
}

/// Sends requests to an org and knows nothing of its time.
private struct UntimedSender: SyncRequestSender {
  let org: InMemoryOrg

  func response(to request: RestRequest) async throws -> RestResponse {
    try await org.response(to: request)
  }
}
