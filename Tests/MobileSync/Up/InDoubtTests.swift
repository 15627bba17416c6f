import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Is a create whose response was lost ever sent twice, and does the app get to decide what the server can't tell?
@Suite struct InDoubtTests {
  static let targets: [any SyncUpTarget & Equatable] = [
    CollectionSyncUpTarget(), BatchSyncUpTarget(), BasicSyncUpTarget(),
  ]
  static let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]

  /// A device that has sent a create whose response was lost.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device
    let mode: SyncMergeMode

    init(
      _ target: any SyncUpTarget = CollectionSyncUpTarget(), _ mode: SyncMergeMode = .overwrite,
      _ fields: JSONObject = ["Id": "local_1", "Name": "a", "Phone": "1"], arrives: Bool = true
    ) async throws {
      self.mode = mode
      org.setClock(SalesforceDateNow.milliseconds)
      device = try await Device.open(org)
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup, syncName: "down")
      _ = try await device.manager.createSyncUp(
        targetJSON: target.json,
        options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]),
        soupName: Device.soup, syncName: "up")
      try await device.create([fields])
      org.intervene { _, _ in arrives ? .dropResponse : .unreachable }
      _ = await syncErrorCode { try await run("up") }
      org.intervene(nil)
    }

    @discardableResult
    func run(_ name: String) async throws -> SyncState {
      try await device.manager.reSync(named: name).finished()
    }

    var made: String { org.records("Account").first?["Id"]?.string ?? "" }

    func conflict() async throws -> SyncConflict? { try await device.store.conflicts().first }

    /// Both sides have one record each under the same id, with these values, and nothing is open.
    func agrees(_ name: String, _ phone: String) async throws -> Bool {
      let rows = try await device.rows()
      let there = org.records("Account")
      return rows.count == 1 && there.count == 1 && rows[0]["Id"] == there[0]["Id"]
        && there[0]["Name"]?.string == name && there[0]["Phone"]?.string == phone
        && rows[0]["Name"]?.string == name && rows[0]["Phone"]?.string == phone
        && rows[0][SyncKeys.local] == false
    }
  }

  @Test(.covers("MS-195"), arguments: targets.indices, modes)
  func `a record that was changed on the server since then is held, not created again`(
    target: Int, mode: SyncMergeMode
  ) async throws {
    let story = try await Story(Self.targets[target], mode)
    story.org.update("Account", story.made, ["Phone": "theirs"])
    for _ in 0..<2 {
      let sync = try await story.run("up")
      let outcomes = try await story.device.manager.outcomes(forId: sync.id)
      #expect(outcomes.map(\.kind) == [.conflict] && outcomes.first?.action == .create)
      #expect(outcomes.first?.error?["statusCode"] == "IN_DOUBT")
      let counts = try await story.device.manager.outcomeCounts(forId: sync.id)
      #expect(counts.skipped == 1 && counts.failed == 0)
    }
    #expect(story.org.records("Account").count == 1)
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt && conflict.candidates.map(\.id) == [story.made])
    #expect(
      conflict.fields.last
        == SyncConflict.Field(name: "Phone", base: "1", mine: "1", theirs: "theirs"))
    try await story.device.store.resolve(conflict, .record(story.made))
    #expect(try await story.conflict() == nil)
    try await story.run("up")
    #expect(try await story.agrees("a", "theirs"))
  }

  @Test(.covers("MS-195"), arguments: [false, true])
  func `a record that was created again becomes one entry with the one that a download brought`(
    isDownloaded: Bool
  ) async throws {
    let org = InMemoryOrg()
    let lost = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    for (name, options) in [
      ("down", SyncOptions(mergeMode: .mergeFields)),
      ("up", SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phone"])),
    ] {
      if name == "down" {
        _ = try await device.manager.createSyncDown(
          target: try SoqlSyncDownTarget(query: Device.query), options: options,
          soupName: Device.soup, syncName: name)
        _ = try await device.manager.reSync(named: name).finished()
      } else {
        _ = try await device.manager.createSyncUp(
          target: CollectionSyncUpTarget(), options: options, soupName: Device.soup, syncName: name)
      }
    }
    try await device.edit(lost, ["Name": "mine"])
    org.delete("Account", lost)
    org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
    _ = await syncErrorCode { _ = try await device.manager.reSync(named: "up").finished() }
    org.intervene(nil)
    let made = try #require(org.records("Account").first?["Id"]?.string)
    org.update("Account", made, ["Phone": "2"])
    _ = try await device.manager.reSync(named: "up").finished()
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .inDoubt)
    if isDownloaded { _ = try await device.manager.reSync(named: "down").finished() }
    try await device.store.resolve(conflict, .record(made))
    for name in ["up", "down"] { _ = try await device.manager.reSync(named: name).finished() }
    let rows = try await device.rows()
    #expect(rows.count == 1)
    for name in ["Id", "Name", "Phone", "LastModifiedDate"] {
      #expect(rows.first?[name] == org.record("Account", made)?[name], "\(name)")
    }
  }

  /// What a device sends in the field Phone, and what the server makes of it as it stores it.
  static let forms: [(sent: JSONValue, stored: JSONValue)] = [
    ("5551234", "(555) 1234"), (" a ", "a"), ("12", 12), (12, "12"), ("true", true),
    (false, "false"),
    (10.0042, 10), ("2024-01-01T01:00:00.000+0100", "2024-01-01T00:00:00.000Z"),
  ]

  @Test(.covers("MS-195"), arguments: forms.indices, modes)
  func `a record with other forms of the values gives its id to the entry`(
    form: Int, mode: SyncMergeMode
  ) async throws {
    let (sent, stored) = Self.forms[form]
    let story = try await Story(
      CollectionSyncUpTarget(), mode, ["Id": "local_1", "Name": "Ann", "Phone": sent])
    // As the server does by itself, without another date.
    story.org.setTickLength(0)
    story.org.update("Account", story.made, ["Phone": stored])
    let sync = try await story.run("up")
    let outcome = try #require(try await story.device.manager.outcomes(forId: sync.id).first)
    #expect(outcome.kind == .succeeded && outcome.action == .create)
    #expect(outcome.recordId == story.made)
    try await story.run("up")
    #expect(story.org.records("Account").count == 1)
    #expect(try await story.device.rows().map { $0["Id"]?.string } == [story.made])
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `a record in doubt is held if two others have another form of its values`() async throws {
    let story = try await Story(
      CollectionSyncUpTarget(), .overwrite, ["Id": "local_1", "Name": "Ann", "Phone": "5551234"],
      arrives: false)
    for phone in ["(555) 1234", "555-1234"] {
      createElsewhere(["Name": "Ann", "Phone": .string(phone)], in: story.org)
    }
    try await story.run("up")
    #expect(story.org.records("Account").count == 2)
    #expect(try await story.conflict()?.candidates.count == 2)
  }

  @Test(.covers("MS-195"), arguments: modes)
  func `an edit since then goes to the record that was chosen`(mode: SyncMergeMode)
    async throws
  {
    let story = try await Story(CollectionSyncUpTarget(), mode)
    story.org.update("Account", story.made, ["Phone": "theirs"])
    try await story.device.edit("local_1", ["Name": "mine"])
    try await story.run("up")
    let conflict = try #require(try await story.conflict())
    try await story.device.store.resolve(conflict, .record(story.made))
    try await story.run("up")
    #expect(try await story.agrees("mine", "theirs"))
  }

  @Test(.covers("MS-195"))
  func `create it sends the record, and its candidate stays another one`() async throws {
    let story = try await Story(arrives: false)
    let other = story.org.create(
      "Account", ["Name": "a", "Phone": "2", "CreatedById": "005000000000001AAA"])
    story.org.update("Account", other, ["Phone": "3"])
    try await story.run("up")
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt && story.org.records("Account").count == 1)
    try await story.device.store.resolve(conflict, .create)
    try await story.run("up")
    #expect(story.org.records("Account").compactMap { $0["Phone"]?.string } == ["3", "1"])
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `a record that was downloaded and was edited here is not created again`()
    async throws
  {
    let story = try await Story()
    try await story.run("down")
    try await story.device.edit(story.made, ["Phone": "2"])
    try await story.run("up")
    #expect(story.org.records("Account").count == 1)
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt)
    try await story.device.store.resolve(conflict, .record(story.made))
    try await story.run("up")
    #expect(try await story.agrees("a", "2"))
  }

  @Test(.covers("MS-195"), arguments: modes)
  func `different edits of both entries of a record in doubt are a conflict`(
    mode: SyncMergeMode
  ) async throws {
    let story = try await Story(CollectionSyncUpTarget(), mode)
    story.org.update("Account", story.made, ["Phone": "theirs"])
    try await story.run("down")
    try await story.run("up")
    let doubt = try #require(try await story.conflict())
    #expect(doubt.kind == .inDoubt)
    try await story.device.edit(story.made, ["Name": "b"])
    try await story.device.edit("local_1", ["Name": "c"])
    try await story.device.store.resolve(doubt, .record(story.made))
    #expect(try await story.device.rows().count == 1)
    let edits = try #require(try await story.conflict())
    #expect(edits.kind == .localEdits)
    #expect(edits.fields.map(\.name) == ["Name"])
    #expect(Set([edits.fields[0].mine, edits.fields[0].theirs]) == ["b", "c"])
    try await story.device.store.resolve(edits, .values(["Name": "b"]))
    try await story.run("up")
    #expect(try await story.agrees("b", "theirs"))
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `a create is held while the server does not say what it has`() async throws {
    let story = try await Story()
    story.org.intervene { _, request in
      request.line.hasPrefix("GET /{v}/query") ? .response(status: 400, body: "[]") : .none
    }
    let sync = try await story.run("up")
    #expect(sync.status == .done && story.org.records("Account").count == 1)
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt && conflict.candidates.isEmpty)
    story.org.intervene(nil)
    try await story.run("up")
    #expect(try await story.agrees("a", "1"))
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `a deletion of a record in doubt waits for the decision`() async throws {
    let story = try await Story()
    story.org.update("Account", story.made, ["Phone": "theirs"])
    try await story.device.delete("local_1")
    try await story.run("up")
    #expect(try await story.device.rows().count == 1)
    let conflict = try #require(try await story.conflict())
    try await story.device.store.resolve(conflict, .record(story.made))
    try await story.run("up")
    #expect(story.org.records("Account").isEmpty)
    #expect(try await story.device.rows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `what is in doubt survives the process, and refuses other resolutions`()
    async throws
  {
    let story = try await Story()
    story.org.update("Account", story.made, ["Phone": "theirs"])
    try await story.run("up")
    let conflict = try #require(try await story.conflict())
    try await story.device.restartProcess()
    try await story.run("up")
    #expect(try await story.conflict() == conflict)
    for resolution in [SyncResolution.mine, .theirs, .values(["Name": "x"]), .record("local_2")] {
      #expect(
        await syncErrorCode { try await story.device.store.resolve(conflict, resolution) }
          == .invalidResolution)
    }
    #expect(try await story.conflict() == conflict)
  }

  // MARK: Other records of the user

  /// A record that the same user creates with another device while the response is lost.
  private func createElsewhere(_ fields: JSONObject, in org: InMemoryOrg) {
    var fields = fields
    fields["CreatedById"] = "005000000000001AAA"
    org.create("Account", fields)
  }

  @Test(.covers("MS-195"), arguments: targets.indices, modes)
  func `creates that differ in their names are sent, however much they share`(
    target: Int, mode: SyncMergeMode
  ) async throws {
    let story = try await Story(Self.targets[target], mode, arrives: false)
    try await story.device.create(
      (2...10).map { ["Id": .string("local_\($0)"), "Name": .string("a\($0)"), "Phone": "1"] })
    for number in 1...10 {
      createElsewhere(["Name": .string("other \(number)"), "Phone": "1"], in: story.org)
    }
    let touched = try #require(story.org.records("Account").first?["Id"]?.string)
    story.org.update("Account", touched, ["Phone": "2"])
    for _ in 0..<2 {
      story.org.intervene { _, request in
        request.line.hasPrefix("POST") ? .unreachable : .none
      }
      _ = await syncErrorCode { try await story.run("up") }
      story.org.intervene(nil)
    }
    try await story.run("up")
    #expect(story.org.records("Account").count == 20)
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"), arguments: targets.indices, modes)
  func `a record of the same name that is as it was created is another record`(
    target: Int, mode: SyncMergeMode
  ) async throws {
    let story = try await Story(Self.targets[target], mode, arrives: false)
    createElsewhere(["Name": "a", "Phone": "2"], in: story.org)
    try await story.run("up")
    #expect(story.org.records("Account").compactMap { $0["Phone"]?.string } == ["2", "1"])
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `a record that has another name by now is another record`() async throws {
    let story = try await Story()
    story.org.update("Account", story.made, ["Name": "theirs"])
    try await story.run("up")
    #expect(story.org.records("Account").compactMap { $0["Name"]?.string } == ["theirs", "a"])
    #expect(try await story.conflict() == nil)
  }

  /// What a server, or the network, says if the request was not worked on.
  static let refusals: [InMemoryOrg.Intervention] = [
    .response(
      status: 503, body: #"[{"errorCode":"SERVER_UNAVAILABLE","message":"Server unavailable"}]"#),
    .response(
      status: 429, body: #"[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"Too many"}]"#),
  ]

  @Test(.covers("MS-195"), arguments: targets.indices, refusals.indices)
  func `a create that the server refused to work on is sent again without a search`(
    target: Int, refusal: Int
  ) async throws {
    let story = try await Story(Self.targets[target], arrives: false)
    // The same values, created by the same user: only the refusal tells that it is another one.
    createElsewhere(["Name": "a", "Phone": "1"], in: story.org)
    // The lost response of the story's start is searched for first, and is this record.
    try await story.run("up")
    #expect(story.org.records("Account").count == 1)
    try await story.device.create([["Id": "local_2", "Name": "b", "Phone": "1"]])
    story.org.intervene { _, request in
      request.line.hasPrefix("POST") ? Self.refusals[refusal] : .none
    }
    _ = await syncErrorCode { try await story.run("up") }
    story.org.intervene(nil)
    createElsewhere(["Name": "b", "Phone": "1"], in: story.org)
    let first = story.org.lines.count
    try await story.run("up")
    #expect(!story.org.lines[first...].contains { $0.hasPrefix("GET /{v}/query") })
    #expect(
      story.org.records("Account").compactMap { $0["Name"]?.string } == ["a", "b", "b"])
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(try await story.conflict() == nil)
  }

  // MARK: External ids

  @Test(.covers("MS-210"), arguments: targets.indices)
  func `a target that fills the external id creates one record, however often it is sent`(
    target: Int
  ) async throws {
    var fields = SyncUpFields(externalIdFieldName: "Key__c", fillsExternalId: true)
    fields.createFieldlist = ["Name", "Key__c"]
    let targets: [any SyncUpTarget] = [
      CollectionSyncUpTarget(fields: fields), BatchSyncUpTarget(fields: fields),
      BasicSyncUpTarget(fields: fields),
    ]
    let story = try await Story(targets[target])
    let key = try #require(try await story.device.rows().first?["Key__c"]?.string)
    #expect(key.count == 36)
    story.org.update("Account", story.made, ["Name": "theirs"])
    try await story.device.restartProcess()
    try await story.run("up")
    #expect(story.org.records("Account").compactMap { $0["Key__c"]?.string } == [key])
    #expect(try await story.conflict() == nil)
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-262"))
  func `the option to fill the external id is stored with the target`() throws {
    let target = CollectionSyncUpTarget(
      fields: SyncUpFields(externalIdFieldName: "Key__c", fillsExternalId: true))
    #expect(target.json["fillsExternalId"] == true)
    #expect(try CollectionSyncUpTarget(configuration: target.json) == target)
    #expect(CollectionSyncUpTarget().json["fillsExternalId"] == nil)
  }
}
