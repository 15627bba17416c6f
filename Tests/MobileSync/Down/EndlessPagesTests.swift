import BriefcaseSyncDown
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

@testable import MobileSync

/// Does each loop over pages end when the server leads to new addresses for ever?
@Suite(.timeLimit(.minutes(5))) struct EndlessPagesTests {
  /// How a server goes on without an end. The number is that of the page.
  enum Hostility: String, CaseIterable, Sendable {
    case empty, repeated, beyondTotal

    func records(_ number: Int, _ type: String = "Account") -> String {
      switch self {
      case .empty: "[]"
      case .repeated: "[\(record(1, type))]"
      case .beyondTotal:
        "[" + (0..<200).map { record(number * 200 + $0, type) }.joined(separator: ",") + "]"
      }
    }

    var total: String {
      switch self {
      case .beyondTotal: #""totalSize":300,"#
      default: ""
      }
    }

    private func record(_ number: Int, _ type: String) -> String {
      let digits = String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
      return #"{"attributes":{"type":"\#(type)"},"Id":"001\#(digits)AAA","Name":"n\#(number)","#
        + #""AccountId":"001000000000001AAA","LastModifiedDate":"2020-01-01T00:00:00.000+0000"}"#
    }

    /// A page of a query that leads to one under a new address.
    func page(_ request: InMemoryOrg.Request) -> String {
      let number = (Int(request.line.split(separator: "-").last ?? "") ?? 0) + 1
      return #"{\#(total)"done":false,"records":\#(records(number)),"#
        + #""nextRecordsUrl":"/services/data/v66.0/query/01g-\#(number)"}"#
    }
  }

  private func isEndless(_ run: SyncRun) async -> Bool {
    do {
      _ = try await run.finished()
      return false
    } catch {
      return isEndless(error)
    }
  }

  private func isEndless(_ error: any Error) -> Bool {
    guard let error = error as? SyncError else { return false }
    let fault = error.code == .unexpectedResponse ? error : error.cause as? SyncError
    return fault?.code == .unexpectedResponse && fault?.message.contains("do not end") == true
      && fault?.message.contains("Run the sync again") == true
  }

  private func isEndless(_ body: () async throws -> Void) async -> Bool {
    do {
      try await body()
      return false
    } catch {
      return isEndless(error)
    }
  }

  private func download(_ device: Device) async throws -> SyncState {
    try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "down"
    ).finished()
  }

  @Test(arguments: Hostility.allCases)
  func `a download ends`(_ hostility: Hostility) async throws {
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, request in .response(status: 200, body: hostility.page(request)) }
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "down")
    #expect(await isEndless(run))
    // Six pages may be requested ahead.
    #expect(device.org.requests.count <= 1_010)
    // The server pages again: the sync goes on.
    device.org.intervene(nil)
    device.org.create("Account", ["Name": "new"])
    #expect(try await device.manager.reSync(named: "down").finished().status == .done)
    #expect(try await device.row("Name", "new") != nil)
  }

  @Test(arguments: Hostility.allCases)
  func `the cleaning of ghosts ends and removes nothing`(_ hostility: Hostility) async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await download(device)
    org.forgetRequests()
    org.intervene { _, request in .response(status: 200, body: hostility.page(request)) }
    #expect(
      await isEndless { _ = try await device.manager.cleanResyncGhosts(forId: sync.id) })
    #expect(try await device.rows().count == 1)
    #expect(org.requests.count <= 1_010)
  }

  @Test(arguments: Hostility.allCases)
  func `fetching an added field ends`(_ hostility: Hostility) async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: "select Name from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.manager.changeSyncDown(
      forId: sync.id, to: try SoqlSyncDownTarget(query: "select Name, Phone from Account"))
    org.forgetRequests()
    org.intervene { _, request in .response(status: 200, body: hostility.page(request)) }
    #expect(await isEndless(try await device.manager.reSync(id: sync.id)))
    #expect(org.requests.count <= 1_010)
  }

  @Test(arguments: Hostility.allCases)
  func `the children of a sub-select end`(_ hostility: Hostility) async throws {
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, request in
      if request.line.contains("01g-") {
        return .response(status: 200, body: hostility.page(request))
      }
      let list =
        #"{"totalSize":300,"done":false,"records":[],"#
        + #""nextRecordsUrl":"/services/data/v66.0/query/01g-0"}"#
      return .response(
        status: 200,
        body: #"{"totalSize":1,"done":true,"records":[{"attributes":{"type":"Account"},"#
          + #""Id":"001000000000000AAA","LastModifiedDate":"2020-01-01T00:00:00.000+0000","#
          + #""Contacts":\#(list)}]}"#)
    }
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(
        query: "select Name, (select LastName from Contacts) from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await isEndless(run))
    #expect(device.org.requests.count <= 1_010)
  }

  @Test func `children whose children have further children end`() async throws {
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, request in
      let number = (Int(request.line.split(separator: "-").last ?? "") ?? 0) + 1
      return .response(
        status: 200,
        body: #"{"totalSize":1,"done":true,"records":[{"attributes":{"type":"Account"},"#
          + #""Id":"001000000000000AAA","LastModifiedDate":"2020-01-01T00:00:00.000+0000","#
          + #""Contacts":{"totalSize":1,"done":false,"records":[],"#
          + #""nextRecordsUrl":"/services/data/v66.0/query/01g-\#(number)"}}]}"#)
    }
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(
        query: "select Name, (select LastName from Contacts) from Account"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await isEndless(run))
    #expect(device.org.requests.count <= 10)
  }

  @Test(arguments: Hostility.allCases)
  func `a download of trees and the cleaning of their ghosts end`(
    _ hostility: Hostility
  ) async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.registerSoup("contacts", "AccountId")
    device.org.intervene { _, request in .response(status: 200, body: hostility.page(request)) }
    let target = ParentChildrenSyncDownTarget(
      parent: ParentInfo(sobjectType: "Account", soupName: Device.soup), parentFieldlist: ["Name"],
      parentSoqlFilter: "",
      children: ChildrenInfo(
        sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
        parentIdFieldName: "AccountId"),
      childrenFieldlist: ["LastName"], relationshipType: .lookup)
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    // The total of trees grows by the unchanged parents, so it is not fixed.
    #expect(await isEndless(run))
    // Without records there is nothing to compare.
    if hostility != .empty {
      #expect(
        await isEndless { _ = try await device.manager.cleanResyncGhosts(forId: run.state.id) })
    }
    #expect(device.org.requests.count <= 2_020)
  }

  @Test(arguments: [false, true])
  func `a briefcase and the cleaning of its ghosts end`(hasRecords: Bool) async throws {
    let org = InMemoryOrg()
    let account = org.create("Account", ["Name": "a"])
    org.setBriefcase(["Account": [account]])
    let device = try await Device.open(org)
    let target = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
    ])
    let sync = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.forgetRequests()
    let records = hasRecords ? #"{"Account": {"012": [{"id": "\#(account)"}]}}"# : "{}"
    org.intervene { _, request in
      guard request.line.contains("priming-records") else { return .none }
      let token = Int(request.query["relayToken"] ?? "0") ?? 0
      return .response(
        status: 200,
        body: #"{"primingRecords": \#(records), "relayToken": "\#(token + 1)", "ruleErrors": []}"#)
    }
    #expect(await isEndless(try await device.manager.reSync(id: sync.id)))
    #expect(
      await isEndless { _ = try await device.manager.cleanResyncGhosts(forId: sync.id) })
    #expect(try await device.rows().count == 1)
    #expect(org.requests.count <= 3_030)
  }

  @Test func `two thousand pages of records come through`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    org.intervene { _, request in
      let number = Int(request.line.split(separator: "-").last ?? "") ?? 0
      let digits = String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
      let next =
        number == 1_999 ? "null" : #""/services/data/v66.0/query/01g-\#(number + 1)""#
      return .response(
        status: 200,
        body: #"{"totalSize":2000,"done":\#(number == 1_999),"nextRecordsUrl":\#(next),"#
          + #""records":[{"attributes":{"type":"Account"},"Id":"001\#(digits)AAA","#
          + #""LastModifiedDate":"2020-01-01T00:00:00.000+0000"}]}"#)
    }
    let sync = try await download(device)
    #expect(sync.status == .done && sync.totalSize == 2_000)
    #expect(try await device.rows().count == 2_000)
  }
}
