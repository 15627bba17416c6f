import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-135, CO-191: texts of queries, and pages as types.
@Suite struct QueryTests {
  @Test(.covers("CO-135", "MS-289"))
  func `a query has its clauses in the order that SOQL wants`() throws {
    let full = SOQLBuilder(fields: ["Id", "Name", "Id", ""], from: "Account")
      .offset(5).limit(10).orderBy("Name").having("count(Id) > 1").groupBy("Name")
      .with("SECURITY_ENFORCED").where("Name != null")
    #expect(
      try full.build()
        == "select Id, Name from Account where Name != null with SECURITY_ENFORCED group by Name "
        + "having count(Id) > 1 order by Name limit 10 offset 5")
    #expect(try !full.groupBy("").build().contains("having"))
    #expect(
      try SOQLBuilder(fields: ["Id"], from: "A").where("").limit(0).offset(0).build()
        == "select Id from A")
  }

  /// The code of an error, and the first two words of what it says.
  private func refusal(_ build: () throws -> String) -> (RestError.Code, String)? {
    guard let error = #expect(throws: RestError.self, performing: { _ = try build() }) else {
      return nil
    }
    return (error.code, error.message.split(separator: ":").first.map(String.init) ?? "")
  }

  @Test(.covers("CO-135", "MS-290", "MS-294.1"))
  func `without a part that is needed there is no text, and a reason`() {
    for (build, reason): (() throws -> String, String) in [
      (SOQLBuilder(fields: [], from: "A").build, "no fields"),
      (SOQLBuilder(fields: [""], from: "A").build, "no fields"),
      (SOQLBuilder(fields: ["Id"], from: "").build, "no from"),
      (SOSLBuilder(searchTerm: "").build, "no search term"),
      (SOSLBuilder(searchTerm: "a").returning(.init("")).build, "no object name"),
    ] {
      let refusal = refusal(build)
      #expect(refusal?.0 == .invalidRequest)
      #expect(refusal?.1 == reason)
    }
  }

  @Test(
    .covers("CO-135", "MS-291", "MS-292"),
    arguments: ["/services/data/v66.0", "/services/data/v66.0/"])
  func `a path gets the resource and the text, encoded or not`(
    path: String
  ) throws {
    let query = SOQLBuilder(fields: ["Id"], from: "A")
    #expect(try query.encodeAndBuild() == "select%20Id%20from%20A")
    #expect(try query.buildWithPath(path) == "/services/data/v66.0/query/?q=select Id from A")
    #expect(
      try query.encodeAndBuildWithPath(path)
        == "/services/data/v66.0/query/?q=select%20Id%20from%20A")
    let search = SOSLBuilder(searchTerm: "x")
    #expect(try search.encodeAndBuild() == "find%20%7Bx%7D")
    #expect(try search.buildWithPath(path) == "/services/data/v66.0/search/?q=find {x}")
    #expect(
      try search.encodeAndBuildWithPath(path)
        == "/services/data/v66.0/search/?q=find%20%7Bx%7D")
  }

  @Test(.covers("CO-135", "MS-292", "MS-293"))
  func `a search has its parts and its objects in order`() throws {
    let sosl = SOSLBuilder(searchTerm: "a-b").searchGroup("NAME FIELDS")
      .returning(
        SOSLReturningBuilder("Contact").fields("Id, Name").where("A = 1").orderBy("Name")
          .withNetwork("0DB").limit(3)
      )
      .returning(SOSLReturningBuilder("Account").where("nothing without fields").limit(9))
      .divisionFilter("DIVISION = 'G'").dataCategory("Geo AT Asia").limit(7)
    #expect(
      try sosl.build()
        == #"find {a\-b} in NAME FIELDS returning  Contact(Id, Name where A = 1 order by Name"#
        + " with network = 0DB limit 3),  Account with DIVISION = 'G' with data category"
        + " Geo AT Asia limit 7")
    #expect(try SOSLBuilder(searchTerm: "x").limit(0).build() == "find {x}")
  }

  @Test(.covers("MS-294.1", "MS-294.2"))
  func `signs of the search language are escaped, wildcards only if they are meant`()
    throws
  {
    let term = #"a\b+c^~'-[]{}()&:!*?|""#
    #expect(
      try SOSLBuilder(searchTerm: term, keepsWildcards: true).build()
        == #"find {a\\b\+c\^\~\'\-\[\]\{\}\(\)\&\:\!*?|"}"#)
    #expect(try SOSLBuilder(searchTerm: term).build().hasSuffix(#"\!\*\?\|\"}"#))
  }

  @Test(.covers("CO-135"))
  func `what means something in a search is escaped, the backslash first`() {
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

  @Test(.covers("CO-191", "BX-39"))
  func `a query brings records as a type of the caller's, page by page`()
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

  @Test(arguments: [1, 2, 3, 7])
  func `pages that lead in a circle end with an error`(length: Int) async throws {
    let transport = ScriptedTransport { request in
      let page = Int(request.url.path().split(separator: "-").last ?? "") ?? 0
      return .init(
        json: #"{"totalSize":9,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-"#
          + #"\#(page % length + 1)","records":[{"Name":"A"}]}"#)
    }
    let client = try await client(transport)
    var pages = client.pages(ofModelType: Account.self, for: .query("SELECT Name"))
      .makeAsyncIterator()
    let error = await #expect(throws: RestError.self) {
      for _ in 0..<100 { _ = try await pages.next() }
    }
    #expect(error?.code == .malformedResponse)
    #expect(error?.message.contains("circle") == true)
    #expect(transport.requests.count <= 4 * (length + 1))
    #expect(try await pages.next() == nil)
  }

  @Test(arguments: ["[]", #"[{"Name":"A"}]"#, nil])
  func `pages under addresses that are always new end with an error`(records: String?) async throws
  {
    let transport = ScriptedTransport { request in
      let page = Int(request.url.path().split(separator: "-").last ?? "") ?? 0
      let own = (0..<200).map { #"{"Name":"\#(page * 200 + $0)"}"# }.joined(separator: ",")
      let total = records == nil ? #""totalSize":300,"# : ""
      return .init(
        json: #"{\#(total)"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-"#
          + #"\#(page + 1)","records":\#(records ?? "[\(own)]")}"#)
    }
    let client = try await client(transport)
    let error = await #expect(throws: RestError.self) {
      for try await _ in client.pages(ofModelType: Account.self, for: .query("SELECT Name")) {}
    }
    #expect(error?.code == .malformedResponse)
    #expect(error?.message.contains("do not end") == true)
    #expect(error?.message.contains("Send the query again") == true)
    #expect(transport.requests.count <= 1_001)
  }

  @Test(.covers("CO-191"))
  func `a search brings records too`() async throws {
    let client = try await client(
      ScriptedTransport([.init(json: #"{"searchRecords":[{"Name":"A"}]}"#)]))
    let page = try await client.fetchRecords(ofModelType: Account.self, for: .search("FIND {A}"))
    #expect(page.records == [Account(Name: "A")])
    #expect(page.totalSize == 1)
    #expect(page.done)
  }

  @Test(.covers("CO-191", "BX-39"))
  func `an error of the server is thrown, and what is no query refused`()
    async throws
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
