import MobileSync
import Testing

/// Do the builders write what the server reads?
@Suite struct QueryBuilderTests {
  @Test func `MS-289 clauses stand in the platform's order and empty ones are left out`() throws {
    let query = SOQLBuilder.withFields(["Id", "Name"]).from("Account").offset(5).limit(10)
      .orderBy("Name").having("count(Id) > 1").groupBy("Name").with("SECURITY_ENFORCED")
      .whereClause("Name = 'a'")
    #expect(
      try query.build()
        == "select Id, Name from Account where Name = 'a' with SECURITY_ENFORCED group by Name having count(Id) > 1 order by Name limit 10 offset 5"
    )
    #expect(
      try SOQLBuilder.withFields("Id").from("Account").limit(0).whereClause("").build()
        == "select Id from Account")
  }

  @Test func `MS-290 fields and object are required`() {
    for (builder, text) in [
      (SOQLBuilder.withFields("").from("A"), "no fields"), (.withFields("Id"), "no from"),
    ] {
      #expect {
        try builder.build()
      } throws: {
        ($0 as? SyncError)?.code == .invalidQuery
          && ($0 as? SyncError)?.message.hasPrefix(text) == true
      }
    }
  }

  @Test(arguments: ["/services/data/v66.0", "/services/data/v66.0/"])
  func `MS-291 MS-292 a path gets the resource and the text, encoded or not`(path: String) throws {
    let query = SOQLBuilder.withFields("Id").from("A")
    #expect(try query.buildWithPath(path) == "/services/data/v66.0/query/?q=select Id from A")
    #expect(
      try query.encodeAndBuildWithPath(path)
        == "/services/data/v66.0/query/?q=select%20Id%20from%20A")
    #expect(try query.encodeAndBuild() == "select%20Id%20from%20A")
    let search = SOSLBuilder.withSearchTerm("a")
    #expect(try search.buildWithPath(path) == "/services/data/v66.0/search/?q=find {a}")
    #expect(
      try search.encodeAndBuildWithPath(path)
        == "/services/data/v66.0/search/?q=find%20%7Ba%7D")
  }

  @Test func `MS-292 MS-293 a search has its parts in order`() throws {
    let search = SOSLBuilder.withSearchTerm("Acme").searchGroup("NAME FIELDS").limit(7)
      .divisionFilter("DIVISION = 'G'").dataCategory("Geo__c AT Asia__c")
      .returning(
        .withObjectName("Account").fields("Id, Name").whereClause("Name != ''").orderBy("Name")
          .withNetwork("'0DB'").limit(3)
      )
      .returning(.withObjectName("Contact").whereClause("ignored without fields"))
    #expect(
      try search.build()
        == "find {Acme} in NAME FIELDS returning  Account(Id, Name where Name != '' order by Name with network = '0DB' limit 3),  Contact with DIVISION = 'G' with data category Geo__c AT Asia__c limit 7"
    )
  }

  @Test func `MS-294 signs of the search language are escaped, wildcards are not`() throws {
    #expect(
      try SOSLBuilder.withSearchTerm(#"a\b+c^~'-[]{}()&:!*?""#).build()
        == #"find {a\\b\+c\^\~\'\-\[\]\{\}\(\)\&\:\!*?"}"#)
    for broken in [
      SOSLBuilder.withSearchTerm(""), .withSearchTerm("a").returning(.withObjectName("")),
    ] {
      #expect {
        try broken.build()
      } throws: {
        ($0 as? SyncError)?.code == .invalidQuery
      }
    }
  }

  @Test func `MS-295 quotes and backslashes cannot end a text early`() {
    #expect(SOQLLiteral.text(#"O'Neil \ Sons"#) == #"'O\'Neil \\ Sons'"#)
    #expect(SOQLLiteral.text("a\r\nb") == #"'a\r\nb'"#)
    #expect(SOQLLiteral.list(["a", "b'"]) == #"('a', 'b\'')"#)
  }

  @Test func `MS-131 a list of ids fits into an address`() {
    let ids = (0..<1_001).map { "001" + String(repeating: "x", count: 11) + "\($0 + 1_000)" }
    #expect(SOQLLiteral.slices(of: ids).map(\.count) == [500, 500, 1])
    #expect(SOQLLiteral.slices(of: ids, atMost: 400).map(\.count) == [400, 400, 201])
    #expect(SOQLLiteral.slices(of: ids, atMost: 0).map(\.count) == [500, 500, 1])
    #expect(SOQLLiteral.slices(of: []).isEmpty)
    let long = (0..<4).map { String(repeating: "ä", count: 1_500) + "\($0)" }
    // 9,000 bytes each, encoded.
    #expect(SOQLLiteral.slices(of: long).map(\.count) == [1, 1, 1, 1])
  }
}
