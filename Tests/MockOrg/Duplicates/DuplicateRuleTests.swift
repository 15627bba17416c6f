import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// What does a client see of duplicate rules?
@Suite struct DuplicateRuleTests {
  private let allow = ["sforce-duplicate-rule-header": "allowSave=true"]

  private func org(_ action: MockOrgDuplicateRule.Action = .alert) async throws -> OrgUnderTest {
    let org = try OrgUnderTest()
    try org.org.add(
      MockOrgDuplicateRule(object: "Contact", fields: ["Email", "LastName"], action: action))
    try await org.made("Contact", ["LastName": "Lee", "Email": "lee@a.example"])
    return org
  }

  private let same = #"{"LastName":"LEE","Email":"Lee@A.example"}"#

  @Test func `a duplicate is refused with the records that are there`() async throws {
    let org = try await org()
    let refused = await org.send("POST", "/sobjects/Contact", same)
    #expect(refused.status == 400)
    #expect(refused.errorCode == "DUPLICATES_DETECTED")
    #expect(refused.message == "Use one of these records?")
    // The platform misspells the member; the other is for who reads the right one.
    for name in ["duplicateResut", "duplicateResult"] {
      let result = refused.json?[0]?[name]
      #expect(result?["allowSave"]?.bool == true)
      #expect(result?["duplicateRule"]?.string == "Contact_Duplicate_Rule")
      let match = result?["matchResults"]?[0]
      #expect(match?["size"]?.int64 == 1)
      let record = match?["matchRecords"]?[0]?["record"]
      #expect(record?["attributes"]?["type"]?.string == "Contact")
      #expect(record?["Id"]?.string?.hasPrefix("003") == true)
      #expect(record?["LastName"] == nil)
    }
    let detailed = await org.send(
      "POST", "/sobjects/Contact", same,
      headers: ["sforce-duplicate-rule-header": "allowSave=false; includeRecordDetails=true"])
    let record = detailed.json?[0]?["duplicateResult"]?["matchResults"]?[0]?["matchRecords"]?[0]?[
      "record"]
    #expect(record?["LastName"]?.string == "Lee")
    #expect(try await org.org.count("Contact") == 1)
  }

  @Test func `a client that wants the duplicate gets it, unless the rule blocks`() async throws {
    let open = try await org()
    #expect(await open.send("POST", "/sobjects/Contact", same, headers: allow).status == 201)
    let closed = try await org(.block)
    let refused = await closed.send("POST", "/sobjects/Contact", same, headers: allow)
    #expect(refused.errorCode == "DUPLICATES_DETECTED")
    #expect(refused.json?[0]?["duplicateResult"]?["allowSave"]?.bool == false)
  }

  @Test func `changes are checked where they touch the rule's fields`() async throws {
    let org = try await org()
    let id = try await org.made("Contact", ["LastName": "Lee", "Email": "other@a.example"])
    let path = "/sobjects/Contact/\(id)"
    #expect(await org.send("PATCH", path, #"{"Phone":"1"}"#).status == 204)
    let changed = await org.send("PATCH", path, #"{"Email":"lee@a.example"}"#)
    #expect(changed.errorCode == "DUPLICATES_DETECTED")
    #expect(
      await org.send("PATCH", path, #"{"Email":"lee@a.example"}"#, headers: allow).status == 204)
    // A record is no duplicate of itself, and one without a value of none.
    org.org.removeAllDuplicateRules()
    try org.org.add(MockOrgDuplicateRule(object: "Contact", fields: ["Phone"]))
    #expect(await org.send("PATCH", path, #"{"Phone":"1"}"#).status == 204)
    #expect(await org.send("POST", "/sobjects/Contact", #"{"LastName":"x"}"#).status == 201)
  }

  @Test func `collections, composite and bulk respond for each record`() async throws {
    let org = try await org()
    let record =
      #"{"attributes":{"type":"Contact"},"LastName":"Lee","Email":"lee@a.example"}"#
    let other = #"{"attributes":{"type":"Contact"},"LastName":"Kay"}"#
    let results = await org.send(
      "POST", "/composite/sobjects", #"{"records":[\#(record),\#(other)]}"#)
    #expect(
      results.json?[0]?["errors"]?[0]?["statusCode"]?.string == "DUPLICATES_DETECTED")
    #expect(results.json?[1]?["success"]?.bool == true)
    func composite(_ headers: String) async -> OrgUnderTest.Reply {
      await org.send(
        "POST", "/composite",
        #"{"compositeRequest":[{"method":"POST","referenceId":"a","url":"/services/data/v66.0/sobjects/Contact","body":\#(same)\#(headers)}]}"#
      )
    }
    let refused = await composite("")
    #expect(
      refused.json?["compositeResponse"]?[0]?["body"]?[0]?["errorCode"]?.string
        == "DUPLICATES_DETECTED")
    let saved = await composite(
      #","httpHeaders":{"Sforce-Duplicate-Rule-Header":"allowSave=true"}"#)
    #expect(saved.json?["compositeResponse"]?[0]?["httpStatusCode"]?.int64 == 201)
  }

  @Test func `assignment headers are accepted`() async throws {
    let org = try await org()
    let made = await org.send(
      "POST", "/sobjects/Case", #"{"Subject":"x"}"#, headers: ["sforce-auto-assign": "FALSE"])
    #expect(made.status == 201)
  }

  @Test(arguments: [("Nothing__c", "Name"), ("Contact", "Nothing__c"), ("Contact", "IsDeleted ")])
  func `a rule about what is not there is refused`(object: String, field: String) throws {
    let org = try OrgUnderTest().org
    #expect(throws: MockOrgError.self) {
      try org.add(MockOrgDuplicateRule(object: object, fields: [field]))
    }
    #expect(throws: MockOrgError.self) {
      try org.add(MockOrgDuplicateRule(object: "Contact", fields: []))
    }
  }
}
