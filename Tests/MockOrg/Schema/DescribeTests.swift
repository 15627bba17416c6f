import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct DescribeTests {
  @Test func `the versions and resources are listed`() async throws {
    let org = try OrgUnderTest()
    let versions = await org.raw("GET", "/services/data/")
    #expect(versions.json?.count == 36)
    #expect(versions.json?[0]?["version"]?.string == "31.0")
    #expect(versions.json?[35]?["url"]?.string == "/services/data/v66.0")
    #expect(versions.json?[35]?["label"]?.string == "Spring '26")
    #expect(versions.json?[0]?["label"]?.string == "Summer '14")
    let resources = await org.send("GET", "")
    #expect(resources.json?["query"]?.string == "/services/data/v66.0/query")
    #expect(await org.send("GET", "/limits").json?["DailyApiRequests"]?["Max"]?.int64 == 15000)
  }

  @Test func `the global describe names every object once`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/sobjects")
    let names = reply.json?["sobjects"]?.elements.compactMap { $0["name"]?.string } ?? []
    #expect(Set(names).count == names.count)
    for name in ["Account", "Contact", "Opportunity", "User", "Organization", "Task"] {
      #expect(names.contains(name))
    }
    #expect(reply.json?["maxBatchSize"]?.int64 == 200)
  }

  @Test func `a describe has the members that clients ask for`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/sobjects/contact/describe")
    #expect(reply.json?["name"]?.string == "Contact")
    #expect(reply.json?["keyPrefix"]?.string == "003")
    let fields = reply.json?["fields"].map { Array($0.elements) } ?? []
    let account = try #require(fields.first { $0["name"]?.string == "AccountId" })
    #expect(account["type"]?.string == "reference")
    #expect(account["referenceTo"]?[0]?.string == "Account")
    #expect(account["relationshipName"]?.string == "Account")
    let name = try #require(fields.first { $0["name"]?.string == "LastName" })
    #expect(name["nillable"]?.bool == false)
    #expect(name["length"]?.int64 == 80)
    let salutation = try #require(fields.first { $0["name"]?.string == "Salutation" })
    #expect(salutation["picklistValues"]?[0]?["value"]?.string == "Mr.")
    #expect(
      reply.json?["urls"]?["rowTemplate"]?.string
        == "/services/data/v66.0/sobjects/Contact/{ID}")
    let basic = await org.send("GET", "/sobjects/Contact")
    #expect(basic.json?["objectDescribe"]?["label"]?.string == "Contact")
    #expect(basic.json?["recentItems"]?.count == 0)
  }

  @Test func `a describe read back is the same schema`() async throws {
    for object in try StandardSchema.objects() {
      let first = DescribeJSON(versionPath: "").object(object).bytes
      let copy = try ObjectSchema(describe: JSONSlice(parsing: first))
      let again = DescribeJSON(versionPath: "").object(copy).bytes
      #expect(first == again, "\(object.name)")
    }
  }

  @Test func `every reference of a shipped object has a relationship that leads back`() throws {
    let schema = OrgSchema(try StandardSchema.objects())
    for object in schema.objects {
      for child in object.childRelationships {
        let field = schema.object(named: child.childObject)?.field(named: child.field)
        #expect(field?.referenceTo.contains(object.name) == true, "\(object.name) \(child)")
      }
    }
  }

  @Test func `changes and deletions are found in their window`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    let gone = try await org.made("Account", ["Name": "y"])
    try await org.org.delete("Account", id: gone)
    let window = "start=2026-05-15T11:00:00%2B00:00&end=2026-05-15T13:00:00%2B00:00"
    let updated = await org.send("GET", "/sobjects/Account/updated?\(window)")
    #expect(updated.json?["ids"]?.elements.compactMap(\.string) == [id])
    let deleted = await org.send("GET", "/sobjects/Account/deleted?\(window)")
    #expect(deleted.json?["deletedRecords"]?[0]?["id"]?.string == gone)
    #expect(await org.send("GET", "/sobjects/Account/updated").status == 400)
  }
}
