import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// Does a run go on if the server drops the pages of its query?
@Suite struct DroppedPagesTests {
  private static let dropped = InMemoryOrg.Intervention.response(
    status: 404, body: #"[{"errorCode":"INVALID_QUERY_LOCATOR","message":"invalid query locator"}]"#
  )

  /// A device, and an org with pages of two records.
  private func device(_ count: Int) async throws -> Device {
    let org = InMemoryOrg()
    org.pageSize = 2
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "down")
    return device
  }

  /// Drops the pages of `count` queries, each at its page with this number, counted from 0.
  private func drop(_ count: Int, at page: Int, of org: InMemoryOrg) {
    let state = Mutex((dropped: 0, page: 0))
    org.intervene { _, request in
      state.withLock { state in
        if request.query["q"] != nil { state.page = 0 } else { state.page += 1 }
        guard state.page == page, state.dropped < count else { return .none }
        state.dropped += 1
        return Self.dropped
      }
    }
  }

  @Test(arguments: [1, 2, 3])
  func `the query is sent again from the watermark on, in the same run`(page: Int) async throws {
    let device = try await device(8)
    drop(1, at: page, of: device.org)
    let state = try await device.manager.reSync(named: "down").finished()
    #expect(state.status == .done && state.progress == 100)
    #expect(try await device.rows().count == 8)
    let queries = device.org.requests.compactMap { $0.query["q"] }
    #expect(queries.count == 2 && queries[1].contains("LastModifiedDate >"))
  }

  @Test func `a server that drops all pages fails the run, which keeps what it has`() async throws {
    let device = try await device(8)
    drop(.max, at: 1, of: device.org)
    let run = try await device.manager.reSync(named: "down")
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.status == 404)
    #expect(try await !device.rows().isEmpty)
    device.org.intervene(nil)
    _ = try await device.manager.reSync(named: "down").finished()
    #expect(try await device.rows().count == 8)
  }

  @Test func `ids of all pages are requested once more`() async throws {
    let device = try await device(8)
    drop(1, at: 2, of: device.org)
    let context = SyncContext(
      store: device.store, soupName: Device.soup, mergeMode: .overwrite, sender: device.org)
    let ids = try await IdQuery.allIds(
      of: .query("select Id from Account"), field: "Id", in: context)
    #expect(ids.count == 8)
  }
}
