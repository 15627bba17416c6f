import Foundation
import GRDB
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceMockOrg

@Suite struct LoadingTests {
  private func folder(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, text) in files { try Data(text.utf8).write(to: folder.file(name)) }
    return folder
  }

  private let plan = #"""
    [{"sobject":"Depot__c","saveRefs":true,"files":["depots.json"]},
    {"sobject":"Van__c","resolveRefs":true,"files":["vans.json"]}]
    """#
  private let depots = #"""
    {"records":[{"attributes":{"type":"Depot__c","referenceId":"D1"},"Name":"North",
    "Place__Latitude__s":59.9,"Place__Longitude__s":10.7,"Open__c":true},
    {"attributes":{"type":"Depot__c","referenceId":"D2"},"Name":"South"}]}
    """#
  private let vans = #"""
    {"records":[{"attributes":{"type":"Van__c","referenceId":"V1"},"Name":"one","Depot__c":"@D1",
    "Bought__c":"2024-02-29","Seen__c":"2026-05-01T08:30:00.000+0000","Load__c":12,"Mail__c":"at @home",
    "Next__c":"@V2"},
    {"attributes":{"type":"Van__c","referenceId":"V2"},"Name":"two","Depot__c":"@D2","Load__c":1.125}]}
    """#

  @Test func `a reference to nothing in a field without a description is refused`() async throws {
    let org = try OrgUnderTest()
    let folder = try folder([
      "vans.json":
        #"{"records":[{"attributes":{"type":"Van__c"},"Name":"one","Home__c":"@nowhere"}]}"#
    ])
    let error = await #expect(throws: MockOrgError.self) {
      try await org.org.load(plan: folder.file("vans.json"))
    }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains("'@nowhere' in Home__c of Van__c") == true)
    // A description says that this one is a text.
    let known = try self.folder([
      "a.json": #"{"records":[{"attributes":{"type":"Account"},"Name":"@nowhere"}]}"#
    ])
    try await org.org.load(plan: known.file("a.json"))
    #expect(try await org.org.query("SELECT Id FROM Account WHERE Name = '@nowhere'").count == 1)
  }

  @Test func `a byte order mark is named`() async throws {
    let org = try OrgUnderTest()
    let folder = try folder(["a.json": "\u{FEFF}[]"])
    let error = await #expect(throws: MockOrgError.self) {
      try await org.org.load(plan: folder.file("a.json"))
    }
    #expect(error?.message == "a.json begins with a byte order mark. Save it as UTF-8 without one.")
  }

  @Test func `a plan brings objects without a description`() async throws {
    let org = try OrgUnderTest()
    let folder = try folder(["plan.json": plan, "depots.json": depots, "vans.json": vans])
    let loaded = try await org.org.load(plan: folder.file("plan.json"))
    #expect(loaded.map(\.object) == ["Depot__c", "Van__c"])
    #expect(loaded.map(\.count) == [2, 2])
    let rows = try await org.org.query(
      """
      SELECT Name, Depot__r.Name, Depot__r.Place__c, Depot__r.Open__c, Bought__c, Seen__c, Load__c,
      Mail__c, Next__r.Name, Owner.Name FROM Van__c ORDER BY Name
      """)
    #expect(rows[0]["Depot__r"]?["Name"]?.string == "North")
    #expect(rows[0]["Depot__r"]?["Place__c"]?["latitude"]?.double == 59.9)
    #expect(rows[0]["Depot__r"]?["Open__c"]?.bool == true)
    #expect(rows[1]["Depot__r"]?["Open__c"]?.bool == false)
    #expect(rows[0]["Seen__c"]?.string == "2026-05-01T08:30:00.000+0000")
    #expect(rows[0]["Load__c"]?.double == 12)
    #expect(rows[1]["Load__c"]?.double == 1.125)
    #expect(rows[0]["Mail__c"]?.string == "at @home")
    // A reference may point forward.
    #expect(rows[0]["Next__r"]?["Name"]?.string == "two")
    #expect(rows[0]["Owner"]?["Name"]?.string == "Ada Admin")
    let describe = await org.send("GET", "/sobjects/Van__c/describe")
    let types = describe.json?["fields"]?.elements.reduce(into: [String: String]()) {
      $0[$1["name"]?.string ?? ""] = $1["type"]?.string
    }
    #expect(types?["Bought__c"] == "date")
    #expect(types?["Seen__c"] == "datetime")
    #expect(types?["Load__c"] == "double")
    #expect(types?["Depot__c"] == "reference")
    let parent = await org.send("GET", "/sobjects/Depot__c/describe")
    #expect(
      parent.json?["childRelationships"]?[0]?["relationshipName"]?.string == "Vans__r")
    // Both have prefixes of their own.
    #expect(parent.json?["keyPrefix"]?.string == "a00")
    #expect(describe.json?["keyPrefix"]?.string == "a01")
  }

  @Test func `a known object learns the fields that its data have`() async throws {
    let org = try OrgUnderTest()
    let folder = try folder([
      "accounts.json": #"""
      {"records":[{"attributes":{"type":"Account","referenceId":"A"},"Name":"x","Tier__c":"Gold",
      "Contacts":{"records":[{"attributes":{"type":"Contact","referenceId":"C"},"LastName":"y"}]}}]}
      """#
    ])
    try await org.org.load(plan: folder.file("accounts.json"))
    let rows = try await org.org.query("SELECT LastName, Account.Tier__c FROM Contact")
    #expect(rows.first?["Account"]?["Tier__c"]?.string == "Gold")
    let made = await org.send("POST", "/sobjects/Account", #"{"Name":"z","Tier__c":"Tin"}"#)
    #expect(made.status == 201)
  }

  @Test(arguments: [
    (#"{"records":[{"attributes":{"type":"Contact","referenceId":"C"},"FirstName":"x"}]}"#, "C"),
    (#"{"records":[{"attributes":{"type":"Contact"},"LastName":"x","AccountId":"@A"}]}"#, "@A"),
    (#"{"records":[{"Name":"x"}]}"#, "type"),
    (#"{"records":[1]}"#, "not an object"),
    (#"{"records":"#, "not valid JSON"),
    (#"{"rows":[]}"#, "neither a plan"),
    (#"[{"sobject":"Account"}]"#, "files"),
    (#"[{"sobject":"Account","files":["absent.json"]}]"#, "absent.json"),
  ])
  func `data that cannot be loaded leave nothing behind and say where they fail`(
    text: String, hint: String
  ) async throws {
    let org = try OrgUnderTest()
    let folder = try folder(["data.json": text])
    let error = await #expect(throws: MockOrgError.self) {
      try await org.org.load(plan: folder.file("data.json"))
    }
    #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    #expect(try await org.org.count("Contact") == 0)
  }

  @Test func `the same seed generates the same records, another seed others`() async throws {
    func names(_ seed: UInt64) async throws -> [String] {
      let org = try OrgUnderTest()
      try await org.org.generate("Account", count: 30, seed: seed)
      try await org.org.generate("Contact", count: 30, seed: seed)
      return try await org.org.query("SELECT Name, Email, AccountId FROM Contact").map(
        \.description)
    }
    let first = try await names(7)
    #expect(first == (try await names(7)))
    #expect(first != (try await names(8)))
    #expect(first.count == 30)
    #expect(first.contains { $0.contains("\"AccountId\":\"001") })
  }

  @Test func `a description that was cut short is completed, and one that is none is refused`()
    async throws
  {
    let org = try OrgUnderTest()
    let short = try folder([
      "a.json":
        #"{"name":"Crate__c","keyPrefix":"aB5","fields":[{"name":"Size__c","type":"double"}]}"#,
      "global.json": #"{"sobjects":[]}"#,
    ])
    try await org.org.load(describesIn: short.url)
    let made = await org.send("POST", "/sobjects/Crate__c", #"{"Size__c":3}"#)
    #expect(made.id.hasPrefix("aB5"))
    let rows = try await org.org.query(
      "SELECT Id, IsDeleted, SystemModstamp, Size__c FROM Crate__c")
    #expect(rows.first?["SystemModstamp"]?.string == "2026-05-15T12:00:00.000+0000")
    for text in [
      #"{"name":"X","fields":[{"name":"a","type":"odd"}]}"#, #"{"name":"X","fields":[{}]}"#,
    ] {
      let bad = try folder(["x.json": text])
      let error = await #expect(throws: MockOrgError.self) {
        try await org.org.load(describesIn: bad.url)
      }
      #expect(error?.code == .invalidSchema)
    }
  }

  @Test func `an object that only a name is known of can be generated, a standard one cannot`()
    async throws
  {
    let org = try OrgUnderTest()
    try await org.org.generate("Widget__c", count: 5)
    #expect(try await org.org.count("Widget__c") == 5)
    await #expect(throws: MockOrgError.self) { try await org.org.generate("Widget", count: 5) }
  }

  @Test func `an org in a file is there again after it was closed`() async throws {
    let folder = try folder(["plan.json": plan, "depots.json": depots, "vans.json": vans])
    var options = MockOrgOptions()
    options.database = folder.file("org.sqlite")
    let id: String
    do {
      let org = try MockOrg(options)
      try await org.load(plan: folder.file("plan.json"))
      id = try await org.create("Van__c", ["Name": "three"])
    }
    let again = try MockOrg(options)
    let rows = try await again.query("SELECT Name, Depot__r.Name FROM Van__c ORDER BY Name")
    #expect(rows.compactMap { $0["Name"]?.string } == ["one", "three", "two"])
    #expect(rows[0]["Depot__r"]?["Name"]?.string == "North")
    #expect(try await again.create("Van__c", ["Name": "four"]) != id)
  }

  @Test func `a file that an older version wrote gets the columns and records added since`()
    async throws
  {
    let folder = try folder([
      "Account.json":
        #"{"name":"Account","label":"Account","keyPrefix":"001","fields":[{"name":"Id","type":"id"},"#
        + #"{"name":"Name","type":"string","length":255},{"name":"Old__c","type":"string"}]}"#
    ])
    var options = MockOrgOptions()
    options.database = folder.file("org.sqlite")
    let id: String
    do {
      let org = try MockOrg(options)
      try await org.load(describesIn: folder.file("Account.json").deletingLastPathComponent())
      id = try await org.create("Account", ["Name": "kept", "Old__c": "o"])
      try await org.database.write { database in
        try database.execute(
          sql: """
            ALTER TABLE "Organization" DROP COLUMN "InstanceName";
            ALTER TABLE "Organization" DROP COLUMN "IsSandbox";
            ALTER TABLE "Contact" DROP COLUMN "Department";
            DROP TABLE "BusinessHours"; DROP TABLE "CronTrigger"; DROP TABLE "ApexEmailNotification";
            """)
        let kept = try #require(
          try String.fetchOne(
            database, sql: "SELECT description FROM \"mock org objects\" WHERE name = 'Account'"))
        #expect(kept.contains(#""name":"Old__c""#))
        // As it was kept before the object had the field.
        let older = kept.replacing(/\{[^{}]*"name":"Sic"[^{}]*\},?/, with: "")
        try database.execute(
          sql: "UPDATE \"mock org objects\" SET description = ? WHERE name = 'Account'",
          arguments: [older])
      }
    }
    for _ in 0..<2 {
      let again = try MockOrg(options)
      for name in again.objectNames {
        _ = try await again.query("SELECT FIELDS(ALL) FROM \(name) LIMIT 200")
      }
      let own = try await again.query("SELECT InstanceName, IsSandbox FROM Organization")
      #expect(own.count == 1 && own[0]["InstanceName"]?.string == "MOCK1")
      #expect(own[0]["IsSandbox"]?.bool == false)
      #expect(try await again.count("BusinessHours") == 1)
      let rows = try await again.query("SELECT Id, Name, Old__c FROM Account")
      #expect(rows.map { $0["Id"]?.string } == [id] && rows[0]["Old__c"]?.string == "o")
      _ = try await again.create("Contact", ["LastName": "x", "Department": "d"])
    }
  }
}
