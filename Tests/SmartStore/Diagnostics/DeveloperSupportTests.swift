import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import TestSupport
import Testing

@testable import SmartStore

/// What developers are shown: the engine, the stores, the inspector.
@Suite struct DeveloperSupportTests {
  private let ada = StoreOwner.user(organizationId: "00D1", userId: "0051")

  private func withManager(
    isDeveloperSupportEnabled: Bool = true, _ body: (SmartStoreManager) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: testEncryption,
        options: SmartStoreOptions(isDeveloperSupportEnabled: isDeveloperSupportEnabled),
        isLoggedIn: { _ in true })
      try await body(manager)
      try await manager.close()
    }
  }

  @Test(.covers("SS-24", "CO-183.2"))
  func `the first store of each kind registers its feature marker`()
    async throws
  {
    try await withManager { manager async throws in
      _ = try await manager.shared(forUserAccount: ada)
      _ = try await manager.sharedGlobal()
      let markers = FeatureMarkers.shared.text.split(separator: ".")
      #expect(markers.contains("US"))
      #expect(markers.contains("GS"))
    }
  }

  @Test(.covers("SS-33", "SS-27.2", "BX-83"))
  func `the engine describes itself`() {
    // Not SQLCipher: the responses are those of this engine (ruling 3).
    #expect(SmartStore.versionOfSQLCipher().contains("Fieldforce"))
    #expect(!SmartStore.cipherProviderVersion().isEmpty)
    #expect(SmartStore.cipherFIPSStatus() == false)
    #expect(SmartStore.compileOptions().contains("ENABLE_FTS5"))
    #expect(SmartStore.compileOptions().contains("ENABLE_FTS4"))
    #expect(SmartStore.compileOptions().contains("ENABLE_FTS3_PARENTHESIS"))
    #expect(SmartStore.versionOfSQLite().compare("3.38", options: .numeric) != .orderedAscending)
    #expect(SmartStore.runtimeSettings().contains("PRAGMA temp_store = MEMORY;"))
    #expect(
      SmartStore.runtimeSettings().allSatisfy { $0.hasPrefix("PRAGMA ") && $0.hasSuffix(";") })
  }

  @Test(.covers("SS-218", "CO-199.2"))
  func `the developer information comes in order and creates no store`() async throws {
    try await withManager { manager async throws in
      let before = try manager.developerInformation(forUserAccount: nil)
      #expect(
        before.map(\.name) == [
          "section:SmartStore", "SQLCipher version", "SQLCipher Compile Options",
          "SQLCipher Runtime Settings", "User SmartStores", "Global SmartStores",
        ])
      #expect(before.suffix(2).map(\.value) == ["", ""])
      #expect(before[1].value == SmartStore.versionOfSQLCipher())
      #expect(try manager.allGlobalStoreNames() == [])

      for name in ["b", "a"] { _ = try await manager.sharedGlobal(withName: name) }
      _ = try await manager.shared(forUserAccount: ada)
      let after = try manager.developerInformation(forUserAccount: ada)
      #expect(after.suffix(2).map(\.value) == ["defaultStore", "a, b"])
      #expect(SmartStoreManager.inspectAction == "Inspect SmartStore")
    }
  }

  // MARK: The inspector

  private func makeInspector(
    _ manager: SmartStoreManager, _ user: StoreOwner? = nil
  ) throws -> SmartStoreInspector {
    try #require(SmartStoreInspector(manager: manager, currentUser: user))
  }

  @Test(.covers("SS-219", "SS-223"))
  func `a statement runs page by page`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("n:integer")])
      try await store.upsert(entries: (0..<250).map { ["n": .integer($0)] }, forSoupNamed: "a")
      let inspector = try makeInspector(manager)
      let query = "select {a:n} from {a} order by {a:n}"
      for (size, index, first, count) in [
        ("", "", 0, 100), ("many", "first", 0, 100), ("20", "3", 60, 20), ("100", "2", 200, 50),
      ] as [(String, String, Int64, Int)] {
        await inspector.run(query: query, pageSize: size, pageIndex: index)
        let contents = await inspector.contents
        #expect(contents.rows?.first == [.integer(first)])
        #expect(contents.rows?.count == count)
        #expect(contents.query == query)
        #expect(contents.title == "" && contents.message == "")
      }
      await inspector.run(query: query, pageIndex: "9")
      #expect(await inspector.contents.message == "No rows returned")
      #expect(await inspector.contents.rows == [])

      await inspector.run(query: " \n")
      #expect(await inspector.contents.message == "No query specified")
      #expect(await inspector.contents.rows == nil)

      await inspector.run(query: "select {none:x} from {none}")
      #expect(await inspector.contents.title == "unknownSoup")
      #expect(await inspector.contents.message.hasPrefix("Unknown soup none"))
      #expect(await inspector.contents.rows == nil)
    }
  }

  @Test(.covers("SS-220"))
  func `stores are offered by kind, the user's default one first`() async throws {
    try await withManager { manager async throws in
      #expect(try await makeInspector(manager).selected.label == "default (global store)")
      let inspector = try makeInspector(manager, ada)
      #expect(await inspector.selected.label == "default (user store)")
      #expect(try await inspector.choices() == [])
      // Looking at a store that is not there creates none.
      await inspector.showSoups()
      #expect(await inspector.contents.message == "No soups found")
      #expect(try manager.allStoreNames(forUserAccount: ada) == [])

      for name in ["x", nil] {
        _ = try await manager.sharedGlobal(withName: name)
        _ = try await manager.shared(withName: name, forUserAccount: ada)
      }
      #expect(
        try await inspector.choices().map(\.label) == [
          "default (user store)", "x (user store)", "default (global store)", "x (global store)",
        ])
      let last = try #require(try await inspector.choices().last)
      await inspector.select(last)
      #expect(await inspector.selected == last)
    }
  }

  @Test(.covers("SS-221"))
  func `soups are shown with their counts, many by name alone`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      let inspector = try makeInspector(manager)
      await inspector.showSoups()
      #expect(await inspector.contents.message == "No soups found")

      for (name, count) in [("b", 5), ("it's {odd}:", 1), ("a", 10)] {
        try await store.registerSoup(withName: name, withIndices: [SoupIndex("n:integer")])
        try await store.upsert(
          entries: (0..<count).map { ["n": .integer(Int64($0))] }, forSoupNamed: name)
      }
      await inspector.showSoups()
      #expect(await inspector.contents.rows == [["a", 10], ["b", 5], ["it's {odd}:", 1]])
      #expect(await inspector.contents.query.hasPrefix("SELECT 'a', count(*) FROM {a}"))

      try await store.inTransaction { transaction in
        for n in 4...101 {
          try transaction.registerSoup(withName: "s\(n)", withIndices: [SoupIndex("n:integer")])
        }
      }
      await inspector.showSoups()
      let rows = try #require(await inspector.contents.rows)
      #expect(rows.count == 101)
      #expect(rows.first == ["a"])
      try await store.removeSoup("s101")
      await inspector.showSoups()
      #expect(await inspector.contents.rows?.count == 100)
      #expect(await inspector.contents.rows?.first == ["a", 10])
    }
  }

  @Test(.covers("SS-222"))
  func `indices are shown in the order in which they were registered`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(withName: "z", withIndices: [SoupIndex]("q:json1", "p:string"))
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("x:full_text")])
      let inspector = try makeInspector(manager)
      await inspector.showIndices()
      #expect(
        await inspector.contents.rows == [
          ["z", "q", "json1"], ["z", "p", "string"], ["a", "x", "full_text"],
        ])
      #expect(
        await inspector.contents.query == "select soupName, path, columnType from soup_index_map")
    }
  }

  @Test(.covers("SS-224"))
  func `clearing empties what is shown and no soup`() async throws {
    try await withManager { manager async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("n:integer")])
      try await store.upsert(entries: [["n": 1]], forSoupNamed: "a")
      let inspector = try makeInspector(manager)
      await inspector.run(query: "select 1", pageSize: "5", pageIndex: "0")
      await inspector.clear()
      #expect(await inspector.contents == SmartStoreInspector.Contents())
      #expect(try await store.elements(of: "a").count == 1)
    }
  }

  @Test(.covers("SS-224"))
  func `a late result replaces nothing that was requested later`()
    async throws
  {
    try await withManager { manager async throws in
      _ = try await manager.sharedGlobal()
      let inspector = try makeInspector(manager)
      let slow = """
        with recursive c(n) as (select 1 union all select n + 1 from c where n < 300000) \
        select count(*) from c
        """
      func runSlow() async -> Task<Void, Never> {
        let running = Task { await inspector.run(query: slow) }
        while await inspector.contents.query != slow { await Task.yield() }
        return running
      }
      var running = await runSlow()
      await inspector.clear()
      await running.value
      #expect(await inspector.contents == SmartStoreInspector.Contents())

      running = await runSlow()
      await inspector.run(query: "select 1")
      await running.value
      #expect(await inspector.contents.query == "select 1")
      #expect(await inspector.contents.rows == [[1]])
    }
  }

  @Test(.covers("SS-225"))
  func `words are offered for the language, the soups and their paths`() async throws {
    try await withManager { manager async throws in
      let inspector = try makeInspector(manager)
      let language = ["select", "from", "where", "group by", "order by"]
      #expect(try await inspector.autocompleteWords() == language)
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex]("n:integer", "o.p:json1"))
      #expect(
        try await inspector.autocompleteWords() == language + [
          "{a}", "{a:_soup}", "{a:_soupEntryId}", "{a:_soupLastModifiedDate}", "{a:n}", "{a:o.p}",
        ])
    }
  }

  @Test(.covers("SS-226", "CO-13.5"))
  func `without developer support there is no inspector`() async throws {
    try await withManager(isDeveloperSupportEnabled: false) { manager async throws in
      #expect(SmartStoreInspector(manager: manager, currentUser: nil) == nil)
    }
    #expect(SmartStoreOptions().isDeveloperSupportEnabled == SmartStoreOptions.isDebugBuild)
  }
}
