import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Synchronization
import Testing

/// Does a download of trees go on if the server drops the pages of its query?
@Suite struct DroppedTreePagesTests {
  private static let dropped = InMemoryOrg.Intervention.response(
    status: 404, body: #"[{"errorCode":"INVALID_QUERY_LOCATOR","message":"invalid query locator"}]"#
  )

  /// Ten trees of three children, in pages of two parents and of two children.
  private func device() async throws -> (TreeDevice, [String: [String]]) {
    let tree = try await TreeDevice()
    tree.org.pageSize = 2
    tree.org.setChildPageSize(2)
    for number in 0..<10 { tree.serverTree("a\(number)", children: 3) }
    return (tree, tree.serverTrees())
  }

  @Test(arguments: 1...12)
  func `one page that is dropped, of parents or of children, leaves nothing out`(
    page: Int
  ) async throws {
    let (tree, expected) = try await device()
    let count = Mutex(0)
    tree.org.intervene { _, request in
      guard request.query["q"] == nil, request.line.hasPrefix("GET") else { return .none }
      return count.withLock { count in
        count += 1
        return count == page ? Self.dropped : .none
      }
    }
    let state = try await tree.syncDown()
    #expect(count.withLock { $0 } >= page)
    #expect(state.status == .done)
    #expect(try await tree.localTrees() == expected)
    #expect(try await tree.idsAgree())
  }

  @Test func `a server that drops all pages fails the run, and the next one brings everything`()
    async throws
  {
    let (tree, expected) = try await device()
    tree.org.intervene { _, request in
      request.query["q"] == nil && request.line.hasPrefix("GET") ? Self.dropped : .none
    }
    await #expect(throws: SyncError.self) { try await tree.syncDown() }
    tree.org.intervene(nil)
    try await tree.syncDown()
    #expect(try await tree.localTrees() == expected)
  }
}
