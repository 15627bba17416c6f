import BriefcaseSyncDown
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

@testable import MobileSync

/// Does a run end when the server's pages lead back to earlier ones, and keep what has come?
@Suite(.timeLimit(.minutes(1))) struct PageCircleTests {
  /// A page with one account and the address of the next, in a circle of `length` pages.
  private static func page(_ request: InMemoryOrg.Request, _ length: Int) -> String {
    let number = Int(request.line.split(separator: "-").last ?? "") ?? 0
    let record =
      #"{"attributes":{"type":"Account"},"Id":"00100000000000\#(number)AAA","Name":"n\#(number)","#
      + #""LastModifiedDate":"2020-01-0\#(number + 1)T00:00:00.000+0000"}"#
    return #"{"totalSize":100,"done":false,"records":[\#(record)],"#
      + #""nextRecordsUrl":"/services/data/v66.0/query/01g-\#(number % length + 1)"}"#
  }

  private func device(inCircleOf length: Int) async throws -> Device {
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, request in
      .response(status: 200, body: Self.page(request, length))
    }
    return device
  }

  private func cause(_ run: SyncRun) async -> SyncError.Code? {
    do {
      _ = try await run.finished()
      return nil
    } catch {
      return ((error as? SyncError)?.cause as? SyncError)?.code
    }
  }

  @Test(arguments: [1, 2, 3, 5])
  func `a run whose pages lead in a circle fails and keeps what came`(length: Int) async throws {
    let device = try await device(inCircleOf: length)
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup, syncName: "down")
    #expect(await cause(run) == .unexpectedResponse)
    // Six pages may be requested ahead.
    #expect(device.org.requests.count <= 4 * (length + 1) + 6)
    let names = Set(try await device.rows().compactMap { $0["Name"]?.string })
    #expect(names == Set((length == 1 ? 0...0 : 0...length).map { "n\($0)" }))
    // The server pages again: the sync goes on.
    device.org.intervene(nil)
    device.org.create("Account", ["Name": "new"])
    #expect(try await device.manager.reSync(named: "down").finished().status == .done)
    #expect(try await device.row("Name", "new") != nil)
  }

  @Test(arguments: [2, 4])
  func `cleaning ghosts whose pages lead in a circle removes nothing`(length: Int) async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.forgetRequests()
    org.intervene { _, request in .response(status: 200, body: Self.page(request, length)) }
    #expect(
      await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: sync.id) }
        == .unexpectedResponse)
    #expect(try await device.rows().count == 1)
    #expect(org.requests.count <= 4 * (length + 1))
  }

  @Test func `fetching an added field from pages in a circle ends the run`() async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: "select Name from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.manager.changeSyncDown(
      forId: sync.id, to: try SoqlSyncDownTarget(query: "select Name, Phone from Account"))
    org.intervene { _, request in .response(status: 200, body: Self.page(request, 3)) }
    #expect(await cause(try await device.manager.reSync(id: sync.id)) == .unexpectedResponse)
    #expect(try await device.manager.syncStatus(forId: sync.id)?.fieldsToBackfill == ["Phone"])
  }

  @Test func `trees whose pages lead in a circle end the run and the cleaning of ghosts`()
    async throws
  {
    let device = try await device(inCircleOf: 3)
    try await device.registerSoup("contacts", "AccountId")
    let target = ParentChildrenSyncDownTarget(
      parent: ParentInfo(sobjectType: "Account", soupName: Device.soup), parentFieldlist: ["Name"],
      parentSoqlFilter: "",
      children: ChildrenInfo(
        sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
        parentIdFieldName: "AccountId"),
      childrenFieldlist: ["LastName"], relationshipType: .lookup)
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await cause(run) == .unexpectedResponse)
    #expect(
      await syncErrorCode {
        _ = try await device.manager.cleanResyncGhosts(forId: run.state.id)
      } == .unexpectedResponse)
    #expect(device.org.requests.count <= 40)
  }

  @Test(arguments: [2, 3])
  func `a briefcase whose pages lead in a circle ends the run and the cleaning of ghosts`(
    length: Int
  ) async throws {
    let org = InMemoryOrg()
    org.setBriefcase(["Account": [org.create("Account", ["Name": "a"])]])
    let device = try await Device.open(org)
    let target = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
    ])
    let sync = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.forgetRequests()
    org.intervene { _, request in
      let token = Int(request.query["relayToken"] ?? "0") ?? 0
      return .response(
        status: 200,
        body: #"{"primingRecords": {}, "relayToken": "\#(token % length + 1)", "ruleErrors": []}"#)
    }
    #expect(await cause(try await device.manager.reSync(id: sync.id)) == .unexpectedResponse)
    #expect(
      await syncErrorCode {
        _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
      } == .unexpectedResponse)
    #expect(try await device.rows().count == 1)
    #expect(org.requests.count <= 40)
  }
}
