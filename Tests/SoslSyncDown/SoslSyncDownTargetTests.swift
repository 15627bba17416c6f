import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoslSyncDown
import Testing
import TestSupport

@Suite struct SoslSyncDownTargetTests {
  private let search = "FIND {Acme} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)"

  private func target() throws -> SoslSyncDownTarget { try SoslSyncDownTarget(query: search) }

  @Test(.covers("MS-87", "MS-119"))
  func `a search is one request and one page, also in a re-sync`() async throws {
    let org = InMemoryOrg()
    let ids = ["a", "b"].map { org.create("Account", ["Name": .string($0)]) }
    org.setFound(ids)
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "RUNNING 0/2", "DONE 100/2"])
    let again = try await device.manager.reSync(id: run.state.id).finished()
    #expect(again.totalSize == 2)
    #expect(org.lines == ["GET /{v}/search", "GET /{v}/search"])
    #expect(org.requests.allSatisfy { $0.query == ["q": search] && $0.qualifier == "MobileSync" })
    #expect(try await device.rows().count == 2)
  }

  @Test(.covers("MS-120"))
  func `a bare list is accepted, anything else fails the run`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    org.intervene { number, _ in
      .response(status: 200, body: number == 1 ? #"[{"Id":"001","Name":"a"}]"# : #"{"records":[]}"#)
    }
    let first = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await first.finished()
    // Without dates there is no watermark.
    #expect(state.maxTimeStamp == -1)
    #expect(try await device.rows().map { $0["Name"] } == ["a"])
    let second = try await device.manager.reSync(id: state.id)
    await #expect(throws: SyncError.self) { try await second.finished() }
  }

  @Test(.covers("MS-121"))
  func `what the same search no longer finds is a ghost`() async throws {
    let org = InMemoryOrg()
    let ids = ["a", "b"].map { org.create("Account", ["Name": .string($0)]) }
    org.setFound(ids)
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    org.setFound([ids[1]])
    org.forgetRequests()
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 1)
    #expect(org.lines == ["GET /{v}/search"])
    #expect(try await device.rows().map { $0["Id"]?.string } == [ids[1]])
  }

  @Test(.covers("MS-118", "MS-266"))
  func `the stored form reads back equal`() throws {
    let target = try SoslSyncDownTarget(query: search, idFieldName: "Key")
    #expect(
      JSONValue.object(target.json) == [
        "query": .string(search), "type": "sosl", "iOSImpl": "SFSoslSyncDownTarget",
        "idFieldName": "Key", "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try SoslSyncDownTarget(configuration: target.json) == target)
  }

  @Test(.covers("MS-267"))
  func `a target without a search cannot be made`() {
    #expect {
      try SoslSyncDownTarget(configuration: [:])
    } throws: {
      ($0 as? SyncError)?.message.contains("'query'") == true
    }
  }
}
