import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct QueryPagingTests {
  @Test func `a result comes in pages that hold every record once`() async throws {
    let org = try OrgUnderTest()
    try await org.org.generate("Account", count: 450)
    let options = ["sforce-query-options": "batchSize=200"]
    var page = await org.query("SELECT Id FROM Account ORDER BY Name", headers: options)
    var ids: [String] = []
    var sizes: [Int] = []
    while true {
      #expect(page.json?["totalSize"]?.int64 == 450)
      let records = page.json?["records"].map { Array($0.elements) } ?? []
      sizes.append(records.count)
      ids += records.compactMap { $0["Id"]?.string }
      guard let next = page.json?["nextRecordsUrl"]?.string else { break }
      #expect(page.json?["done"]?.bool == false)
      #expect(next.hasPrefix("/services/data/v66.0/query/01g"))
      #expect(next.hasSuffix("-\(ids.count)"))
      page = await org.send("GET", String(next.dropFirst("/services/data/v66.0".count)))
    }
    #expect(page.json?["done"]?.bool == true)
    #expect(sizes == [200, 200, 50])
    #expect(Set(ids).count == 450)
  }

  @Test(arguments: [(nil, 2000), ("batchSize=50", 200), ("batchSize=9999", 2000), ("x", 2000)])
  func `the page size stays within 200 and 2000`(header: String?, size: Int) async throws {
    let org = try OrgUnderTest()
    try await org.org.generate("Account", count: 2001)
    let page = await org.query(
      "SELECT Id FROM Account", headers: header.map { ["sforce-query-options": $0] } ?? [:])
    #expect(page.json?["records"]?.count == size)
  }

  @Test func `a later page has the records that the query found, whatever happened since`()
    async throws
  {
    let org = try OrgUnderTest()
    try await org.org.generate("Account", count: 250)
    let first = await org.query(
      "SELECT Id FROM Account", headers: ["sforce-query-options": "batchSize=200"])
    let early = try #require(first.json?["records"]?[0]?["Id"]?.string)
    try await org.org.delete("Account", id: early)
    try await org.made("Account", ["Name": "late"])
    let next = try #require(first.json?["nextRecordsUrl"]?.string)
    let second = await org.send("GET", String(next.dropFirst("/services/data/v66.0".count)))
    #expect(second.json?["records"]?.count == 50)
    #expect(second.json?["totalSize"]?.int64 == 250)
  }

  @Test(arguments: ["01gnope-200", "01g", "nope", "01gFf0000000001EAA-99999", "-", "01gx--1"])
  func `a locator that is none is refused`(locator: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/query/\(locator)")
    #expect(reply.status == 400)
    #expect(reply.errorCode == "INVALID_QUERY_LOCATOR")
  }

  @Test func `a count has no records and aggregates have no urls`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "a", "Industry": "Banking"])
    try await org.made("Account", ["Name": "b", "Industry": "Banking"])
    let count = await org.query("SELECT COUNT() FROM Account")
    #expect(count.text == #"{"totalSize":2,"done":true,"records":[]}"#)
  }

  @Test func `parents stand inside their child, and an absent one is null`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "a"])
    try await org.made("Contact", ["LastName": "1", "AccountId": .string(account)])
    try await org.made("Contact", ["LastName": "2"])
    let reply = await org.query("SELECT LastName, Account.Name FROM Contact ORDER BY LastName")
    let records = reply.json?["records"]
    #expect(records?[0]?["Account"]?["Name"]?.string == "a")
    #expect(
      records?[0]?["Account"]?["attributes"]?["url"]?.string
        == "/services/data/v66.0/sobjects/Account/\(account)")
    #expect(records?[1]?["Account"]?.isNull == true)
  }

  @Test func `a query without text is malformed`() async throws {
    let org = try OrgUnderTest()
    #expect(await org.send("GET", "/query").errorCode == "MALFORMED_QUERY")
    #expect(await org.query("SELECT").errorCode == "MALFORMED_QUERY")
  }
}
