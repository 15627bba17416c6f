import BriefcaseSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Synchronization
import Testing

/// What happens to the records of a briefcase while one of its rules cannot be applied, and what does a run bring
/// again?
@Suite struct BriefcaseRuleTests {
  private static let contacts = "contacts"

  /// A device and an org whose briefcase is listed by its rules: one for accounts, one for contacts, in pages of
  /// `pageSize` ids.
  private final class Story: Sendable {
    let device: Device
    let org = InMemoryOrg()
    let accounts: [String]
    let contacts: [String]
    /// The ids of the rules, by object.
    let rules: [String: String]
    let sync: SyncState
    /// The objects whose rules fail; nil as long as the org lists its briefcase by itself.
    private let failing = Mutex<Set<String>?>(nil)

    init(accounts: Int, contacts: Int, pageSize: Int = 2_000) async throws {
      org.setTickLength(60_000)
      let org = org
      self.accounts = (0..<accounts).map { org.create("Account", ["Name": .string("\($0)")]) }
      self.contacts = (0..<contacts).map { org.create("Contact", ["LastName": .string("\($0)")]) }
      rules = [
        "Account": org.create("BriefcaseRule", ["TargetEntity": "Account", "ParentRuleId": nil]),
        "Contact": org.create("BriefcaseRule", ["TargetEntity": "Contact", "ParentRuleId": nil]),
      ]
      org.setBriefcase(
        ["Account": self.accounts, "Contact": self.contacts], pageSize: pageSize)
      device = try await Device.open(org)
      try await device.registerSoup(BriefcaseRuleTests.contacts)
      sync = try await device.manager.syncDown(
        target: BriefcaseSyncDownTarget(infos: [
          BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"]),
          BriefcaseObjectInfo(
            sobjectType: "Contact", soupName: BriefcaseRuleTests.contacts, fieldlist: ["LastName"]),
        ]), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
      ).finished()
      org.forgetRequests()
    }

    /// Runs the sync again.
    ///
    /// - Returns: The ids of the records that were fetched.
    @discardableResult func run() async throws -> [String] {
      org.forgetRequests()
      _ = try await device.manager.reSync(id: sync.id).finished()
      return try org.requests.filter { $0.line.contains("composite/sobjects") }.flatMap {
        try JSONSlice(parsing: $0.body)["ids"]?.elements.compactMap(\.string) ?? []
      }
    }

    /// Lets the rules of these objects fail from now on, and no others.
    func fail(_ objects: String...) {
      let isFirst = failing.withLock { failing in
        defer { failing = Set(objects) }
        return failing == nil
      }
      if isFirst { listByRules() }
    }

    private func listByRules() {
      org.respond(to: "GET /{v}/connect/briefcase/priming-records") { [self] records, request in
        let objects = failing.withLock { $0 ?? [] }
        let errors: [JSONValue] = objects.map { ["ruleId": .string(rules[$0] ?? "")] }
        let since =
          request.query["changedAfterTimestamp"].flatMap(SalesforceDate.parse)?.milliseconds ?? -1
        var listed: [(type: String, item: JSONValue)] = []
        for (type, ids) in [("Account", accounts), ("Contact", contacts)]
        where !objects.contains(type) {
          for id in ids {
            guard let stamp = records.record(type, id)?["LastModifiedDate"]?.string,
              SalesforceDate.parse(stamp).map({ $0.milliseconds > since }) == true
            else { continue }
            listed.append((type, ["id": .string(id), "systemModstamp": .string(stamp)]))
          }
        }
        var byType = JSONObject()
        for (type, items) in Dictionary(grouping: listed, by: \.type) {
          byType[type] = ["012000000000000AAA": .array(items.map(\.item))]
        }
        return (
          200,
          ["primingRecords": .object(byType), "relayToken": nil, "ruleErrors": .array(errors)]
        )
      }
    }

    func names() async throws -> [String] {
      try await device.rows().compactMap { $0["Name"]?.string }
        + device.rows(in: BriefcaseRuleTests.contacts).compactMap { $0["LastName"]?.string }
    }
  }

  // MARK: What comes again

  @Test func `the records of a second page of ids come once`() async throws {
    let story = try await Story(accounts: 3, contacts: 2, pageSize: 1)
    #expect(try await story.run() == [])
    #expect(story.org.requests.count == 1)
    #expect(try await story.names().count == 5)
    story.org.update("Contact", story.contacts[1], ["LastName": "changed"])
    #expect(try await story.run() == [story.contacts[1]])
    #expect(try await story.run() == [])
  }

  @Test func `a first page of ids without a record does not hold the watermark`() async throws {
    let story = try await Story(accounts: 2, contacts: 0)
    let ids = story.accounts
    story.org.respond(to: "GET /{v}/connect/briefcase/priming-records") { records, request in
      let since =
        request.query["changedAfterTimestamp"].flatMap(SalesforceDate.parse)?.milliseconds ?? -1
      let items: [JSONValue] = ids.compactMap { id in
        let stamp = records.record("Account", id)?["LastModifiedDate"]?.string ?? ""
        let date = SalesforceDate.parse(stamp)?.milliseconds ?? 0
        return date > since ? ["id": .string(id), "systemModstamp": .string(stamp)] : nil
      }
      let isFirst = request.query["relayToken"] == nil
      return (
        200,
        [
          "primingRecords": isFirst || items.isEmpty ? [:] : ["Account": ["x": .array(items)]],
          "relayToken": isFirst ? "1" : nil, "ruleErrors": [],
        ]
      )
    }
    story.org.update("Account", ids[0], ["Name": "changed"])
    story.org.create("Account", ["Name": "a minute later"])
    #expect(try await story.run() == [ids[0]])
    #expect(try await story.run() == [])
    #expect(try await story.names() == ["changed", "1"])
  }

