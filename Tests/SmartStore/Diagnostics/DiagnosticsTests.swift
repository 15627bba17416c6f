import Foundation
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// What a store tells about its work: events, notifications, query plans, log records.
@Suite struct DiagnosticsTests {
  private let events = InMemoryEventStore()

  private func withStore(
    _ options: SmartStoreOptions, _ body: (SmartStore) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let store = try await SmartStore.open(
        at: folder.file("store"), encryption: testEncryption, options: options)
      try await body(store)
      try await store.close()
    }
  }

  @Test(.covers("SS-211"))
  func `registering a soup is an event that names its features and nothing else`()
    async throws
  {
    try await withStore(SmartStoreOptions(now: { 5 }, events: events)) { store async throws in
      try await store.registerSoup(withName: "secret", withIndices: [SoupIndex("p:string")])
      try await store.registerSoup(
        withName: "both", withIndices: [SoupIndex]("p:json1", "q:full_text", "r:full_text"))
      try await store.registerSoup(
        withSpec: SoupSpec(name: "files", features: [SoupSpec.featureExternalStorage]),
        withIndices: [SoupIndex("p:string")])
      // A soup that was not committed is no event.
      await #expect(throws: CancellationError.self) {
        try await store.inTransaction { transaction in
          try transaction.registerSoup(withName: "lost", withIndices: [SoupIndex("p:string")])
          throw CancellationError()
        }
      }
      try await store.inTransaction { transaction in
        try? transaction.registerSoup(withName: "bad", withIndices: [SoupIndex("a\"b:json1")])
        try transaction.registerSoup(withName: "good", withIndices: [SoupIndex("p:json1")])
      }
    }
    #expect(
      events.events
        == [[], ["JSON1", "FTS"], ["ExternalStorage"], ["JSON1"]].map { features in
          AnalyticsEvent(
            name: "registerSoup", className: "SmartStore",
            attributes: ["features": .array(features)], startTime: 5)
        })
  }

  @Test(.covers("SS-211"))
  func `opening a store is an event that counts the stores of its owner`() async throws {
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: testEncryption,
        options: SmartStoreOptions(now: { 5 }, events: events), isLoggedIn: { _ in true })
      let ada = StoreOwner.user(organizationId: "00D1", userId: "0051")
      for name in ["a", "b", "a"] {
        _ = try await manager.shared(withName: name, forUserAccount: ada)
      }
      _ = try await manager.sharedGlobal(withName: "a")
      try await manager.close()
    }
    #expect(
      events.events
        == [
          ("userSmartStoreInit", "numUserStores", 1), ("userSmartStoreInit", "numUserStores", 2),
          ("globalSmartStoreInit", "numGlobalStores", 1),
        ].map { name, key, count in
          AnalyticsEvent(
            name: name, className: "SmartStore", attributes: [key: .integer(count)], startTime: 5)
        })
  }

  @Test(.covers("SS-212"))
  func `registering a soup again is no event`() async throws {
    try await withStore(SmartStoreOptions(events: events)) { store async throws in
      for _ in 0..<3 {
        try await store.registerSoup(withName: "a", withIndices: [SoupIndex("p:string")])
      }
    }
    #expect(events.events.count == 1)
  }

  /// Keeps the notifications of this store's tests: those whose message or text holds a mark of
  /// their own, since all tests share one centre.
  private final class Notifications: Sendable {
    private let kept = Mutex<[(name: String, rawJson: String?)]>([])
    // Written by the initialiser alone.
    private nonisolated(unsafe) var tokens: [any NSObjectProtocol] = []

    var all: [(name: String, rawJson: String?)] { kept.withLock { $0 } }

    init(from method: String) {
      for name in [
        SmartStore.jsonParseErrorNotification, SmartStore.jsonSerializationErrorNotification,
      ] {
        let token = NotificationCenter.default.addObserver(
          forName: name, object: nil, queue: nil
        ) { [weak self] notification in
          let info = notification.userInfo
          guard info?["fromMethod"] as? String == method, info?["errorCode"] as? Int == 999,
            info?["errorMessage"] is String
          else { return }
          let rawJson = info?["rawJson"] as? String
          self?.kept.withLock { $0.append((notification.name.rawValue, rawJson)) }
        }
        tokens.append(token)
      }
    }

    deinit {
      tokens.forEach { NotificationCenter.default.removeObserver($0) }
    }
  }

  @Test(.covers("SS-213", "SS-214", "BX-86"))
  func `a stored text that is no JSON is reported by event and notification`()
    async throws
  {
    let notifications = Notifications(
      from: "query(using:startingFromPageIndex:whereArgs:)")
    let options = SmartStoreOptions(events: events, includesRawJSONInNotifications: true)
    try await withStore(options) { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("p:string")])
      try await store.upsert(entries: [["p": "x"], ["p": "y"]], forSoupNamed: "a")
      try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{broken-213' WHERE id = 1")
      // SS-150: null in its place, the others are there.
      let rows = try await store.rows("select {a:_soup}, {a:p} from {a} order by {a:p}")
      #expect(rows.map { $0[0].isNull } == [true, false])
      #expect(rows.map { $0[1] } == ["x", "y"])
      await expectFailure(.corrupt, "Database is corrupted") {
        _ = try await store.retrieve(usingSoupEntryIds: [1], fromSoupNamed: "a")
      }
      await expectFailure(.sql) { _ = try await store.query("select none from {a}") }
    }
    let failures = events.events.filter { $0.name != "registerSoup" }
    #expect(failures.map(\.name) == Array(repeating: "SmartStoreJSONParseError", count: 2))
    #expect(
      failures.map { $0.attributes["fromMethod"] } == [
        "query(using:startingFromPageIndex:whereArgs:)",
        "retrieve(usingSoupEntryIds:fromSoupNamed:)",
      ])
    for failure in failures {
      #expect(failure.attributes["errorCode"] == 999)
      #expect(failure.attributes["errorMessage"]?.string?.contains("broken") == false)
    }
    let own = notifications.all.filter { $0.rawJson == "{broken-213" }
    #expect(own.map(\.name) == ["SFSmartStoreJSONParseErrorNotification"])
  }

  @Test(.covers("SS-104", "SS-213", "SS-214"))
  func `an entry that JSON cannot say is reported by event and notification`()
    async throws
  {
    let notifications = Notifications(from: "create(entry:inSoupNamed:)")
    try await withStore(SmartStoreOptions(events: events)) { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("p:string")])
      await expectFailure(.invalidEntry, "Invalid entry") {
        _ = try await store.create(entry: ["p": .double(.nan)], inSoupNamed: "a")
      }
      #expect(try await store.elements(of: "a") == [])
    }
    #expect(events.events.map(\.name) == ["registerSoup", "SmartStoreJSONSerializationError"])
    #expect(notifications.all.map(\.name) == ["SFSmartStoreJSONSerializationErrorNotification"])
    #expect(notifications.all.allSatisfy { $0.rawJson == nil })
  }

  @Test(.covers("SS-215"))
  func `the check of serialised results is off until it is requested`() async throws {
    for isOn in [false, true] {
      let events = InMemoryEventStore()
      let options = SmartStoreOptions(events: events, jsonSerializationCheckEnabled: isOn)
      #expect(SmartStoreOptions().jsonSerializationCheckEnabled == false)
      try await withStore(options) { store async throws in
        try await store.registerSoup(withName: "a", withIndices: [SoupIndex("p:string")])
        try await store.upsert(entries: [["p": "x"]], forSoupNamed: "a")
        let spec = try QuerySpec.buildAllQuerySpec(soupName: "a", pageSize: 1)
        _ = try await store.queryAsString(using: spec)
        try await store.unsafelyExecute("UPDATE TABLE_1 SET soup = '{broken'")
        if isOn {
          await expectFailure(.corrupt) { _ = try await store.queryAsString(using: spec) }
        } else {
          #expect(try await store.queryAsString(using: spec) == "[{broken]")
        }
      }
      let names = events.events.map(\.name).filter { $0 != "registerSoup" }
      #expect(names == (isOn ? ["SmartStoreJSONParseError"] : []))
    }
  }

  @Test(.covers("SS-216", "BX-87"))
  func `the plan of the last query is kept while it is captured`() async throws {
    try await withStore(SmartStoreOptions()) { store async throws in
      try await store.registerSoup(withName: "a", withIndices: [SoupIndex("p:string")])
      let spec = try QuerySpec.buildExactQuerySpec(
        soupName: "a", path: "p", matchKey: "x", pageSize: 10)
      #expect(store.capturesExplainQueryPlan == false)
      _ = try await store.query(using: spec)
      #expect(store.lastExplainQueryPlan == nil)

      store.capturesExplainQueryPlan = true
      _ = try await store.query(using: spec)
      let plan = try #require(store.lastExplainQueryPlan)
      #expect(plan.sql.hasPrefix("EXPLAIN QUERY PLAN SELECT"))
      #expect(plan.args == ["x", 0, 10])
      #expect(plan.details == ["SEARCH TABLE_1 USING INDEX TABLE_1_0_idx (TABLE_1_0=?)"])
      #expect(plan.json["rows"]?[0]?["detail"] != nil)

      _ = try await store.count(using: .buildAllQuerySpec(soupName: "a", pageSize: 1))
      let count = try #require(store.lastExplainQueryPlan)
      #expect(count.args == nil)
      #expect(count.json["args"] == nil)
      #expect(count.sql == "EXPLAIN QUERY PLAN SELECT count(*) FROM TABLE_1 ")

      store.capturesExplainQueryPlan = false
      _ = try await store.query(using: spec)
      #expect(store.lastExplainQueryPlan == count)
    }
  }

  @Test(.covers("SS-217"))
  func `the log holds the text of queries at level verbose and no value at any`()
    async throws
  {
    for (level, showsText) in [(LogLevel.verbose, true), (.debug, false)] {
      let log = LogRecorder()
      let options = SmartStoreOptions(logger: log.logger(forComponent: "SmartStore", level: level))
      try await withStore(options) { store async throws in
        try await store.registerSoup(
          withName: "a", withIndices: [SoupIndex]("p:string", "q:full_text"))
        try await store.upsert(entries: [["p": "canary", "q": "canary"]], forSoupNamed: "a")
        for spec in [
          try QuerySpec.buildExactQuerySpec(
            soupName: "a", path: "p", matchKey: "canary", pageSize: 1),
          try .buildMatchQuerySpec(soupName: "a", matchKey: "canary", pageSize: 1),
          try .buildLikeQuerySpec(soupName: "a", path: "p", likeKey: "canary%", pageSize: 1),
        ] {
          #expect(try await store.query(using: spec).count == 1)
        }
        _ = try await store.query(
          using: .buildSmartQuerySpec(
            smartSql: "select count(*) from {a} where {a:p} = ?", pageSize: 1),
          whereArgs: ["canary"])
      }
      #expect(log.lines.isEmpty == !showsText)
      #expect(log.lines.contains { $0.contains("canary") } == false)
      #expect(log.lines.allSatisfy { $0.contains("SmartStore") })
    }
  }
}
