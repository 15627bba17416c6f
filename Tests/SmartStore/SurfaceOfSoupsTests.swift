import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// The public names for soups that change, cursors, inspection and configuration, used as an app uses them.
@Suite struct SurfaceOfSoupsTests {
  private static let user = StoreOwner.user(organizationId: "00D", userId: "005")

  private func withManager(_ body: (SmartStoreManager) async throws -> Void) async throws {
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: .plaintext,
        options: SmartStoreOptions(isDeveloperSupportEnabled: true), isLoggedIn: { _ in true })
      try await body(manager)
      try await manager.close()
    }
  }

  @Test(.covers("SS-242"))
  func `soups are altered and indexed again, and specs name their features`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      let spec = SoupSpec(name: "a", features: [SoupSpec.featureExternalStorage])
      #expect(spec.name == "a" && spec.features == ["externalStorage"])
      try await store.registerSoup(
        withSpec: spec, withIndices: [SoupIndex(path: "x", type: .string)])
      #expect(try await store.soupSpec(forSoupNamed: "a") == spec)
      try await store.upsert(entries: [["x": "one", "y": "two three"]], forSoupNamed: "a")

      let indexes = [SoupIndex(path: "x", type: .string), SoupIndex(path: "y", type: .fullText)]
      try await store.alterSoup(named: "a", indexSpecs: indexes, reIndexData: false)
      let match = try QuerySpec.buildMatchQuerySpec(
        soupName: "a", path: "y", matchKey: "three", pageSize: 10)
      #expect(try await store.count(using: match) == 0)
      try await store.reIndexSoup(named: "a", indexPaths: ["y"])
      #expect(try await store.query(using: match).map { $0["x"] } == ["one"])
      try await store.alterSoup(
        named: "a", soupSpec: SoupSpec(name: "a"), indexSpecs: indexes, reIndexData: true)
      #expect(try await store.soupSpec(forSoupNamed: "a").features.isEmpty)
      #expect(try await store.query(using: match).count == 1)
      // Nothing was interrupted.
      try await store.resumeLongOperations()
      #expect(try await store.indices(forSoupNamed: "a").map(\.path) == ["x", "y"])
    }
  }

  @Test(.covers("SS-242"))
  func `a cursor shows the pages of a query`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex(path: "n", type: .integer)])
      try await store.upsert(entries: (1...5).map { ["n": .integer($0)] }, forSoupNamed: "a")
      let spec = try QuerySpec.buildAllQuerySpec(
        soupName: "a", selectPaths: ["n"], orderPath: "n", pageSize: 2)
      var cursor: StoreCursor = try await store.openCursor(using: spec)
      #expect(cursor.totalPages == 3 && cursor.totalEntries == 5 && cursor.pageSize == 2)
      cursor = try await store.moveCursorToNextPage(cursor)
      #expect(cursor.currentPageOrderedEntries == [[3], [4]])
      cursor = try await store.moveCursorToPreviousPage(cursor)
      #expect(cursor.currentPageIndex == 0)
      cursor = try await store.moveCursor(cursor.cursorId, toPageIndex: 2)
      #expect(cursor.currentPageOrderedEntries == [[5]])
      store.closeCursor(cursor.cursorId)
      await #expect(throws: SmartStoreError.self) {
        _ = try await store.moveCursorToNextPage(cursor)
      }
    }
  }

  @Test(.covers("SS-242"))
  func `files of configuration make soups, and the inspector shows them`() async throws {
    try await withManager { manager async throws in
      let source = StoreConfigurationSource { file in
        let soup = file == StoreConfigurationSource.userStoreFile ? "mine" : "ours"
        return Array(
          #"{"soups":[{"soupName":"\#(soup)","indexes":[{"path":"x","type":"string"}]}]}"#.utf8)
      }
      try await manager.setupUserStoreFromDefaultConfig(forUserAccount: Self.user, from: source)
      try await manager.setupGlobalStoreFromDefaultConfig(from: source)
      let store = try #require(try await manager.shared(forUserAccount: Self.user))
      #expect(try await store.allSoupNames() == ["mine"])
      #expect(try await manager.sharedGlobal().allSoupNames() == ["ours"])
      try await store.upsert(entries: [["x": "y"]], forSoupNamed: "mine")

      let inspector = try #require(
        SmartStoreInspector(manager: manager, currentUser: Self.user))
      #expect(
        try await inspector.choices().map(\.label) == [
          "default (user store)", "default (global store)",
        ])
      await inspector.showSoups()
      #expect(await inspector.contents.rows == [["mine", 1]])
      await inspector.run(query: "select {mine:x} from {mine}", pageSize: "5")
      #expect(await inspector.contents.rows == [["y"]])
      await inspector.showIndices()
      #expect(await inspector.contents.rows == [["mine", "x", "string"]])
      #expect(try await inspector.autocompleteWords().contains("{mine:x}"))
      let choices = try await inspector.choices()
      await inspector.select(try #require(choices.last))
      await inspector.showSoups()
      #expect(await inspector.contents.rows == [["ours", 0]])
      await inspector.clear()
      let contents = await inspector.contents
      #expect(contents.rows == nil && contents.query.isEmpty && contents.message.isEmpty)
    }
  }

  @Test(.covers("SS-242"))
  func `the name of the key for stores is public, and specs can be read from JSON`() throws {
    #expect(
      SecretStoreKeyProvider.defaultName.service == "com.salesforce.smartstore.encryption.keyLabel")
    let spec = try SoupSpec(json: ["name": "a", "features": ["externalStorage"]])
    #expect(spec == SoupSpec(name: "a", features: ["externalStorage"]))
    #expect(try SoupSpec(json: ["name": "a"]).features.isEmpty)
  }
}
