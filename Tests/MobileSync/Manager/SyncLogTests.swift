import BriefcaseSyncDown
import CollectionSyncUp
import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// What does sync log, and what of the records?
@Suite struct SyncLogTests {
  /// What is logged while `body` runs, each line as `level component: text`. Other tests log, too.
  private func logged(
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> [String] {
    try await Turns.logging.run {
      let lines = Mutex<[String]>([])
      let level = MobileSyncLogger.log.level
      MobileSyncLogger.log.level = .verbose
      SalesforceLogger.setReceivers { _ in Listener { line in lines.withLock { $0.append(line) } } }
      defer {
        SalesforceLogger.setReceivers(nil)
        MobileSyncLogger.log.level = level
      }
      try await body()
      return lines.withLock { $0 }
    }
  }

  @Test(.covers("MS-317"))
  func `runs are logged under MobileSync, and no value of a record above level debug`()
    async throws
  {
    let word = "Quetzalcoatl"
    let query = "\(Device.query) where Name = '\(word)'"
    let number = Mutex<Int64>(0)
    let lines = try await logged {
      let org = InMemoryOrg()
      let ids = (0..<3).map { _ in org.create("Account", ["Name": .string(word)]) }
      let device = try await Device.open(org)
      let down = try await device.manager.syncDown(
        target: try SoqlSyncDownTarget(query: query),
        options: SyncOptions(mergeMode: .mergeFields), soupName: Device.soup
      ).finished()
      number.withLock { $0 = down.id }
      func up() async throws {
        _ = try? await device.manager.syncUp(
          options: SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"]),
          soupName: Device.soup
        ).finished()
      }
      // Accepted, in conflict, refused with the value in the message, without a response, failed.
      try await device.create([["Name": .string(word + " 2")]])
      try await device.edit(ids[0], ["Name": .string(word + " mine")])
      org.update("Account", ids[0], ["Name": .string(word + " theirs")])
      try await up()
      try await device.edit(ids[1], ["Name": .string(word + String(repeating: "x", count: 300))])
      try await up()
      try await device.edit(ids[2], ["Phone": .string(word)])
      for intervention in [
        InMemoryOrg.Intervention.unreachable, .dropResponse, .cutBody,
        .response(status: 400, body: #"[{"errorCode":"\#(word)","message":"\#(word)"}]"#),
        .response(status: 200, body: #"{"\#(word)": 1}"#),
      ] {
        org.intervene { _, _ in intervention }
        try await up()
        _ = try? await device.manager.reSync(id: down.id).finished()
        _ = try? await device.manager.cleanResyncGhosts(forId: down.id)
      }
      org.intervene(nil)
      try await up()
      for id in ids { org.delete("Account", id) }
      _ = try? await device.manager.cleanResyncGhosts(forId: down.id)
    }
    let id = number.withLock { $0 }
    for text in ["started.", "ended: DONE, 3 records"] {
      #expect(lines.contains { $0.hasPrefix("info MobileSync: Sync \(id) (syncDown) \(text)") })
    }
    #expect(lines.contains { $0.contains("ended: FAILED") })
    let above = lines.filter { !$0.hasPrefix("debug ") && !$0.hasPrefix("verbose ") }
    #expect(above.filter { $0.contains(word) } == [])
  }

  @Test(.covers("MS-273"))
  func `each problem of a file of syncs is logged with its place, and other syncs are made`()
    async throws
  {
    let file = """
      {"syncs": [
        {"syncName": "good", "syncType": "syncUp", "soupName": "a", "options": {"fieldlist": ["N"]}},
        {"syncType": "syncUp", "soupName": "a", "options": {"fieldlist": ["N"]}},
        {"syncName": "bad", "syncType": "syncSideways", "soupName": "a"},
        {"syncName": "poor", "syncType": "syncDown", "soupName": "a", "target": {"type": "soql"}},
        {"syncName": "nowhere", "syncType": "syncUp", "options": {"fieldlist": ["N"]}},
        {"syncName": "empty", "syncType": "syncUp", "soupName": "a", "options": {}}
      ]}
      """
    let loaded = Mutex<SyncManager.LoadedSyncs?>(nil)
    let lines = try await logged {
      let device = try await Device.open(InMemoryOrg())
      let result = try await device.manager.setupSyncsFromDefaultConfig(
        from: StoreConfigurationSource { _ in Array(file.utf8) })
      loaded.withLock { $0 = result }
    }
    let result = try #require(loaded.withLock { $0 })
    #expect(result.created.map(\.name) == ["good", "empty"])
    #expect(result.problems.map(\.line) == [3, 4, 5, 6, 7])
    #expect(result.problems.map(\.isWarning) == [false, false, false, false, true])
    for problem in result.problems {
      let level = problem.isWarning ? "warn" : "error"
      #expect(lines.contains("\(level) MobileSync: \(problem)"))
    }
  }

  @Test func `the warnings of a new sync are logged`() async throws {
    let lines = try await logged {
      let device = try await Device.open(InMemoryOrg())
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      _ = try await device.manager.syncUp(
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phon"]),
        soupName: Device.soup
      ).finished()
    }
    for field in ["'Phon'", "'Phone'"] {
      #expect(lines.contains { $0.hasPrefix("warn MobileSync: No sync") && $0.contains(field) })
    }
  }

  @Test(.covers("MS-166"))
  func `a rule of a briefcase that fails is logged, and the run is done`() async throws {
    let rule = "0Lq000000000QuetzAAA"
    let lines = try await logged {
      let org = InMemoryOrg()
      org.intervene { _, _ in
        .response(
          status: 200,
          body:
            #"{"primingRecords": {}, "relayToken": null, "ruleErrors": [{"ruleId": "\#(rule)"}]}"#)
      }
      let device = try await Device.open(org)
      let state = try await device.manager.syncDown(
        target: BriefcaseSyncDownTarget(infos: [
          BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
        ]), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
      ).finished()
      #expect(state.status == .done)
    }
    #expect(
      lines.contains("error MobileSync: The briefcase rule \(rule) could not be applied."))
  }

  @Test(.covers("MS-171"))
  func `a record of an object that a briefcase's target does not name is logged and dropped`()
    async throws
  {
    let lines = try await logged {
      let org = InMemoryOrg()
      let id = org.create("Account", ["Name": "a"])
      org.setBriefcase(["Account": [id]])
      org.intervene { _, request in
        request.line.hasPrefix("POST")
          ? .response(
            status: 200,
            body: """
              [{"attributes": {"type": "Quetzal__c"}, "Id": "a00", "Name": "b"},
              {"attributes": {"type": "Account"}, "Id": "\(id)", "Name": "a"}]
              """) : .none
      }
      let device = try await Device.open(org)
      _ = try await device.manager.syncDown(
        target: BriefcaseSyncDownTarget(infos: [
          BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
        ]), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
      ).finished()
      #expect(try await device.rows().map { $0["Id"]?.string } == [id])
    }
    #expect(
      lines.contains {
        $0.hasPrefix("error MobileSync: ") && $0.contains("'Quetzal__c'") && $0.contains("dropped")
      })
  }
}

/// Passes on every record as `level component: text`.
private struct Listener: LogReceiver {
  let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  func receive(_ record: LogRecord) {
    tell("\(record.level) \(record.component): \(record.text)")
  }
}
