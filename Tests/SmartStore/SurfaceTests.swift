import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// The public names, used as an app uses them.
@Suite struct SurfaceTests {
  @Test(.covers("SS-242", "SS-243.1"))
  func `the names of the surface exist and mean what they say`() async throws {
    #expect(SmartStore.defaultStoreName == "defaultStore")
    #expect(SmartStore.errorDomain == "com.salesforce.smartstore.error")
    #expect(SmartStore.soupEntryId == "_soupEntryId")
    #expect(SmartStore.lastModifiedDate == "_soupLastModifiedDate")
    #expect(
      [
        SmartStore.idColumn, SmartStore.createdColumn, SmartStore.lastModifiedColumn,
        SmartStore.soupColumn,
      ] == ["id", "created", "lastModified", "soup"])
    #expect(
      SmartStore.jsonParseErrorNotification.rawValue == "SFSmartStoreJSONParseErrorNotification")
    #expect(SmartStore.date(lastModifiedValue: 1500) == Date(timeIntervalSince1970: 1.5))

    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: .plaintext, isLoggedIn: { _ in true })
      let user = StoreOwner.user(organizationId: "00D", userId: "005")
      let store = try await manager.sharedGlobal(withName: "s")
      _ = try await manager.shared(withName: "s", forUserAccount: user)
      #expect(store.name == "s")
      #expect(store.path.hasSuffix("/stores/s/store.sqlite"))
      #expect(store.isGlobal)
      #expect(try manager.allGlobalStoreNames() == ["s"])
      #expect(try manager.allStoreNames(forUserAccount: user) == ["s"])

      try await store.registerSoup(
        withName: "a", withIndices: [SoupIndex(path: "x", type: .string)])
      try await store.registerSoup(withName: "b", withIndexPaths: ["x"])
      #expect(try await store.soupExists(forName: "a"))
      #expect(try await store.allSoupNames() == ["a", "b"])
      #expect(try await store.indices(forSoupNamed: "a").map(\.columnName) == ["TABLE_1_0"])

      let saved = try await store.upsert(entries: [["x": "y"]], forSoupNamed: "a")
      try await store.upsert(
        entries: [["x": "y", "z": 1]], forSoupNamed: "a", withExternalIdPath: "x")
      #expect(saved.first?["_soupEntryId"] == 1)
      #expect(
        try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a").first?["z"]?.int64 == 1
      )
      #expect(
        try await store.lookupSoupEntryId(soupNamed: "a", fieldPath: "x", fieldValue: "y") == 1)

      let all = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 10)
      for spec in [
        all,
        try .buildExactQuerySpec(soupName: "a", path: "x", matchKey: "y", pageSize: 10),
        try .buildRangeQuerySpec(soupName: "a", path: "x", beginKey: "a", pageSize: 10),
        try .buildLikeQuerySpec(soupName: "a", path: "x", likeKey: "Y", pageSize: 10),
      ] {
        #expect(try await store.query(using: spec, startingFromPageIndex: 0).count == 1)
        #expect(try await store.count(using: spec) == 1)
      }
      #expect(try await store.query("select {a:x} from {a}") == [["y"]])
      let smart = try QuerySpec.buildSmartQuerySpec(
        smartSql: "select {a:x} from {a} where {a:x} = ?", pageSize: 1)
      #expect(
        try await store.query(using: smart, startingFromPageIndex: 0, whereArgs: ["y"]) == [["y"]])
      var live = store.observe(all).makeAsyncIterator()
      #expect(try await live.next()?.count == 1)

      store.capturesExplainQueryPlan = true
      _ = try await store.query(using: all)
      #expect(store.lastExplainQueryPlan?.rows.isEmpty == false)
      #expect(try await store.databaseSize() > 0)
      #expect(!SmartStore.runtimeSettings().isEmpty)
      #expect(!SmartStore.compileOptions().isEmpty)
      #expect(!SmartStore.versionOfSQLCipher().isEmpty)
      #expect(!SmartStore.cipherProviderVersion().isEmpty)
      #expect(!SmartStore.cipherFIPSStatus())

      try await store.removeEntries(usingQuerySpec: all, forSoupNamed: "a")
      try await store.remove(entryIds: [1], forSoupNamed: "a")
      try await store.clearSoup("a")
      try await store.removeSoup("a")
      try await store.removeAllSoups()
      try await manager.removeShared(withName: "s", forUserAccount: user)
      try await manager.removeAll(forUserAccount: user)
      try await manager.removeSharedGlobal(withName: "s")
      try await manager.removeAllGlobal()
    }
  }

  @Test(.covers("SS-242"))
  func `a store is used from wherever the caller is`() async throws {
    // Sendable, and bound to no actor: from the main one as from any other.
    @MainActor func onMain(_ store: SmartStore) async throws -> [String] {
      try await store.allSoupNames()
    }
    actor Other {
      func ask(_ store: SmartStore) async throws -> [String] { try await store.allSoupNames() }
    }
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: .plaintext,
        options: SmartStoreOptions(events: InMemoryEventStore()))
      #expect(try await onMain(store) == [])
      #expect(try await Other().ask(store) == [])
      try await store.close()
    }
  }
}
