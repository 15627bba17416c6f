import GRDB
import Testing

@testable import SalesforceMockOrg

@Suite struct SOQLOperatorTests {
  private let org: SOQLTestOrg

  init() throws {
    func account(_ number: Int, _ fields: TestRecord) -> TestRecord {
      fields.merging(["Id": .text(SOQLTestOrg.id("001", number))]) { field, _ in field }
    }
    org = try SOQLTestOrg([
      "User": [["Id": .text(SOQLTestOrg.id("005", 1)), "Name": .text("Ada")]],
      "Group": [["Id": .text(SOQLTestOrg.id("00G", 1)), "Name": .text("Queue")]],
      "Account": [
        account(
          1,
          [
            "Name": .text("Alpha"), "Industry": .text("Media"), "Tags__c": .text("red;blue"),
            "AnnualRevenue": .number(10), "Active__c": .boolean(true), "Code__c": .text("aB"),
            "Founded__c": .text("2020-02-29"), "Opens__c": .text("08:30:00.000Z"),
            "OwnerId": .text(SOQLTestOrg.id("005", 1)),
          ]),
        account(
          2,
          [
            "Name": .text("alpha%"), "Industry": .text("Energy"), "Tags__c": .text("reddish"),
            "AnnualRevenue": .number(10.5), "Active__c": .boolean(false), "Code__c": .text("ab"),
            "ParentId": .text(SOQLTestOrg.id("001", 1)), "BillingCity": .text("Bern"),
          ]),
        account(3, ["Name": .text("Éclair_x"), "Active__c": .boolean(false)]),
        account(4, ["Active__c": .boolean(true), "IsDeleted": .boolean(true)]),
        account(5, ["Active__c": .boolean(true), "Industry": .text("Zoo")]),
      ],
      "Contact": [
        [
          "Id": .text(SOQLTestOrg.id("003", 1)), "Name": .text("Ann"),
          "AccountId": .text(SOQLTestOrg.id("001", 2)), "OwnerId": .text(SOQLTestOrg.id("00G", 1)),
          "Score__c": .number(1),
        ],
        [
          "Id": .text(SOQLTestOrg.id("003", 2)), "Name": .text("ann"),
          "AccountId": .text(SOQLTestOrg.id("001", 2)), "OwnerId": .text(SOQLTestOrg.id("005", 1)),
          "Score__c": .number(3),
        ],
        ["Id": .text(SOQLTestOrg.id("003", 3)), "Name": .text("Bob")],
      ],
    ])
  }

  private func accounts(_ rest: String) throws -> [Int] {
    try numbers("SELECT Id FROM Account \(rest)")
  }

  private func numbers(_ soql: String) throws -> [Int] {
    try org.values(soql).compactMap { Int($0?.dropFirst(3).prefix(12) ?? "") }
  }

