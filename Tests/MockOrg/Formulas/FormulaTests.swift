import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceMockOrg

/// Fields that the org fills by itself.
@Suite struct FormulaTests {
  private func org(_ fields: String) async throws -> OrgUnderTest {
    let org = try OrgUnderTest()
    let folder = try TemporaryFolder()
    let describe = #"""
      {"name":"Job__c","keyPrefix":"a0J","fields":[
      {"name":"Name","type":"string","length":80,"nameField":true,"nillable":false,"createable":false,"autoNumber":true,"displayFormat":"J-{YYYY}-{0000}"},
      {"name":"Hours__c","type":"double","precision":10,"scale":2},
      {"name":"Rate__c","type":"currency","precision":10,"scale":2},
      {"name":"Discount__c","type":"percent","precision":5,"scale":2},
      {"name":"Start__c","type":"date"},
      {"name":"Kind__c","type":"picklist","length":40,"picklistValues":["Repair","Check"]},
      {"name":"Note__c","type":"string","length":80},
      {"name":"Urgent__c","type":"boolean"},
      \#(fields)]}
      """#
    try Data(describe.utf8).write(to: folder.file("job.json"))
    try await org.org.load(describesIn: folder.url)
    return org
  }

  private func formula(_ text: String, type: String, _ more: String = "") -> String {
    let json = JSONValue.string(text).text
    return
      #"{"name":"F__c","type":"\#(type)","calculated":true,"createable":false,"updateable":false,"calculatedFormula":\#(json)\#(more)}"#
  }

  @Test(arguments: [
    ("Hours__c * Rate__c * (1 - Discount__c)", "currency", "75.0"),
    ("IF(Urgent__c, 'now', \"later\")", "string", "\"later\""),
    ("CASE(Kind__c, 'Repair', 1, 'Check', 2, 0)", "double", "2.0"),
    ("Note__c & ' / ' & TEXT(Hours__c)", "string", "\"tidy / 2\""),
    ("Start__c + 30", "date", "\"2026-03-02\""),
    ("AND(ISPICKVAL(Kind__c, 'Check'), NOT(ISBLANK(Note__c)), Hours__c >= 2)", "boolean", "true"),
    ("ROUND(10 / 3, 2) + MAX(1, 2) - FLOOR(-1.5)", "double", "6.33"),
    ("UPPER(LEFT(Note__c, 2)) + RIGHT(Note__c, 1)", "string", "\"TIy\""),
    ("YEAR(Start__c) - MONTH(Start__c)", "double", "2025.0"),
    ("1 / 0", "double", "null"),
    ("TODAY() - Start__c", "double", "104.0"),
    ("Owner.Name", "string", "null"),
    ("$Organization.Name", "string", "\"Fieldforce Mock Org\""),
    ("CEILING(-1.2) * 100 + MCEILING(-1.2) * 10 + MFLOOR(-1.2)", "double", "-212.0"),
    ("2 ^ 3 + SQRT(16) + MOD(-7, 3) + TRUNC(2.78, 1)", "double", "16.7"),
    (
      "LPAD(Note__c, 6, '.') & RPAD('a', 3) & INITCAP('two words') & REVERSE('ab')", "string",
      "\"..tidya  Two Wordsba\""
    ),
    (
      "TEXT(ADDMONTHS(Start__c, 1)) & TEXT(WEEKDAY(Start__c)) & TEXT(DATE(2026, 2, 30))", "string",
      "\"2026-02-287\""
    ),
    ("NOW() - DATETIMEVALUE('2026-05-15 06:00:00')", "double", "0.25"),
    ("HOUR(TIMEVALUE(NOW())) * 100 + MINUTE(TIMENOW())", "double", "1200.0"),
    ("IF(REGEX(Note__c, '[a-z]+'), FIND('d', Note__c), 0)", "double", "3.0"),
    ("CASE(WEEKDAY(TODAY()), 6, 'Friday', 'other')", "string", "\"Friday\""),
    ("Discount__c", "percent", "25.0"),
    ("VALUE('12.5') + LEN(CASESAFEID('001000000000001'))", "double", "30.5"),
    (
      "HTMLENCODE('<a>') & IMAGE('/x.png', 'x')", "string",
      #""&lt;a&gt;<img src=\"/x.png\" alt=\"x\"/>""#
    ),
    ("((", "string", "null"),
  ])
  func `a formula is worked out from the record`(text: String, type: String, expected: String)
    async throws
  {
    let org = try await org(formula(text, type: type))
    let made = await org.send(
      "POST", "/sobjects/Job__c",
      #"{"Hours__c":2,"Rate__c":50,"Discount__c":25,"Start__c":"2026-01-31","Kind__c":"Check","Note__c":"tidy"}"#
    )
    #expect(made.status == 201, "\(made.text)")
    let read = await org.send("GET", "/sobjects/Job__c/\(made.id)?fields=F__c")
    #expect(read.json?["F__c"]?.description == expected)
  }

  @Test func `a formula follows its fields and cannot be written`() async throws {
    let org = try await org(formula("Hours__c * 2", type: "double"))
    let id = try await org.made("Job__c", ["Hours__c": 1])
    try await org.org.update("Job__c", id: id, ["Hours__c": 4])
    let rows = try await org.org.query("SELECT F__c FROM Job__c WHERE F__c = 8")
    #expect(rows.count == 1)
    let written = await org.send("PATCH", "/sobjects/Job__c/\(id)", #"{"F__c":1}"#)
    #expect(written.errorCode == "INVALID_FIELD_FOR_INSERT_UPDATE")
  }

  @Test func `a formula sees parents, their formulas, and a time that moves`() async throws {
    let org = try OrgUnderTest { $0.accessTokenLifetime = .seconds(10_000_000) }
    let folder = try TemporaryFolder()
    func field(_ name: String, _ type: String, _ formula: String) -> String {
      #"{"name":"\#(name)","type":"\#(type)","calculated":true,"calculatedFormula":\#(JSONValue.string(formula).text)}"#
    }
    let site = #"""
      {"name":"Site__c","keyPrefix":"a0S","fields":[
      {"name":"Name","type":"string","length":80,"nameField":true},
      {"name":"OwnerId","type":"reference","referenceTo":["Group","User"],"relationshipName":"Owner"},
      {"name":"Account__c","type":"reference","referenceTo":["Account"],"relationshipName":"Account__r"},
      {"name":"Opened__c","type":"date"},
      \#(field("Age__c", "double", "TODAY() - Opened__c")),
      \#(field("Label__c", "string", "Account__r.Name & ' / ' & Name"))]}
      """#
    let visit = #"""
      {"name":"Visit2__c","keyPrefix":"a0V","fields":[
      {"name":"Name","type":"string","length":80,"nameField":true},
      {"name":"Site__c","type":"reference","referenceTo":["Site__c"],"relationshipName":"Site__r"},
      \#(field("City__c", "string", "Site__r.Account__r.BillingCity")),
      \#(field("Where__c", "string", "UPPER(Site__r.Label__c)")),
      \#(field("IsOld__c", "boolean", "Site__r.Age__c > 10")),
      \#(field("Boss__c", "string", "Site__r.Owner:User.Email")),
      \#(field("Staff__c", "double", "Site__r.Account__r.NumberOfEmployees * 2")),
      \#(field("Again__c", "boolean", "NOT(IsOld__c)")),
      \#(field("Loop__c", "string", "Loop__c & 'x'"))]}
      """#
    try Data(site.utf8).write(to: folder.file("a.json"))
    try Data(visit.utf8).write(to: folder.file("b.json"))
    try await org.org.load(describesIn: folder.url)
    let account = try await org.made(
      "Account", ["Name": "Acme", "BillingCity": "Oslo", "NumberOfEmployees": 4])
    let place = try await org.made(
      "Site__c", ["Name": "Quay", "Account__c": .string(account), "Opened__c": "2026-05-10"])
    let id = try await org.made("Visit2__c", ["Site__c": .string(place)])
    try await org.made("Visit2__c", [:])
    let path = "/sobjects/Visit2__c/\(id)"
    var record = await org.send("GET", path)
    #expect(record.json?["City__c"]?.string == "Oslo")
    #expect(record.json?["Where__c"]?.string == "ACME / QUAY")
    #expect(record.json?["IsOld__c"]?.bool == false)
    #expect(record.json?["Again__c"]?.bool == true)
    #expect(record.json?["Boss__c"]?.string == "admin@fieldforce.example")
    #expect(record.json?["Staff__c"]?.double == 8)
    org.clock.advance(by: .seconds(6 * 86_400))
    record = await org.send("GET", "\(path)?fields=IsOld__c,Site__r.Age__c,Site__r.Label__c")
    #expect(record.json?["IsOld__c"]?.bool == true)
    #expect(record.json?["Site__r"]?["Age__c"]?.double == 11)
    #expect(record.json?["Site__r"]?["Label__c"]?.string == "Acme / Quay")
    let rows = try await org.org.query(
      "SELECT Id FROM Visit2__c WHERE City__c = 'oslo' AND Site__r.Age__c = 11 ORDER BY Where__c")
    #expect(rows.count == 1)
    let groups = try await org.org.query(
      "SELECT City__c, COUNT(Id) n FROM Visit2__c GROUP BY City__c ORDER BY City__c NULLS LAST")
    #expect(groups.map { $0["City__c"]?.string } == ["Oslo", nil])
    // A parent that changes changes what is seen through it.
    try await org.org.update("Account", id: account, ["BillingCity": "Bergen"])
    let moved = try await org.org.query("SELECT City__c FROM Visit2__c WHERE City__c != null")
    #expect(moved.map { $0["City__c"]?.string } == ["Bergen"])
  }

  @Test func `auto numbers follow their format`() async throws {
    let org = try await org(formula("1", type: "double"))
    try await org.made("Job__c", [:])
    try await org.made("Job__c", [:])
    let rows = try await org.org.query("SELECT Name FROM Job__c ORDER BY Name")
    #expect(rows.compactMap { $0["Name"]?.string } == ["J-2026-0001", "J-2026-0002"])
    let described = await org.send("GET", "/sobjects/Job__c/describe")
    let name = described.json?["fields"]?.elements.first { $0["name"]?.string == "Name" }
    #expect(name?["autoNumber"]?.bool == true)
    let number = try await org.made("Case", ["Subject": "x"])
    let supportCase = await org.send("GET", "/sobjects/Case/\(number)")
    #expect(supportCase.json?["CaseNumber"]?.string == "00001001")
  }
}