  // MARK: A rule that fails

  @Test func `while a rule fails, the records of other rules come once`() async throws {
    let story = try await Story(accounts: 2, contacts: 2)
    story.fail("Account")
    story.org.update("Contact", story.contacts[0], ["LastName": "changed"])
    #expect(try await story.run() == [story.contacts[0]])
    #expect(try await story.run() == [])
    story.org.update("Contact", story.contacts[1], ["LastName": "changed too"])
    #expect(try await story.run() == [story.contacts[1]])
    #expect(try await story.names() == ["0", "1", "changed", "changed too"])
  }

  @Test func `a rule that works again brings what changed since it failed`() async throws {
    let story = try await Story(accounts: 2, contacts: 2)
    story.fail("Account")
    story.org.update("Account", story.accounts[1], ["Name": "missed"])
    story.org.update("Contact", story.contacts[0], ["LastName": "changed"])
    try await story.run()
    try await story.device.restartProcess()
    try await story.run()
    story.fail()
    #expect(try await story.run().contains(story.accounts[1]))
    #expect(try await story.names() == ["0", "missed", "changed", "1"])
    #expect(try await story.run() == [])
  }

  @Test func `each rule has its own watermark while others fail`() async throws {
    let story = try await Story(accounts: 2, contacts: 2)
    story.fail("Account")
    story.org.update("Account", story.accounts[0], ["Name": "missed"])
    story.org.update("Contact", story.contacts[0], ["LastName": "changed"])
    try await story.run()
    story.fail("Account", "Contact")
    story.org.update("Contact", story.contacts[1], ["LastName": "missed too"])
    try await story.run()
    story.fail("Contact")
    #expect(try await story.run() == [story.accounts[0]])
    #expect(try await story.run() == [])
    story.fail()
    #expect(try await story.run() == [story.contacts[1]])
    #expect(try await story.names() == ["missed", "1", "changed", "missed too"])
  }

  @Test func `a run that stops before it has caught up catches up the next time`() async throws {
    let story = try await Story(accounts: 2, contacts: 1)
    story.fail("Account")
    story.org.update("Account", story.accounts[1], ["Name": "missed"])
    story.org.update("Contact", story.contacts[0], ["LastName": "changed"])
    try await story.run()
    story.fail()
    story.org.forgetRequests()
    story.org.intervene { _, request in
      request.line.contains("composite/sobjects/Account") ? .unreachable : .none
    }
    await #expect(throws: SyncError.self) { try await story.run() }
    story.org.intervene(nil)
    #expect(try await story.run().contains(story.accounts[1]))
    #expect(try await story.names() == ["0", "missed", "changed"])
  }

  @Test func `a rule without an id keeps a watermark too`() async throws {
    let story = try await Story(accounts: 1, contacts: 1)
    let incomplete = #"{"primingRecords": {}, "relayToken": null, "ruleErrors": [{}]}"#
    story.org.update("Account", story.accounts[0], ["Name": "missed"])
    story.org.intervene { _, request in
      request.line.contains("priming") ? .response(status: 200, body: incomplete) : .none
    }
    try await story.run()
    story.org.intervene(nil)
    #expect(try await story.run() == [story.accounts[0]])
    #expect(try await story.run() == [])
  }

  // MARK: Ghosts

  @Test(arguments: [(nil, 1), ("Contact", 0)] as [(String?, Int)])
  func `ghosts of the rules that are applied are cleaned while another one fails`(
    child: String?, removed: Int
  ) async throws {
    let story = try await Story(accounts: 2, contacts: 2)
    if let child {
      let parent = JSONValue.string(story.rules["Account"] ?? "")
      story.org.create("BriefcaseRule", ["TargetEntity": .string(child), "ParentRuleId": parent])
    }
    story.fail("Account")
    story.org.delete("Account", story.accounts[0])
    story.org.delete("Contact", story.contacts[0])
    let counts = try await story.device.manager.cleanResyncGhostCounts(forId: story.sync.id)
    #expect(counts.bySoup[Self.contacts] ?? 0 == removed)
    #expect(counts.removed == removed)
    #expect(try await story.device.rows().count == 2)
  }

  @Test(arguments: [
    (#"[{"errorCode": "INVALID_TYPE", "message": "no such object"}]"#, 400),
    (#"{"totalSize": 0, "done": true, "records": []}"#, 200),
  ])
  func `while a rule fails of which nothing is known, nothing is removed`(
    response: String, status: Int
  ) async throws {
    let story = try await Story(accounts: 2, contacts: 1)
    story.fail("Account")
    story.org.delete("Contact", story.contacts[0])
    story.org.intervene { _, request in
      request.line.hasSuffix("/query") ? .response(status: status, body: response) : .none
    }
    #expect(
      try await story.device.manager.cleanResyncGhostCounts(forId: story.sync.id).removed == 0)
    story.org.intervene(nil)
    #expect(
      try await story.device.manager.cleanResyncGhostCounts(forId: story.sync.id).removed == 1)
  }
}
