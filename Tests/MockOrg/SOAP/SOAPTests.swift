import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// The SOAP calls for records, as clients of the partner and of the enterprise form send them.
@Suite struct SOAPTests {
  private func call(
    _ org: OrgUnderTest, _ body: String, form: String = "u", header: String = "",
    session: String? = nil
  ) async throws -> (status: Int, body: XMLElement, text: String) {
    let reply = await org.raw(
      "POST", "/services/Soap/\(form)/65.0",
      """
      <?xml version="1.0" encoding="UTF-8"?><e:Envelope \
      xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><e:Header><SessionHeader>\
      <sessionId>\(session ?? org.token)</sessionId></SessionHeader>\(header)</e:Header>\
      <e:Body>\(body)</e:Body></e:Envelope>
      """, headers: ["content-type": "text/xml; charset=UTF-8", "soapaction": "\"\""])
    let root = try #require(XMLElement(parsing: Array(reply.text.utf8)), "\(reply.text)")
    return (reply.status, try #require(root["Body"]?.children.first), reply.text)
  }

  @Test func `records are created, changed, read and deleted in the partner form`() async throws {
    let org = try OrgUnderTest()
    let made = try await call(
      org,
      """
      <create><sObjects><type>Account</type><Name>A &amp; B</Name>\
      <NumberOfEmployees>7</NumberOfEmployees></sObjects>\
      <sObjects><type>Account</type><Phone>1</Phone></sObjects></create>
      """)
    #expect(made.status == 200 && made.body.name == "createResponse", "\(made.text)")
    let results = made.body.all("result")
    #expect(results.map { $0["success"]?.text } == ["true", "false"])
    #expect(results.last?["errors"]?["statusCode"]?.text == "REQUIRED_FIELD_MISSING")
    #expect(results.last?["errors"]?["fields"]?.text == "Name")
    #expect(results.last?["id"]?.attributes["nil"] == "true")
    let id = try #require(results.first?["id"]?.text)
    let changed = try await call(
      org,
      """
      <update><sObjects><type>Account</type><fieldsToNull>NumberOfEmployees</fieldsToNull>\
      <Id>\(id)</Id><Phone>2</Phone></sObjects></update>
      """)
    #expect(changed.body["result"]?["success"]?.text == "true", "\(changed.text)")
    let read = try await call(
      org,
      """
      <retrieve><fieldList>Id, Name,Phone,NumberOfEmployees</fieldList>\
      <sObjectType>Account</sObjectType><ids>\(id)</ids><ids>001000000000009AAA</ids></retrieve>
      """)
    let record = try #require(read.body.all("result").first)
    #expect(record["type"]?.text == "Account" && record["Name"]?.text == "A & B")
    #expect(record["Phone"]?.text == "2")
    #expect(record["NumberOfEmployees"]?.attributes["nil"] == "true")
    #expect(read.body.all("result").last?.attributes["nil"] == "true")
    let gone = try await call(org, "<delete><ids>\(id)</ids></delete>")
    #expect(gone.body["result"]?["success"]?.text == "true", "\(gone.text)")
    let twice = try await call(org, "<delete><ids>\(id)</ids></delete>")
    #expect(twice.body["result"]?["errors"]?["statusCode"]?.text == "ENTITY_IS_DELETED")
  }

  @Test func `an enterprise client names types in attributes`() async throws {
    let org = try OrgUnderTest()
    let made = try await call(
      org, #"<create><sObjects xsi:type="sf:Contact"><LastName>x</LastName></sObjects></create>"#,
      form: "c")
    let id = try #require(made.body["result"]?["id"]?.text, "\(made.text)")
    let found = try await call(
      org, "<query><queryString>SELECT LastName, Owner.Name FROM Contact</queryString></query>",
      form: "c")
    let record = try #require(found.body["result"]?["records"], "\(found.text)")
    #expect(record.attributes["type"] == "sf:Contact")
    #expect(record["Owner"]?["Name"]?.text == "Ada Admin")
    #expect(found.text.contains("urn:enterprise.soap.sforce.com"))
    let gone = try await call(org, "<delete><ID>\(id)</ID></delete>", form: "c")
    #expect(gone.body["result"]?["success"]?.text == "true", "\(gone.text)")
  }

  @Test func `an upsert creates or updates by a key, and a parent is named by its own`()
    async throws
  {
    let org = try OrgUnderTest()
    func upsert(_ username: String, _ title: String) async throws -> XMLElement? {
      try await call(
        org,
        """
        <upsert><externalIDFieldName>Username</externalIDFieldName><sObjects><type>User</type>\
        <Username>\(username)</Username><Title>\(title)</Title></sObjects></upsert>
        """
      ).body["result"]
    }
    let known = try await upsert(org.org.options.user.username, "Chief")
    #expect(known?["created"]?.text == "false" && known?["id"]?.text == org.org.userID)
    let made = try await call(
      org,
      """
      <upsert><externalIDFieldName>Id</externalIDFieldName><sObjects><type>Account</type>\
      <Name>u</Name><Owner><type>User</type><Username>\(org.org.options.user.username)</Username>\
      </Owner></sObjects></upsert>
      """)
    #expect(made.body["result"]?["created"]?.text == "true", "\(made.text)")
  }

  @Test func `pages of a query follow each other, children stand inside`() async throws {
    let org = try OrgUnderTest()
    for index in 0..<250 { try await org.made("Account", ["Name": .string("n\(index)")]) }
    let account = try await org.made("Account", ["Name": "parent"])
    try await org.made("Contact", ["LastName": "child", "AccountId": .string(account)])
    let first = try await call(
      org, "<query><queryString>SELECT Id FROM Account</queryString></query>",
      header: "<QueryOptions><batchSize>200</batchSize></QueryOptions>")
    let result = try #require(first.body["result"])
    #expect(result["done"]?.text == "false" && result["size"]?.text == "251")
    #expect(result.all("records").count == 200)
    let locator = try #require(result["queryLocator"]?.text)
    let next = try await call(org, "<queryMore><queryLocator>\(locator)</queryLocator></queryMore>")
    #expect(next.body["result"]?["done"]?.text == "true", "\(next.text)")
    #expect(next.body["result"]?.all("records").count == 51)
    let tree = try await call(
      org,
      """
      <query><queryString>SELECT Name, CreatedDate, (SELECT LastName FROM Contacts) FROM Account \
      WHERE Name = 'parent'</queryString></query>
      """)
    let record = try #require(tree.body["result"]?["records"])
    #expect(record["Contacts"]?["records"]?["LastName"]?.text == "child", "\(tree.text)")
    #expect(record["CreatedDate"]?.text == "2026-05-15T12:00:00.000Z")
  }

  @Test func `all or none undoes the others`() async throws {
    let org = try OrgUnderTest()
    let made = try await call(
      org,
      """
      <create><sObjects><type>Account</type><Name>a</Name></sObjects>\
      <sObjects><type>Account</type></sObjects></create>
      """, header: "<AllOrNoneHeader><allOrNone>true</allOrNone></AllOrNoneHeader>")
    #expect(made.body.all("result").allSatisfy { $0["success"]?.text == "false" }, "\(made.text)")
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `descriptions and searches work too`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "Harbor"])
    let all = try await call(org, "<describeGlobal/>")
    #expect(all.body["result"]?.all("sobjects").contains { $0["name"]?.text == "Account" } == true)
    let some = try await call(
      org,
      "<describeSObjects><sObjectType>Account</sObjectType><sObjectType>Contact</sObjectType></describeSObjects>"
    )
    #expect(some.body.all("result").map { $0["name"]?.text } == ["Account", "Contact"])
    let found = try await call(
      org,
      "<search><searchString>FIND {Harbor} RETURNING Account(Name)</searchString></search>")
    #expect(
      found.body["result"]?["searchRecords"]?["record"]?["Name"]?.text == "Harbor", "\(found.text)")
  }

  @Test(arguments: [
    ("<query><queryString>SELECT Nope FROM Account</queryString></query>", "INVALID_FIELD"),
    ("<query><queryString>SELECT</queryString></query>", "MALFORMED_QUERY"),
    ("<query><queryString>SELECT Id FROM Nope</queryString></query>", "INVALID_TYPE"),
    ("<queryMore><queryLocator>01g</queryLocator></queryMore>", "INVALID_QUERY_LOCATOR"),
    ("<merge/>", "UNKNOWN_EXCEPTION"),
  ])
  func `a call that fails is a fault with the platform's code`(
    body: String, code: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = try await call(org, body)
    #expect(reply.status == 500)
    #expect(reply.body.first("exceptionCode")?.text == code, "\(reply.text)")
    let other = try await call(org, body, session: "none")
    #expect(other.body.first("exceptionCode")?.text == "INVALID_SESSION_ID")
  }
}
