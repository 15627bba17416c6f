import Foundation
import GRDB
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// What a client sees of the parts of SOQL that shape its response.
@Suite struct SOQLFeatureTests {
  private let org: OrgUnderTest

  init() throws { org = try OrgUnderTest { $0.accessTokenLifetime = .seconds(1_000_000) } }

  private func records(_ soql: String) async -> [JSONSlice] {
    let reply = await org.query(soql)
    #expect(reply.status == 200, "\(reply.text)")
    return reply.json?["records"].map { Array($0.elements) } ?? []
  }

  // MARK: Totals

  private func makeLeads() async throws {
    for (source, rating) in [
      ("Web", "Hot"), ("Web", "Warm"), ("Web", nil), ("Partner Referral", "Hot"), (nil, nil),
    ] as [(String?, String?)] {
      var fields: JSONValue = ["LastName": "x", "Company": "y"]
      if let source { fields["LeadSource"] = .string(source) }
      if let rating { fields["Rating"] = .string(rating) }
      try await org.made("Lead", fields)
    }
  }

  @Test func `ROLLUP adds a row for each beginning of its fields and one for all`() async throws {
    try await makeLeads()
    let rows = await records(
      """
      SELECT LeadSource, Rating, GROUPING(LeadSource) grpLS, GROUPING(Rating) grpRating, \
      COUNT(Name) cnt FROM Lead GROUP BY ROLLUP(LeadSource, Rating)
      """)
    #expect(
      rows.map {
        "\($0["LeadSource"]?.string ?? "-") \($0["Rating"]?.string ?? "-") "
          + "\($0["grpLS"]?.int64 ?? 9)\($0["grpRating"]?.int64 ?? 9) \($0["cnt"]?.int64 ?? 0)"
      } == [
        "- - 00 1", "- - 01 1", "Web - 00 1", "Web Hot 00 1", "Web Warm 00 1", "Web - 01 3",
        "Partner Referral Hot 00 1", "Partner Referral - 01 1", "- - 11 5",
      ])
    #expect(rows.first?["attributes"]?["type"]?.string == "AggregateResult")
    #expect(rows.first?["attributes"]?["url"] == nil)
  }

  @Test func `CUBE adds a row for each choice of its fields`() async throws {
    try await makeLeads()
    let rows = await records(
      """
      SELECT LeadSource s, Rating r, COUNT(Id) n FROM Lead WHERE LeadSource = 'Web' \
      GROUP BY CUBE(LeadSource, Rating) HAVING COUNT(Id) >= 1 \
      ORDER BY GROUPING(LeadSource) DESC, GROUPING(Rating) DESC, Rating NULLS LAST
      """)
    #expect(
      rows.map {
        "\($0["s"]?.string ?? "-") \($0["r"]?.string ?? "-") \($0["n"]?.int64 ?? 0)"
      } == [
        "- - 3", "- Hot 1", "- Warm 1", "- - 1", "Web - 3", "Web Hot 1", "Web Warm 1", "Web - 1",
      ])
    #expect(await records("SELECT Rating FROM Lead WHERE Id = null GROUP BY CUBE(Rating)").isEmpty)
  }

  @Test func `more groups than a page are refused`() async throws {
    try await org.org.generate("Account", count: 2001)
    let reply = await org.query("SELECT Id, COUNT(Name) FROM Account GROUP BY Id")
    #expect(reply.errorCode == "EXCEEDED_ID_LIMIT")
    #expect(
      reply.message
        == "Aggregate query does not support queryMore(), use LIMIT to restrict the results to a single batch"
    )
    #expect(
      await records("SELECT Id, COUNT(Name) FROM Account GROUP BY Id LIMIT 2000").count == 2000)
  }

  // MARK: Parents of several objects

  @Test func `TYPEOF shows the fields of whichever object the parent is`() async throws {
    let account = try await org.made(
      "Account", ["Name": "a", "Phone": "1", "NumberOfEmployees": 7])
    let opportunity = try await org.made(
      "Opportunity",
      ["Name": "o", "StageName": "Prospecting", "CloseDate": "2026-05-15", "Amount": 10])
    let campaign = try await org.made("Campaign", ["Name": "c"])
    for (subject, what) in [("1", account), ("2", opportunity), ("3", campaign)] {
      try await org.made("Task", ["Subject": .string(subject), "WhatId": .string(what)])
    }
    try await org.made("Task", ["Subject": "4"])
    let clause =
      "TYPEOF What WHEN Account THEN Phone, NumberOfEmployees, Owner.Email WHEN Opportunity THEN Amount"
    let tasks = await records(
      "SELECT Subject, \(clause) ELSE Name, Id END FROM Task ORDER BY Subject")
    #expect(tasks[0]["What"]?["attributes"]?["type"]?.string == "Account")
    #expect(
      tasks[0]["What"]?["attributes"]?["url"]?.string
        == "/services/data/v66.0/sobjects/Account/\(account)")
    #expect(tasks[0]["What"]?["Phone"]?.string == "1")
    #expect(tasks[0]["What"]?["NumberOfEmployees"]?.int64 == 7)
    #expect(tasks[0]["What"]?["Owner"]?["Email"]?.string != nil)
    #expect(tasks[0]["What"]?["Name"] == nil)
    #expect(tasks[1]["What"]?["Amount"]?.double == 10)
    #expect(tasks[2]["What"]?["Name"]?.string == "c")
    #expect(tasks[2]["What"]?["attributes"]?["type"]?.string == "Campaign")
    #expect(tasks[3]["What"]?.isNull == true)
    // Without ELSE, what no WHEN names is null.
    let others = await records("SELECT \(clause) END FROM Task ORDER BY Subject")
    #expect(others.map { $0["What"]?.isNull } == [false, false, true, true])
  }

  // MARK: Children

  @Test func `more than 200 children come in pages of their own`() async throws {
    let account = try await org.made("Account", ["Name": "a"])
    for start in stride(from: 0, to: 450, by: 50) {
      let contacts = (start..<start + 50).map {
        #"{"attributes":{"type":"Contact"},"LastName":"\#(1000 + $0)","AccountId":"\#(account)"}"#
      }
      let reply = await org.send(
        "POST", "/composite/sobjects", #"{"records":[\#(contacts.joined(separator: ","))]}"#)
      #expect(reply.status == 200)
    }
    let found = await records(
      "SELECT Name, (SELECT LastName FROM Contacts ORDER BY LastName) FROM Account")
    let children = try #require(found.first?["Contacts"])
    #expect(children["totalSize"]?.int64 == 450)
    #expect(children["done"]?.bool == false)
    #expect(children["records"]?.count == 200)
    let next = try #require(children["nextRecordsUrl"]?.string)
    #expect(next.hasPrefix("/services/data/v66.0/query/01g") && next.hasSuffix("-200"))
    let rest = await org.send("GET", String(next.dropFirst("/services/data/v66.0".count)))
    #expect(rest.json?["done"]?.bool == true)
    #expect(rest.json?["totalSize"]?.int64 == 450)
    let names =
      (children["records"].map { Array($0.elements) } ?? [])
      + (rest.json?["records"].map { Array($0.elements) } ?? [])
    #expect(names.compactMap { $0["LastName"]?.string } == (1000..<1450).map(String.init))
    // The embedding program gets all at once.
    let all = try await org.org.query("SELECT (SELECT Id FROM Contacts) FROM Account")
    #expect(all.first?["Contacts"]?["records"]?.count == 450)
  }

  @Test func `children have children, and a limit holds for each parent`() async throws {
    let root = try await org.made("Account", ["Name": "r"])
    for name in ["a", "b"] {
      let child = try await org.made("Account", ["Name": .string(name), "ParentId": .string(root)])
      for number in 1...3 {
        try await org.made(
          "Account", ["Name": .string("\(name)\(number)"), "ParentId": .string(child)])
      }
    }
    let found = await records(
      """
      SELECT Name, (SELECT Name, (SELECT Name FROM ChildAccounts ORDER BY Name DESC LIMIT 2) \
      FROM Account.ChildAccounts ORDER BY Name) FROM Account WHERE ParentId = null
      """)
    let children = found.first?["ChildAccounts"]?["records"].map { Array($0.elements) } ?? []
    #expect(children.map { $0["Name"]?.string } == ["a", "b"])
    let grandchildren = children.map { child in
      child["ChildAccounts"]?["records"].map { $0.elements.map { $0["Name"]?.string } }
    }
    #expect(grandchildren == [["a3", "a2"], ["b3", "b2"]])
  }

  // MARK: Functions

  @Test func `FORMAT writes values as the user reads them`() async throws {
    try await org.made(
      "Opportunity",
      [
        "Name": "o", "StageName": "Prospecting", "CloseDate": "2015-12-28", "Amount": 44000,
        "Probability": 12.5,
      ])
    let found = await records(
      """
      SELECT FORMAT(Amount), FORMAT(CloseDate) closes, FORMAT(CreatedDate) made, \
      FORMAT(convertCurrency(ExpectedRevenue)) expected FROM Opportunity
      """)
    #expect(found.first?["Amount"]?.string == "$44,000.00")
    #expect(found.first?["closes"]?.string == "12/28/2015")
    #expect(found.first?["made"]?.string == "5/15/2026, 12:00 PM")
    #expect(found.first?["expected"]?.string == "$5,720.00")
    let sum = await records(
      "SELECT StageName, FORMAT(SUM(Amount)) total, FORMAT(MIN(CloseDate)) first FROM Opportunity GROUP BY StageName"
    )
    #expect(sum.first?["total"]?.string == "$44,000.00")
    #expect(sum.first?["first"]?.string == "12/28/2015")
    #expect(
      await org.query("SELECT Amount, FORMAT(Amount) FROM Opportunity").message
        == "duplicate field selected: Amount")
    #expect(await records("SELECT Amount, FORMAT(Amount) a FROM Opportunity").count == 1)
  }

  @Test(
    arguments: [
      (-1234567.891, FieldType.double, 2, "-1,234,567.89"), (0.5, .double, 0, "1"),
      (999, .int, 0, "999"), (1000, .int, 0, "1,000"), (0, .currency, 2, "$0.00"),
      (-5, .currency, 0, "-$5.00"), (12.5, .percent, 1, "12.5%"), (0.004, .double, 3, "0.004"),
      (1e20, .double, 2, "1e+20"),
    ] as [(Double, FieldType, Int, String)])
  func `FORMAT parts the thousands and rounds to the field's scale`(
    number: Double, type: FieldType, scale: Int, text: String
  ) {
    let format = SOQLFormat(type: type, scale: scale, zone: .gmt)
    #expect(format.text(number.databaseValue) == text)
  }

  @Test func `days and hours are those of the user's zone`() async throws {
    // Two o'clock of the 16th in UTC is ten in the evening of the 15th in New York.
    org.clock.advance(by: .seconds(14 * 3600))
    try await org.made("Account", ["Name": "a"])
    try await org.org.update(
      "User", id: org.org.userID, ["TimeZoneSidKey": "America/New_York"])
    let hours = await records(
      """
      SELECT HOUR_IN_DAY(CreatedDate) utc, HOUR_IN_DAY(convertTimezone(CreatedDate)) own, \
      DAY_ONLY(convertTimezone(CreatedDate)) day, COUNT(Id) FROM Account \
      GROUP BY HOUR_IN_DAY(CreatedDate), HOUR_IN_DAY(convertTimezone(CreatedDate)), \
      DAY_ONLY(convertTimezone(CreatedDate))
      """)
    #expect(hours.first?["utc"]?.int64 == 2)
    #expect(hours.first?["own"]?.int64 == 22)
    #expect(hours.first?["day"]?.string == "2026-05-15")
    #expect(await records("SELECT Id FROM Account WHERE CreatedDate = TODAY").count == 1)
    org.clock.advance(by: .seconds(10 * 3600))
    #expect(await records("SELECT Id FROM Account WHERE CreatedDate = TODAY").isEmpty)
    #expect(await records("SELECT Id FROM Account WHERE CreatedDate = YESTERDAY").count == 1)
    #expect(
      await records("SELECT FORMAT(CreatedDate) c FROM Account").first?["c"]?.string
        == "5/15/2026, 10:00 PM")
  }

  @Test(arguments: [
    // The clock goes from 01:59 to 03:00 on the second Sunday of March.
    ("America/New_York", "2024-03-10", "2024-03-10T05:00:00.000+0000"),
    ("America/New_York", "2024-03-11", "2024-03-11T04:00:00.000+0000"),
    // Midnight itself is skipped.
    ("America/Santiago", "2023-09-03", "2023-09-03T04:00:00.000+0000"),
    ("Asia/Kolkata", "2024-03-10", "2024-03-09T18:30:00.000+0000"),
    ("GMT", "2024-03-10", "2024-03-10T00:00:00.000+0000"),
  ])
  func `a day begins when the zone's clock says so`(
    zone: String, day: String, start: String
  ) throws {
    let zone = SOQLTimeZone(zone: try #require(TimeZone(identifier: zone)))
    let parts = day.split(separator: "-").compactMap { Int($0) }
    let date = try #require(SOQLDate(year: parts[0], month: parts[1], day: parts[2]))
    #expect(SOQLDate.timestamp(milliseconds: zone.start(of: date)) == start)
  }

  // MARK: Clauses

  @Test func `USING SCOPE mine shows what the user owns`() async throws {
    try await org.made("Account", ["Name": "a"])
    #expect(await records("SELECT Id FROM Account USING SCOPE mine").count == 1)
    #expect(await records("SELECT Id FROM Account USING SCOPE everything").count == 1)
    #expect(await records("SELECT Id FROM Account USING SCOPE delegated").isEmpty)
    #expect(await org.query("SELECT Id FROM User USING SCOPE mine").errorCode == "MALFORMED_QUERY")
  }

  @Test func `FOR VIEW and FOR REFERENCE stamp the records`() async throws {
    try await org.made("Account", ["Name": "a"])
    try await org.made("Account", ["Name": "b"])
    #expect(await records("SELECT Id FROM Account WHERE Name = 'a' FOR VIEW").count == 1)
    #expect(await records("SELECT Id FROM Account WHERE Name = 'b' FOR REFERENCE").count == 1)
    let found = await records(
      "SELECT LastViewedDate, LastReferencedDate FROM Account ORDER BY Name")
    #expect(found.map { $0["LastViewedDate"]?.isNull } == [false, true])
    #expect(found.map { $0["LastReferencedDate"]?.isNull } == [false, false])
    #expect(await records("SELECT Id FROM Account FOR UPDATE").count == 2)
  }

  @Test func `what Apex alone may say is for the embedding program`() async throws {
    let account = try await org.made("Account", ["Name": "a"])
    try await org.org.delete("Account", id: account)
    let refused = await org.query("SELECT Id FROM Account ALL ROWS")
    #expect(refused.errorCode == "MALFORMED_QUERY")
    #expect(refused.message == "ALL ROWS not allowed in this context")
    #expect(try await org.org.query("SELECT Id FROM Account ALL ROWS").count == 1)
    #expect(
      try await org.org.query("SELECT Id FROM Account WITH SECURITY_ENFORCED").isEmpty)
    #expect(await org.query("SELECT Id FROM Account", all: true).json?["totalSize"]?.int64 == 1)
  }

  @Test func `an org can take over REST what Apex alone may say`() async throws {
    let org = try OrgUnderTest { $0.acceptsApexClauses = true }
    let id = try await org.made("Account", ["Name": "a"])
    try await org.org.delete("Account", id: id)
    try await org.made("Account", ["Name": "b"])
    func count(_ soql: String) async -> Int64? { await org.query(soql).json?["totalSize"]?.int64 }
    #expect(await count("SELECT Id FROM Account ALL ROWS") == 2)
    for mode in ["SECURITY_ENFORCED", "USER_MODE", "SYSTEM_MODE"] {
      #expect(await count("SELECT Id FROM Account WHERE Name != 'x' WITH \(mode) LIMIT 5") == 1)
    }
    let job = await org.send(
      "POST", "/jobs/query",
      #"{"operation":"query","query":"SELECT Name FROM Account ORDER BY Name ALL ROWS"}"#)
    let rows = await org.send("GET", "/jobs/query/\(job.id)/results")
    #expect(rows.text == "\"Name\"\n\"a\"\n\"b\"\n")
  }

  @Test func `children can have an alias behind FROM`() async throws {
    let account = try await org.made("Account", ["Name": "a"])
    try await org.made("Contact", ["LastName": "x", "AccountId": .string(account)])
    for inner in ["c", "a.Contacts c", "Account.Contacts", "Contacts"] {
      let found = await records(
        "SELECT a.Name, (SELECT LastName FROM \(inner)) FROM Account a, a.Contacts c")
      #expect(found[0]["Contacts"]?["records"]?[0]?["LastName"]?.string == "x", "\(inner)")
    }
    let wrong = await org.query("SELECT Id FROM Account a, a.Nothing n")
    #expect(wrong.errorCode == "INVALID_TYPE")
    #expect(wrong.message?.contains("Didn't understand relationship 'Nothing'") == true)
  }

  @Test func `a text in a condition has at most 4,000 characters`() async throws {
    func answer(_ count: Int) async -> OrgUnderTest.Reply {
      let text = String(repeating: "ä", count: count)
      return await org.query("SELECT Id FROM Account WHERE Name = '\(text)'")
    }
    #expect(await answer(4000).status == 200)
    #expect(await answer(4001).errorCode == "MALFORMED_QUERY")
  }

  @Test func `a plan tells which conditions are indexed, and runs nothing`() async throws {
    try await org.made("Account", ["Name": "a", "Phone": "1"])
    try await org.made("Account", ["Name": "b"])
    func explain(_ soql: String) async -> OrgUnderTest.Reply {
      await org.send("GET", "/query?explain=\(PercentEncoding.encode(soql))")
    }
    let indexed = await explain("SELECT Id FROM Account WHERE Name = 'a' AND Phone = '1'")
    let plans = indexed.json?["plans"]
    #expect(plans?.count == 2)
    #expect(plans?[0]?["leadingOperationType"]?.string == "Index")
    #expect(plans?[0]?["fields"]?[0]?.string == "Name")
    #expect(plans?[0]?["cardinality"]?.int64 == 1)
    #expect(plans?[0]?["sobjectCardinality"]?.int64 == 2)
    #expect(plans?[0]?["sobjectType"]?.string == "Account")
    #expect(plans?[0]?["notes"]?[0]?["tableEnumOrId"]?.string == "Account")
    #expect(plans?[1]?["leadingOperationType"]?.string == "TableScan")
    #expect((plans?[1]?["relativeCost"]?.double ?? 0) > (plans?[0]?["relativeCost"]?.double ?? 9))
    let scan = await explain("SELECT COUNT() FROM Account WHERE Phone = '1' OR Name = 'a'")
    #expect(scan.json?["plans"]?.count == 1)
    #expect(await explain("SELECT FROM").errorCode == "MALFORMED_QUERY")
    #expect(await explain("SELECT Nothing FROM Account").errorCode == "INVALID_FIELD")
  }

  @Test func `the fields of a row are paths and nothing else of the language`() async throws {
    let id = try await org.made("Account", ["Name": "a"])
    let contact = try await org.made("Contact", ["LastName": "x", "AccountId": .string(id)])
    func row(_ fields: String) async -> OrgUnderTest.Reply {
      await org.send(
        "GET", "/sobjects/Contact/\(contact)?fields=\(PercentEncoding.encode(fields))")
    }
    #expect(await row("Account.Name, Account.Owner.Name").json?["Account"]?["Name"]?.string == "a")
    for fields in [
      "Account.Name FROM Contact WHERE Name.x", "COUNT(Account.Id)",
      "(SELECT Id FROM Account.Contacts)",
      "Account.Name alias", "Account..Name", ".Name", "Account.Nothing", "TYPEOF Account.x",
    ] {
      #expect(await row(fields).errorCode == "INVALID_FIELD", "\(fields)")
    }
    let children = await org.send(
      "GET", "/sobjects/Account/\(id)/Contacts?fields=LastName,Account.Name")
    #expect(children.json?["records"]?[0]?["Account"]?["Name"]?.string == "a")
    let injected = await org.send(
      "GET", "/sobjects/Account/\(id)/Contacts?fields=Id+FROM+User+WHERE+Id+!%3D+null+OR+x")
    #expect(injected.errorCode == "INVALID_FIELD")
  }

  @Test func `a label finds the records whose picklist shows it`() async throws {
    let test = try SOQLTestOrg([
      "Account": [
        ["Id": .text(SOQLTestOrg.id("001", 1)), "Industry": .text("Media")],
        ["Id": .text(SOQLTestOrg.id("001", 2)), "Industry": .text("Energy")],
      ]
    ])
    for (condition, count) in [
      ("toLabel(Industry) = 'media LABEL'", 1), ("toLabel(Industry) = 'Media'", 0),
      ("toLabel(Industry) LIKE '% label'", 2),
      ("toLabel(Industry) IN ('Energy label', 'x')", 1),
      ("toLabel(Industry) NOT IN ('Energy label')", 1),
    ] {
      #expect(
        try test.rows("SELECT Id FROM Account WHERE \(condition)").count == count, "\(condition)")
    }
  }

  @Test func `DISTANCE finds and sorts by the way over the earth`() throws {
    func place(_ number: Int, _ latitude: Double?, _ longitude: Double?) -> TestRecord {
      var record: TestRecord = ["Id": .text(SOQLTestOrg.id("001", number))]
      record["Place__Latitude__s"] = latitude.map { .number($0) }
      record["Place__Longitude__s"] = longitude.map { .number($0) }
      return record
    }
    // San Francisco, Los Angeles, nowhere, London.
    let test = try SOQLTestOrg([
      "Account": [
        place(1, 37.775, -122.418), place(2, 34.052, -118.244), place(3, nil, nil),
        place(4, 51.507, -0.128),
      ]
    ])
    func numbers(_ rest: String) throws -> [Int] {
      try test.values("SELECT Id FROM Account \(rest)").compactMap {
        Int($0?.dropFirst(3).prefix(12) ?? "")
      }
    }
    let from = "GEOLOCATION(37.775, -122.418)"
    #expect(try numbers("WHERE DISTANCE(Place__c, \(from), 'mi') < 20") == [1])
    #expect(try numbers("WHERE DISTANCE(Place__c, \(from), 'mi') < 350") == [1, 2])
    #expect(try numbers("WHERE DISTANCE(Place__c, \(from), 'km') < 350") == [1])
    #expect(try numbers("WHERE DISTANCE(Place__c, \(from), 'km') > 8000") == [4])
    #expect(
      try numbers("ORDER BY DISTANCE(Place__c, \(from), 'mi') DESC NULLS LAST") == [4, 2, 1, 3])
    let rows = try test.rows("SELECT DISTANCE(Place__c, \(from), 'km') far FROM Account")
    let london = Double.fromDatabaseValue(rows[3][1]) ?? 0
    #expect(abs(london - 8616) < 10)
    #expect(
      test.error("SELECT Id FROM Account ORDER BY DISTANCE(Place__c, GEOLOCATION(95, 0), 'mi')")
        != nil)
  }

  @Test func `the least and the greatest of a picklist follow the order of its values`()
    async throws
  {
    let org = try OrgUnderTest()
    for stage in ["Closed Won", "Prospecting", "Needs Analysis", "Somewhere else"] {
      try await org.made(
        "Opportunity", ["Name": "x", "StageName": .string(stage), "CloseDate": "2026-05-15"])
    }
    let all = try await org.org.query(
      "SELECT MIN(StageName) least, MAX(StageName) most, MIN(LeadSource) none FROM Opportunity")
    #expect(all[0]["least"]?.string == "Prospecting")
    #expect(all[0]["most"]?.string == "Somewhere else")
    #expect(all[0]["none"]?.isNull == true)
    let known = try await org.org.query(
      "SELECT MAX(StageName) most FROM Opportunity WHERE StageName != 'Somewhere else'")
    #expect(known[0]["most"]?.string == "Closed Won")
  }

  @Test(arguments: [
    ("CALENDAR_YEAR(CreatedDate)", "CALENDAR_YEAR(convertTimezone(CreatedDate))"),
    ("CALENDAR_YEAR(CreatedDate)", "FISCAL_YEAR(CreatedDate)"),
  ])
  func `two functions are two groups, also where their values are the same`(
    first: String, second: String
  ) async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "x"])
    let rows = try await org.org.query(
      "SELECT \(first) a, \(second) b FROM Account GROUP BY ROLLUP(\(first), \(second))")
    #expect(rows.map { $0["a"]?.int64 } == [2026, 2026, nil])
    #expect(rows.map { $0["b"]?.int64 } == [2026, nil, nil])
  }
}
