import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Synchronization
import Testing
import TestSupport

/// Does a re-sync of trees bring the children that change while their parents do not?
@Suite struct ChildrenAloneTests {
  private static let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]

  /// Trees that were downloaded so long ago that the second of their dates is over.
  private func downloaded(
    _ mode: SyncMergeMode, count: Int = 3
  ) async throws -> (TreeDevice, Int64, [(parent: String, children: [String])]) {
    let tree = try await TreeDevice(.lookup)
    let made = (0..<count).map { tree.serverTree("a\($0)", children: 2) }
    tree.org.setClock(tree.org.now + 60_000)
    let id = try await tree.syncDown(mode).id
    tree.org.setClock(tree.org.now + 60_000)
    return (tree, id, made)
  }

  private func run(_ id: Int64, _ tree: TreeDevice) async throws -> SyncState {
    try await tree.device.manager.reSync(id: id).finished()
  }

  @Test(.covers("MS-152"), arguments: modes)
  func `a changed, a new and a moved child are downloaded under unchanged parents`(
    mode: SyncMergeMode
  ) async throws {
    let (tree, id, made) = try await downloaded(mode)
    tree.org.update("Contact", made[0].children[0], ["LastName": "changed"])
    tree.org.create("Contact", ["LastName": "new", "AccountId": .string(made[1].parent)])
    tree.org.update("Contact", made[2].children[0], ["AccountId": .string(made[0].parent)])
    let state = try await run(id, tree)
    #expect(state.totalSize == 2)
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-152"), arguments: modes)
  func `a re-sync without changes costs two queries, counts nothing and writes nothing`(
    mode: SyncMergeMode
  ) async throws {
    let (tree, id, made) = try await downloaded(mode)
    tree.org.update("Contact", made[0].children[0], ["LastName": "changed"])
    _ = try await run(id, tree)
    for _ in 0..<2 {
      tree.org.setClock(tree.org.now + 60_000)
      tree.org.forgetRequests()
      let before = try await tree.device.rows(in: TreeDevice.contacts)
      let state = try await run(id, tree)
      #expect(state.totalSize == 0)
      #expect(tree.org.lines == ["GET /{v}/query", "GET /{v}/query"])
      #expect(try await tree.device.rows(in: TreeDevice.contacts) == before)
    }
  }

  @Test(.covers("MS-152"), arguments: [1, 2])
  func `a child that changes between the two queries comes with the next run`(
    request: Int
  ) async throws {
    let (tree, id, made) = try await downloaded(.overwrite)
    let first = tree.org.requests.count
    tree.org.intervene { number, _ in
      guard number == first + request else { return .none }
      tree.org.update("Contact", made[0].children[0], ["LastName": "between"])
      // A parent that changes after it must not hide it.
      tree.org.update("Account", made[1].parent, ["Name": "later"])
      return .none
    }
    _ = try await run(id, tree)
    tree.org.intervene(nil)
    tree.org.setClock(tree.org.now + 60_000)
    _ = try await run(id, tree)
    #expect(try await tree.localTrees() == tree.serverTrees())
  }

  @Test(.covers("MS-152"))
  func `two changes of a child in one second are downloaded, one after the other`() async throws {
    let (tree, id, made) = try await downloaded(.overwrite)
    for name in ["first", "second"] {
      tree.org.setTickLength(0)
      tree.org.update("Contact", made[0].children[0], ["LastName": .string(name)])
      _ = try await run(id, tree)
      #expect(try await tree.localTrees() == tree.serverTrees())
    }
  }

  @Test(.covers("MS-152"))
  func `many such children come in pages, and so do the changed parents after them`() async throws {
    let (tree, id, made) = try await downloaded(.overwrite, count: 9)
    tree.org.pageSize = 2
    for (number, tree_) in made.enumerated() {
      if number % 3 == 0 {
        tree.org.update("Account", tree_.parent, ["Name": .string("b\(number)")])
      } else {
        tree.org.update("Contact", tree_.children[0], ["LastName": .string("c\(number)")])
      }
    }
    let state = try await run(id, tree)
    #expect(state.totalSize == 9)
    #expect(try await tree.localTrees() == tree.serverTrees())
  }

  // first download: one page, then the connection breaks; a child of that page changes; the download goes on
  @Test(.covers("MS-152"))
  func `a child that changes after an interrupted first download is downloaded`() async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.pageSize = 2
    let made = (0..<6).map { tree.serverTree("a\($0)", children: 2) }
    let first = Mutex(true)
    tree.org.intervene { _, request in
      let isFirst = first.withLock { isFirst in
        defer { if request.query["q"] == nil { isFirst = false } }
        return isFirst
      }
      return request.query["q"] == nil && isFirst ? .unreachable : .none
    }
    let sync = try await tree.device.manager.createSyncDown(
      target: tree.down, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try? await run(sync.id, tree)
    #expect(try await tree.localTrees().count < 6)
    tree.org.intervene(nil)
    tree.org.update("Contact", made[0].children[0], ["LastName": "changed"])
    tree.org.update("Account", made[5].parent, ["Name": "z"])
    for _ in 0..<2 { _ = try await run(sync.id, tree) }
    #expect(try await tree.localTrees() == tree.serverTrees())
  }

  @Test(.covers("MS-152"))
  func `a refused query for them is logged, and the changed parents are downloaded`() async throws {
    let (tree, id, made) = try await downloaded(.overwrite)
    tree.org.intervene { _, request in
      request.query["q"]?.contains("in (select") == true
        ? .response(
          status: 400, body: #"[{"errorCode":"MALFORMED_QUERY","message":"too many semi joins"}]"#)
        : .none
    }
    tree.org.update("Account", made[0].parent, ["Name": "b"])
    let state = try await run(id, tree)
    #expect(state.status == .done)
    #expect(try await tree.localTrees()["b"] == ["a0 0", "a0 1"])
  }
}
