import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceMockOrg

@Suite struct UpsertTests {
  /// An org with an object that has a unique external id.
  private func org() async throws -> OrgUnderTest {
    let org = try OrgUnderTest()
    let folder = try TemporaryFolder()
    try Data(
      #"""
      {"name":"Machine__c","label":"Machine","keyPrefix":"a0M","fields":[
      {"name":"Id","type":"id","nillable":false,"createable":false,"updateable":false,"defaultedOnCreate":true},
      {"name":"Name","type":"string","length":80,"nameField":true,"defaultedOnCreate":true},
      {"name":"Serial__c","type":"string","length":20,"externalId":true,"unique":true,"idLookup":true},
      {"name":"Batch__c","type":"string","length":20,"externalId":true,"idLookup":true},
      {"name":"Account__c","type":"reference","referenceTo":["Account"],"relationshipName":"Account__r"},
      {"name":"IsDeleted","type":"boolean","createable":false,"updateable":false},
      {"name":"SystemModstamp","type":"datetime","createable":false,"updateable":false}]}
      """#.utf8
    ).write(to: folder.file("Machine__c.json"))
    try await org.org.load(describesIn: folder.url)
    return org
  }

  @Test func `an upsert creates what is not there and changes what is`() async throws {
    let org = try await org()
    let path = "/sobjects/Machine__c/Serial__c/A%2F1"
    let created = await org.send("PATCH", path, #"{"Name":"one"}"#)
    #expect(created.status == 201)
    #expect(created.json?["created"]?.bool == true)
    let updated = await org.send("PATCH", path, #"{"Name":"two"}"#)
    #expect(updated.status == 200)
    #expect(updated.json?["created"]?.bool == false)
    #expect(updated.id == created.id)
    let read = await org.send("GET", path)
    #expect(read.json?["Name"]?.string == "two")
    #expect(read.json?["Serial__c"]?.string == "A/1")
    #expect(await org.send("DELETE", path).status == 204)
    #expect(await org.send("GET", path).status == 404)
  }

  @Test func `an upsert refuses its own key in the body and a key that is none`() async throws {
    let org = try await org()
    let inBody = await org.send(
      "PATCH", "/sobjects/Machine__c/Serial__c/A", #"{"serial__c":"A"}"#)
    #expect(inBody.errorCode == "INVALID_FIELD")
    #expect(
      inBody.message == "The Serial__c field should not be specified in the sobject data.")
    let noKey = await org.send("PATCH", "/sobjects/Account/Phone/1", #"{"Name":"x"}"#)
    #expect(noKey.status == 404)
    #expect(
      noKey.message == "Provided external ID field does not exist or is not accessible: Phone")
  }

  @Test func `a key that several records have returns the list of them`() async throws {
    let org = try await org()
    let one = try await org.made("Machine__c", ["Batch__c": "B"])
    let two = try await org.made("Machine__c", ["Batch__c": "b"])
    let reply = await org.send("PATCH", "/sobjects/Machine__c/Batch__c/B", #"{"Name":"x"}"#)
    #expect(reply.status == 300)
    #expect(
      reply.json?.elements.compactMap(\.string)
        == [one, two].map { "/services/data/v66.0/sobjects/Machine__c/\($0)" })
  }

  @Test func `a unique value is not given twice`() async throws {
    let org = try await org()
    let first = try await org.made("Machine__c", ["Serial__c": "S1"])
    let reply = await org.send("POST", "/sobjects/Machine__c", #"{"Serial__c":"s1"}"#)
    #expect(reply.errorCode == "DUPLICATE_VALUE")
    #expect(
      reply.message
        == "duplicate value found: Serial__c duplicates value on record with id: \(first.prefix(15))"
    )
    let second = try await org.made("Machine__c", ["Serial__c": "S2"])
    let update = await org.send(
      "PATCH", "/sobjects/Machine__c/\(second)", #"{"Serial__c":"S1"}"#)
    #expect(update.errorCode == "DUPLICATE_VALUE")
  }

  @Test func `a parent can be named by its external id`() async throws {
    let org = try await org()
    let account = try await org.made("Account", ["Name": "x"])
    let made = await org.send(
      "POST", "/sobjects/Machine__c", #"{"Account__r":{"Id":"\#(account)"}}"#)
    #expect(made.status == 201)
    let read = await org.send("GET", "/sobjects/Machine__c/\(made.id)")
    #expect(read.json?["Account__c"]?.string == account)
    // A record without a name is called by its id.
    #expect(read.json?["Name"]?.string == made.id)
    let nobody = await org.send(
      "POST", "/sobjects/Machine__c", #"{"Account__r":{"Id":"001000000000000AAA"}}"#)
    #expect(nobody.errorCode == "INVALID_FIELD")
  }
}
