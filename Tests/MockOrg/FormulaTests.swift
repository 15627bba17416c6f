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
    ("ROUND(10 / 3, 2) + MAX(1, 2) - FLOOR(-1.5)", "double", "7.33"),
    ("UPPER(LEFT(Note__c, 2)) + RIGHT(Note__c, 1)", "string", "\"TIy\""),
    ("YEAR(Start__c) - MONTH(Start__c)", "double", "2025.0"),
    ("1 / 0", "double", "null"),
    ("TODAY() - Start__c", "double", "null"),
    ("Owner.Name", "string", "null"),
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
