import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore

/// CO-135, CO-191: texts of queries, and pages as types.
@Suite struct QueryTests {
  @Test func `CO-135 a query has its clauses in the order that SOQL wants`() {
    let full = SOQLBuilder(fields: ["Id", "Name", "Id", ""], from: "Account")
      .offset(5).limit(10).orderBy("Name").having("count(Id) > 1").groupBy("Name")
      .with("SECURITY_ENFORCED").where("Name != null")
    #expect(
      full.build()
        == "select Id,Name from Account where Name != null with SECURITY_ENFORCED group by Name "
        + "having count(Id) > 1 order by Name limit 10 offset 5")
    #expect(full.groupBy("").build()?.contains("having") == false)
    #expect(
      SOQLBuilder().fields("Id, Name").from("A").limit(0).build() == "select Id, Name from A")
    #expect(SOQLBuilder(fields: [], from: "A").build() == nil)
    #expect(SOQLBuilder(fields: ["Id"]).build() == nil)
    let short = SOQLBuilder(fields: ["Id"], from: "A")
    #expect(short.encodeAndBuild() == "select%20Id%20from%20A")
    #expect(short.buildWithPath("/v66.0") == "/v66.0/query/?q=select%20Id%20from%20A")
  }

  @Test func `CO-135 a search has its objects in the order they were given`() {
    let sosl = SOSLBuilder(searchTerm: "a-b").searchGroup("NAME FIELDS")
      .returning(
        SOSLReturningBuilder("Contact").fields("Id,Name").where("A = 1").orderBy("Name")
          .withNetwork("0DB").limit(3)
      )
      .returning(SOSLReturningBuilder("Account").limit(9))
      .divisionFilter("DIVISION = 'G'").dataCategory("Geo AT Asia").limit(7)
    #expect(
      sosl.build()
        == #"find {a\-b} in NAME FIELDS returning Contact(Id,Name where A = 1 order by Name"#
        + " with network = 0DB limit 3), Account with DIVISION = 'G' with data category"
        + " Geo AT Asia limit 7")
    #expect(SOSLBuilder().build() == nil)
    #expect(SOSLBuilder(searchTerm: "x").build() == "find {x}")
    #expect(SOSLBuilder().searchTerm("x").encodeAndBuild() == "find%20%7Bx%7D")
    #expect(
      SOSLBuilder(searchTerm: "x").buildWithPath("/v66.0") == "/v66.0/search/?q=find%20%7Bx%7D")
    #expect(SOSLReturningBuilder("").build() == nil)
  }

  @Test func `CO-135 what means something in a search is escaped, the backslash first`() {
    #expect(
      SOSL.sanitized(#"\?&|!{}[]()^~*:"'+-a b"#)
        == #"\\\?\&\|\!\{\}\[\]\(\)\^\~\*\:\"\'\+\-a b"#)
    #expect(
      SOSL.search("a?", objects: [("B", ["Id", "X"]), ("A", [])], limit: 500)
        == #"FIND {a\?} IN NAME FIELDS RETURNING B (Id,X),A LIMIT 200"#)
    #expect(SOSL.search("a", scope: "IN ALL FIELDS") == "FIND {a} IN ALL FIELDS")
    #expect(SOSL.search("") == nil)
  }

  private struct Account: Decodable, Sendable, Equatable { let Name: String }

  private func client(_ transport: ScriptedTransport) async throws -> RestClient {
    let org = TestOrg()
    return RestClient(
      account: org.account(), accounts: try await org.manager(transport: transport),
      transport: transport)
  }

  @Test func `CO-191 BX-39 a query brings records as a type of the caller's, page by page`()
    async throws
  {
    let transport = ScriptedTransport { request in
      request.url.path().contains("01g")
        ? .init(json: #"{"totalSize":3,"done":true,"records":[{"Name":"C"}]}"#)
        : .init(
          json: #"{"totalSize":3,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-2","#
            + #""records":[{"Name":"A"},{"Name":"B"}]}"#)
    }
    let client = try await client(transport)
    let page = try await client.fetchRecords(ofModelType: Account.self, forQuery: "SELECT Name")
    #expect(page.totalSize == 3)
    #expect(!page.done)
    #expect(page.nextRecordsURL == "/services/data/v66.0/query/01g-2")
    var names: [String] = []
    for try await page in client.pages(ofModelType: Account.self, for: .query("SELECT Name")) {
      names += page.records.map(\.Name)
    }
    #expect(names == ["A", "B", "C"])
    #expect(transport.requests.count == 3)
  }

  @Test func `CO-191 a search brings records too`() async throws {
    let client = try await client(
      ScriptedTransport([.init(json: #"{"searchRecords":[{"Name":"A"}]}"#)]))
    let page = try await client.fetchRecords(ofModelType: Account.self, for: .search("FIND {A}"))
    #expect(page.records == [Account(Name: "A")])
    #expect(page.totalSize == 1)
    #expect(page.done)
  }

  @Test func `CO-191 an error of the server is thrown, and what is no query refused`() async throws
  {
    let transport = ScriptedTransport { request in
      request.url.path().hasSuffix("/query")
        ? .init(status: 400, json: #"[{"errorCode":"MALFORMED_QUERY","message":"m"}]"#)
        : .init(json: #"{"records":[{"Nam":1}]}"#)
    }
    let client = try await client(transport)
    func code(_ request: RestRequest) async -> RestError.Code? {
      await #expect(throws: RestError.self) {
        try await client.fetchRecords(ofModelType: Account.self, for: request)
      }?.code
    }
    #expect(await code(.query("SELECT")) == .server(400))
    #expect(await code(.queryAll("SELECT Name")) == .malformedResponse)
    #expect(await code(.limits()) == .invalidRequest)
    #expect(await code(.describe(object: "query")) == .invalidRequest)
  }
}