  @Test(arguments: [
    // Texts: case does not matter, nor outside ASCII; null is a value like others.
    ("Name = 'ALPHA'", [1]), ("Name = 'éCLAIR_X'", [3]), ("Name != 'alpha'", [2, 3, 5]),
    ("Name = null", [5]), ("Name != null", [1, 2, 3]), ("Name = ''", [5]),
    ("Name != ''", [1, 2, 3]), ("Name > ''", [1, 2, 3]), ("Name < ''", []),
    ("NOT Name = 'alpha'", [2, 3, 5]), ("NOT (Name = 'alpha' OR Name = null)", [2, 3]),
    ("Name < 'b'", [1, 2]), ("Name >= 'alpha%'", [2, 3]), ("Name > null", []),
    ("Name IN ('alpha', 'éclair_x')", [1, 3]), ("Name IN ('alpha', null)", [1, 5]),
    ("Name NOT IN ('alpha')", [2, 3, 5]), ("Name NOT IN ('alpha', null)", [2, 3]),
    ("NOT Name IN ('alpha', 'alpha%')", [3, 5]),
    // A field whose case matters.
    ("Code__c = 'aB'", [1]), ("Code__c = 'AB'", []), ("Code__c IN ('ab')", [2]),
    // LIKE.
    ("Name LIKE 'alpha'", [1]), ("Name LIKE 'a%'", [1, 2]), (#"Name LIKE '%\%'"#, [2]),
    ("Name LIKE 'alpha_'", [2]), (#"Name LIKE '%\_x'"#, [3]), ("Name LIKE 'É%'", [3]),
    ("Name LIKE 'éCLAIR_X'", [3]), ("Name LIKE '%'", [1, 2, 3]), ("NOT Name LIKE 'a%'", [3, 5]),
    ("Name LIKE '%l%p%h%a%%%'", [1, 2]), ("Name LIKE '_clair__'", [3]), ("Name LIKE 'x%'", []),
    (#"Name LIKE '\u0041lpha'"#, [1]), (#"Name LIKE 'alpha\u0025'"#, [2]), ("Name LIKE ''", [5]),
    // Multi-select picklists.
    ("Tags__c INCLUDES ('red')", [1]), ("Tags__c INCLUDES ('red;blue')", [1]),
    ("Tags__c INCLUDES ('red;green', 'REDDISH')", [2]), ("Tags__c EXCLUDES ('red')", [2, 3, 5]),
    ("Tags__c = 'red;blue'", [1]), ("Tags__c != 'red;blue'", [2, 3, 5]),
    ("Tags__c = null", [3, 5]),
    ("Tags__c INCLUDES (null)", [3, 5]),
    // Numbers, booleans, dates, times.
    ("AnnualRevenue = 10.0", [1]), ("AnnualRevenue > 10", [2]), ("AnnualRevenue <= 10.5", [1, 2]),
    ("AnnualRevenue != 10", [2, 3, 5]), ("AnnualRevenue IN (10, 10.5)", [1, 2]),
    ("AnnualRevenue < +1e1", []), ("AnnualRevenue > -1", [1, 2]),
    ("NumberOfEmployees = null", [1, 2, 3, 5]),
    ("Active__c = true", [1, 5]), ("Active__c != true", [2, 3]),
    ("Active__c IN (true, false)", [1, 2, 3, 5]),
    ("Parent.Active__c = false", [1, 3, 5]), ("Parent.Active__c = true", [2]),
    ("Founded__c = 2020-02-29", [1]), ("Founded__c < 2020-03-01", [1]),
    ("Founded__c > 2020-02-29", []),
    ("Opens__c = 08:30:00.000Z", [1]), ("Opens__c < 08:30:00Z", []),
    // Ids of 15 and 18 characters.
    ("Id = '001000000000001'", [1]), ("Id = '001000000000001AAA'", [1]),
    ("Id IN ('001000000000001', '001000000000003AAA')", [1, 3]),
    ("Id > '001000000000002'", [3, 5]),
    ("ParentId = '001000000000001'", [2]), ("ParentId = null", [1, 3, 5]), ("ParentId != ''", [2]),
    // Paths.
    ("Parent.Name = 'alpha'", [2]), ("Parent.Owner.Name = 'ada'", [2]),
    ("Parent.Name = null", [1, 3, 5]),
    ("Parent.Name != 'alpha'", [1, 3, 5]), ("Account.Name = 'alpha'", [1]),
    // Semi-joins and anti-joins.
    ("Id IN (SELECT AccountId FROM Contact)", [2]),
    ("Id IN (SELECT AccountId FROM Contact WHERE Name = 'nobody')", []),
    ("Id NOT IN (SELECT AccountId FROM Contact)", [1, 3, 5]),
    ("Id NOT IN (SELECT AccountId FROM Contact) AND Name != null", [1, 3]),
    ("ParentId NOT IN (SELECT AccountId FROM Contact)", [1, 2, 3, 5]),
    ("OwnerId IN (SELECT OwnerId FROM Contact)", [1]),
    ("CALENDAR_YEAR(Founded__c) = 2020", [1]), ("DAY_IN_WEEK(Founded__c) = 7", [1]),
    ("CALENDAR_QUARTER(Founded__c) = 1", [1]), ("WEEK_IN_MONTH(Founded__c) = 5", [1]),
  ])
  func `a condition chooses records`(condition: String, expected: [Int]) throws {
    #expect(try accounts("WHERE \(condition)") == expected)
  }

  @Test(arguments: [
    // Nulls first in both directions, unless the query says otherwise.
    ("Name", [5, 1, 2, 3]), ("Name DESC", [5, 3, 2, 1]), ("Name NULLS LAST", [1, 2, 3, 5]),
    ("Name DESC NULLS LAST", [3, 2, 1, 5]), ("Name ASC NULLS FIRST", [5, 1, 2, 3]),
    ("Active__c, Name", [2, 3, 5, 1]), ("AnnualRevenue DESC, Id DESC", [5, 3, 2, 1]),
    // A picklist sorts by the order of its values, unknown ones last.
    ("Industry", [3, 2, 1, 5]), ("Industry DESC NULLS LAST", [5, 1, 2, 3]),
    ("Parent.Name, Id", [1, 3, 5, 2]), ("Id LIMIT 2 OFFSET 1", [2, 3]), ("Id LIMIT 0", []),
    ("Id OFFSET 3", [5]),
  ])
  func `ORDER BY puts records in order`(order: String, expected: [Int]) throws {
    #expect(try accounts("ORDER BY \(order)") == expected)
  }

  @Test func `deleted records are shown only on request`() throws {
    #expect(try accounts("") == [1, 2, 3, 5])
    #expect(try accounts("ALL ROWS") == [1, 2, 3, 4, 5])
    #expect(try accounts("WHERE IsDeleted = true ALL ROWS") == [4])
    #expect(try accounts("WHERE IsDeleted = true") == [])
    var all = org
    all.options.includeDeleted = true
    #expect(try all.values("SELECT Id FROM Account").count == 5)
  }

  @Test func `COUNT() counts the rows that LIMIT and OFFSET leave`() throws {
    #expect(try org.count("SELECT COUNT() FROM Account") == 4)
    #expect(try org.count("SELECT count() FROM Account WHERE Name LIKE 'a%'") == 2)
    #expect(try org.count("SELECT COUNT() FROM Account WHERE Name != null LIMIT 2") == 2)
    #expect(try org.count("SELECT COUNT() FROM Account OFFSET 3") == 1)
    #expect(try org.compile("SELECT COUNT() FROM Account").kind == .count)
  }

  @Test func `groups and their aggregates`() throws {
    let query = try org.compile(
      """
      SELECT Name, COUNT(Id), MAX(Score__c) best, COUNT_DISTINCT(AccountId), AVG(Score__c), \
      SUM(Score__c) FROM Contact GROUP BY Name HAVING COUNT(Id) > 1
      """)
    #expect(query.kind == .aggregate)
    let keys = query.record.members.map { member in
      if case .field(let key, _, _) = member { key } else { "" }
    }
    #expect(keys == ["Name", "expr0", "best", "expr1", "expr2", "expr3"])
    let rows = try org.rows(of: query)
    #expect(rows.count == 1)
    #expect(rows.first?.dropFirst().map { Double.fromDatabaseValue($0) } == [2, 3, 1, 2, 4])

    #expect(
      try org.rows("SELECT Account.Name, COUNT(Id) FROM Contact GROUP BY Account.Name").map {
        Int.fromDatabaseValue($0[1])
      } == [1, 2])
    #expect(
      try org.values("SELECT Name FROM Contact GROUP BY Name ORDER BY COUNT(Id) DESC LIMIT 1")
        .first??.lowercased() == "ann")
    #expect(
      try org.rows("SELECT COUNT(Id), MIN(Name) FROM Contact WHERE Name = 'nobody'").count == 1)
    #expect(
      try org.rows(
        "SELECT CALENDAR_YEAR(Founded__c) y, COUNT(Id) FROM Account GROUP BY CALENDAR_YEAR(Founded__c)"
      ).map { Int.fromDatabaseValue($0[0]) } == [nil, 2020])
  }

  @Test func `the shape of records has the schema's names and the query's order`() throws {
    let query = try org.compile(
      """
      SELECT name, parent.name, ID, billingaddress, parent.owner.name, parent.id, \
      (SELECT id FROM contacts WHERE name != 'x' LIMIT 3) FROM account
      """)
    let members = query.record.members
    #expect(query.object == "Account" && members.count == 5)
    guard case .field("Name", _, .string) = members[0],
      case .parent("Parent", let parent) = members[1],
      case .field("Id", _, .id) = members[2],
      case .compound("BillingAddress", let parts) = members[3],
      case .children("Contacts", let children, let parentID) = members[4]
    else {
      Issue.record("\(members)")
      return
    }
    #expect(parts.map(\.key) == ["city", "country"])
    guard case .named("Account") = parent.type, parent.members.count == 3,
      case .field("Name", let column, _) = parent.members[0],
      case .parent("Owner", let owner) = parent.members[1], case .named("User") = owner.type
    else {
      Issue.record("\(parent)")
      return
    }
    let rows = try org.rows(of: query)
    #expect(rows.map { String.fromDatabaseValue($0[column]) } == [nil, "Alpha", nil, nil])
    let ownerID = try #require(owner.id)
    #expect(rows.map { $0[ownerID].isNull } == [true, false, true, true])
    #expect(query.record.id == parentID)

    var contacts = children
    contacts.conditionArguments.append(SOQLTestOrg.id("001", 2).databaseValue)
    #expect(try org.rows(of: contacts).count == 2)
  }

  @Test func `a polymorphic parent is whichever object the id names`() throws {
    #expect(try org.values("SELECT Owner.Name FROM Contact").count == 0)
    let query = try org.compile("SELECT Owner.Name, Owner.Type FROM Contact")
    guard case .parent("Owner", let owner) = query.record.members[0],
      case .byKeyPrefix = owner.type, case .field("Name", let name, _) = owner.members[0],
      case .field("Type", let type, _) = owner.members[1]
    else {
      Issue.record("\(query.record)")
      return
    }
    let rows = try org.rows(of: query)
    #expect(rows.map { String.fromDatabaseValue($0[name]) } == ["Queue", "Ada", nil])
    #expect(rows.map { String.fromDatabaseValue($0[type]) } == ["Group", "User", nil])
    #expect(try numbers("SELECT Id FROM Contact WHERE Owner.Name = 'ADA'") == [2])
    #expect(try numbers("SELECT Id FROM Contact WHERE Owner.Type = 'Group'") == [1])
    #expect(try numbers("SELECT Id FROM Contact ORDER BY Owner.Name DESC NULLS LAST") == [1, 2, 3])
  }

  @Test func `FIELDS names the fields of its kind`() throws {
    #expect(try org.compile("SELECT FIELDS(STANDARD) FROM User").record.members.count == 6)
    #expect(try org.compile("SELECT FIELDS(CUSTOM) FROM Contact LIMIT 1").record.members.count == 1)
    #expect(
      try org.compile("SELECT FIELDS(ALL) FROM Account LIMIT 200").record.members.count
        == SOQLTestOrg.schema.object(named: "Account")?.fields.count)
    #expect(
      org.error("SELECT Id, FIELDS(STANDARD) FROM User")?.message == "duplicate field selected: Id")
    #expect(
      org.error("SELECT FIELDS(ALL) FROM Account")?.message
        == "The SOQL FIELDS function must have a LIMIT of at most 200")
  }

  @Test func `toLabel shows the label of a picklist's value`() throws {
    #expect(
      try org.values("SELECT toLabel(Industry) FROM Account ORDER BY Id")
        == ["Media label", "Energy label", nil, "Zoo"])
  }

  @Test func `aliases stand for objects and parents`() throws {
    #expect(
      try numbers("SELECT a.Id FROM Account a WHERE a.Parent.Name = 'alpha' ORDER BY a.Id") == [2])
    #expect(
      try numbers("SELECT c.Id FROM Contact c, c.Account a WHERE a.Name LIKE 'alpha%'") == [1, 2])
  }

  @Test func `no text of a query becomes SQL`() throws {
    let query = try org.compile(
      "SELECT Id FROM Account WHERE Name = 'x\\' OR 1=1 --' AND Name LIKE '\"%' AND Industry IN ('?')"
    )
    let sql = query.columns.joined() + query.from + (query.condition ?? "") + (query.order ?? "")
    #expect(!sql.contains("OR 1=1") && !sql.contains("\"%") && !sql.contains("'?'"))
    #expect(query.conditionArguments.count == 3)
    #expect(try org.rows(of: query).isEmpty)
  }
}
