import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct CollectionsTests {
  private func account(_ fields: String) -> String {
    #"{"attributes":{"type":"Account"}\#(fields.isEmpty ? "" : ","+fields)}"#
  }

  @Test func `each record of a create has its own outcome, in order`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite/sobjects",
      #"{"records":[\#(account(#""Name":"a""#)),\#(account("")),{"attributes":{"type":"Nope"}},{"Name":"x"}]}"#
    )
    #expect(reply.status == 200)
    #expect(reply.json?[0]?["success"]?.bool == true)
    #expect(reply.json?[0]?["id"]?.string?.utf8.count == 18)
    #expect(reply.json?[1]?["success"]?.bool == false)
    #expect(reply.json?[1]?["id"] == nil)
    #expect(reply.json?[1]?["errors"]?[0]?["statusCode"]?.string == "REQUIRED_FIELD_MISSING")
    #expect(reply.json?[1]?["errors"]?[0]?["fields"]?[0]?.string == "Name")
    #expect(reply.json?[2]?["errors"]?[0]?["statusCode"]?.string == "INVALID_TYPE")
    #expect(reply.json?[3]?["success"]?.bool == false)
    #expect(try await org.org.count("Account") == 1)
  }

  @Test func `with allOrNone one failure undoes all`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/composite/sobjects",
      #"{"allOrNone":true,"records":[\#(account(#""Name":"a""#)),\#(account(""))]}"#)
    #expect(
      reply.json?[0]?["errors"]?[0]?["statusCode"]?.string == "ALL_OR_NONE_OPERATION_ROLLED_BACK")
    #expect(reply.json?[1]?["errors"]?[0]?["statusCode"]?.string == "REQUIRED_FIELD_MISSING")
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `an update tells what is gone, what is malformed and what came twice`() async throws {
    let org = try OrgUnderTest()
    let good = try await org.made("Account", ["Name": "a"])
    let gone = try await org.made("Account", ["Name": "b"])
    let twice = try await org.made("Account", ["Name": "c"])
    try await org.org.delete("Account", id: gone)
    func record(_ id: String) -> String { account(#""id":"\#(id)","Name":"new""#) }
    let body = [
      good, gone, "001000000000000AAA", "nope", twice, twice,
    ].map(record).joined(separator: ",")
    let reply = await org.send("PATCH", "/composite/sobjects", #"{"records":[\#(body)]}"#)
    let codes = reply.json?.elements.map { $0["errors"]?[0]?["statusCode"]?.string ?? "" }
    #expect(
      codes == [
        "", "ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY", "MALFORMED_ID", "DUPLICATE_VALUE",
        "DUPLICATE_VALUE",
      ])
    #expect(reply.json?[0]?["id"]?.string == good)
    let names = try await org.org.query("SELECT Name FROM Account ORDER BY Id").map {
      $0["Name"]?.string
    }
    #expect(names == ["new", "c"])
  }

  @Test func `an upsert by id creates records without one`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "a"])
    let reply = await org.send(
      "PATCH", "/composite/sobjects/Account/Id",
      #"{"records":[\#(account(#""Id":"\#(id)","Name":"b""#)),\#(account(#""Name":"n""#))]}"#)
    #expect(reply.json?[0]?["created"]?.bool == false)
    #expect(reply.json?[1]?["created"]?.bool == true)
    #expect(try await org.org.count("Account") == 2)
  }

  @Test func `an upsert by external id changes one and creates the other`() async throws {
    let org = try OrgUnderTest()
    _ = try await org.made("Contact", ["LastName": "a", "Email": "a@example.com"])
    let reply = await org.send(
      "PATCH", "/composite/sobjects/Contact/Email",
      #"""
      {"records":[{"attributes":{"type":"Contact"},"Email":"a@example.com","LastName":"b"},
      {"attributes":{"type":"Contact"},"Email":"c@example.com","LastName":"d"},
      {"attributes":{"type":"Contact"},"LastName":"e"}]}
      """#)
    #expect(reply.json?[0]?["created"]?.bool == false)
    #expect(reply.json?[1]?["created"]?.bool == true)
    #expect(reply.json?[2]?["errors"]?[0]?["statusCode"]?.string == "MISSING_ARGUMENT")
    let emails = try await org.org.query("SELECT Email, LastName FROM Contact ORDER BY Email")
    #expect(emails.compactMap { $0["LastName"]?.string } == ["b", "d"])
  }

  @Test func `a delete takes ids of several objects`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "a"])
    let contact = try await org.made("Contact", ["LastName": "c"])
    let reply = await org.send(
      "DELETE", "/composite/sobjects?ids=\(account),\(contact),003000000000000AAA")
    #expect(reply.json?[0]?["success"]?.bool == true)
    #expect(reply.json?[1]?["success"]?.bool == true)
    #expect(
      reply.json?[2]?["errors"]?[0]?["statusCode"]?.string == "INVALID_CROSS_REFERENCE_KEY")
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `a retrieve gives null for what is not there`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "a"])
    let body = #"{"ids":["001000000000000AAA","\#(id)"],"fields":["Name"]}"#
    let reply = await org.send("POST", "/composite/sobjects/Account", body)
    #expect(reply.json?[0]?.isNull == true)
    #expect(reply.json?[1]?["Name"]?.string == "a")
    #expect(reply.json?[1]?["Id"]?.string == id)
    let same = await org.send("GET", "/composite/sobjects/Account?ids=\(id)&fields=Name")
    #expect(same.json?[0]?["Name"]?.string == "a")
  }

  @Test func `more than 200 records are refused as a whole`() async throws {
    let org = try OrgUnderTest()
    let records = repeatElement(account(#""Name":"a""#), count: 201).joined(separator: ",")
    let reply = await org.send("POST", "/composite/sobjects", #"{"records":[\#(records)]}"#)
    #expect(reply.status == 400)
    #expect(reply.errorCode == "EXCEEDED_ID_LIMIT")
    #expect(
      reply.message == "record limit reached. cannot submit more than 200 records into this call")
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `the type of record changes at most nine times in a call`() async throws {
    let org = try OrgUnderTest()
    func send(_ count: Int) async -> OrgUnderTest.Reply {
      let records = (0..<count).map {
        $0.isMultiple(of: 2)
          ? account(#""Name":"a""#) : #"{"attributes":{"type":"Contact"},"LastName":"c"}"#
      }
      return await org.send(
        "POST", "/composite/sobjects", #"{"records":[\#(records.joined(separator: ","))]}"#)
    }
    let eleven = await send(11)
    #expect(eleven.errorCode == "LIMIT_EXCEEDED")
    #expect(
      eleven.message
        == "Cannot have more than 10 chunks in a single operation. Please rearrange the data to reduce "
        + "chunking.")
    #expect(try await org.org.count("Account") == 0)
    #expect(await send(10).status == 200)
    #expect(try await org.org.count("Account") == 5)
  }
}
