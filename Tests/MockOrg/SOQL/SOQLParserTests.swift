import Testing

@testable import SalesforceMockOrg

@Suite struct SOQLParserTests {
  private func parse(_ text: String) throws(ServerError) -> SOQLStatement {
    try SOQLParser.parse(SOQLSource(text), allowsApexSyntax: true)
  }

  private func message(_ text: String) -> String? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      #expect(error.code == "MALFORMED_QUERY")
      #expect(error.status == 400)
      return error.message
    }
  }

  @Test(arguments: [
    "SELECT Id FROM Account",
    "select id from account",
    "SELECT Id, Name, Owner.Name FROM Account a WHERE a.Name = 'x'",
    "SELECT Id FROM Account AS a USING SCOPE everything WHERE Id != null",
    "SELECT a.Id FROM Contact c, c.Account a",
    "SELECT COUNT() FROM Account",
    "SELECT COUNT(Id) n, MAX(AnnualRevenue) FROM Account GROUP BY Name HAVING COUNT(Id) > 1",
    "SELECT Id, (SELECT Id FROM Contacts WHERE Name LIKE 'a%' ORDER BY Name LIMIT 5) FROM Account",
    "SELECT FIELDS(ALL) FROM Account LIMIT 200",
    "SELECT Id FROM Account WHERE Name = 'x' AND (Name = 'y' OR NOT Name = 'z')",
    "SELECT Id FROM Account WHERE NOT (Name = 'x' OR Name = 'y')",
    "SELECT Id FROM Account WHERE Id IN (SELECT AccountId FROM Contact WHERE Name = 'x')",
    "SELECT Id FROM Account WHERE Id NOT IN ('001000000000001', '001000000000002')",
    "SELECT Id FROM Account WHERE Tags__c INCLUDES ('a;b', 'c') AND Tags__c EXCLUDES ('d')",
    "SELECT Id FROM Account WHERE AnnualRevenue > -1.5 AND AnnualRevenue <= +2e3",
    "SELECT Id FROM Account WHERE CreatedDate > 2024-02-29T10:00:00Z",
    "SELECT Id FROM Account WHERE CreatedDate > 2024-02-29T10:00:00.123+05:30",
    "SELECT Id FROM Account WHERE CreatedDate > 2024-02-29T10:00:00-0800",
    "SELECT Id FROM Account WHERE CreatedDate = LAST_N_DAYS:30 OR Founded__c <> TODAY",
    "SELECT Id FROM Account ORDER BY Name ASC NULLS LAST, Id DESC LIMIT 10 OFFSET 20",
    "SELECT Id FROM Account WITH SECURITY_ENFORCED LIMIT 1 FOR VIEW",
    "SELECT Id FROM Account FOR REFERENCE", "SELECT Id FROM Account FOR UPDATE ALL ROWS",
    "SELECT Id FROM Account WHERE CALENDAR_YEAR(convertTimezone(CreatedDate)) = 2024",
    "SELECT\n\tId\r\nFROM\nGroup\nWHERE\nName='x'",
    "SELECT Name, COUNT(Id) FROM Account GROUP BY ROLLUP(Name, Industry) HAVING GROUPING(Name) = 0",
    "SELECT Name n, COUNT(Id) c FROM Account GROUP BY CUBE (Name) ORDER BY GROUPING(Name)",
    "SELECT TYPEOF What WHEN Account THEN Phone, Owner.Name WHEN Case THEN Subject ELSE Name END, Id FROM Task",
    "SELECT FORMAT(Amount) Amt, FORMAT(convertCurrency(Amount)) c, toLabel(StageName) FROM Opportunity",
    "SELECT Id FROM A WHERE DISTANCE(Location__c, GEOLOCATION(37.775,-122.418), 'mi') < 20 ORDER BY DISTANCE(Location__c, GEOLOCATION(37.775,-122.418), 'KM')",
    "SELECT Id FROM A WHERE toLabel(Status) LIKE 'a%' FOR VIEW, REFERENCE UPDATE TRACKING, VIEWSTAT",
    "SELECT Id FROM A WHERE Amount > USD5000 AND Amount < EUR-12.50 AND Amount != JPY7.5",
    "SELECT Id, (SELECT Contact.LastName FROM Account.Contacts) FROM Account",
  ])
  func `the grammar takes a valid query`(query: String) throws {
    _ = try parse(query)
  }

  @Test(
    arguments: [
      ("", "A query string has to be specified"),
      ("  \n", "A query string has to be specified"),
      ("invalid", "unexpected token: 'invalid'"),
      ("SELECT", "unexpected token: '<EOF>'"),
      ("SELECT Id", "unexpected token: '<EOF>'"),
      ("SELECT FROM Account", "unexpected token: 'SELECT FROM'"),
      ("SELECT * FROM Account", "unexpected token: 'SELECT *'"),
      ("SELECT Id, FROM Account", "unexpected token: 'FROM'"),
      ("SELECT Id FROM Account WHERE", "unexpected token: '<EOF>'"),
      ("SELECT Id FROM Account WHERE Name", "unexpected token: '<EOF>'"),
      ("SELECT Id FROM Account WHERE Name IS NULL", "unexpected token: 'IS'"),
      ("SELECT Id FROM Account WHERE Name == 'x'", "unexpected token: '='"),
      ("SELECT Id FROM Account WHERE Name = x", "unexpected token: 'x'"),
      ("SELECT Id FROM Account WHERE Name = 'x' 'y'", "unexpected token: 'y'"),
      (
        "SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'",
        "unexpected token: 'OR'"
      ),
      (
        "SELECT Id FROM Account WHERE Name = 'a' OR Name = 'b' AND Name = 'c'",
        "unexpected token: 'AND'"
      ),
      (
        "SELECT Id FROM Account WHERE (Name = 'a' LIMIT 1",
        "missing value at 'LIMIT'"
      ),
      ("SELECT Id FROM Account WHERE Name IN ()", "unexpected token: 'Name IN ()'"),
      ("SELECT Id FROM Account WHERE Name LIKE NULL", "unexpected token: 'NULL'"),
      ("SELECT Id FROM Account USING everything", "unexpected token: 'everything'"),
      ("SELECT Id FROM Account ORDER BY Id NULLS Name", "missing value at 'Name'"),
      (
        "SELECT Id FROM Account WHERE Id IN (SELECT Id FROM Contact ORDER BY Id)",
        "missing value at 'ORDER'"
      ),
      ("SELECT TYPEOF What WHEN Account THEN Name FROM Task", "Missing 'END' at 'FROM'"),
      (
        "SELECT TYPEOF What WHEN A THEN B WHEN a THEN C END FROM Task",
        "WHEN clause operand [a] is not unique"
      ),
      ("SELECT COUNT(Id) FROM Account HAVING COUNT(Id) > 1", "unexpected token: 'HAVING'"),
      (
        "SELECT Id FROM Account WHERE CreatedDate > 2020-12-12t12:12:00-25:00",
        "Invalid datetime: 2020-12-12t12:12:00-25:00"
      ),
      (
        "SELECT Id FROM Account WHERE CreatedDate > 2020-52-12t12:12:00-05:00",
        "Invalid datetime: 2020-52-12t12:12:00-05:00"
      ),
      ("SELECT Id from $casecomment WHERE isdeleted = false", "line 1:15 unexpected token: '$'"),
      ("SELECT Id FROM Account LIMIT -1", "unexpected token: '-1'"),
      ("SELECT Id FROM Account LIMIT ten", "unexpected token: 'ten'"),
      ("SELECT Id FROM Account OFFSET 1 LIMIT 1", "unexpected token: 'LIMIT'"),
      ("SELECT Id FROM Account ORDER Name", "unexpected token: 'ORDER'"),
      (
        "SELECT Id FROM Account WHERE CreatedDate = LAST_N_DAYS", "expecting a colon, found '<EOF>'"
      ),
      ("SELECT Id FROM Account;", nil),
    ] as [(String, String?)])
  func `a query beyond the grammar is refused`(query: String, expected: String?) {
    let message = message(query)
    #expect(message != nil)
    if let expected {
      #expect(
        message == expected || message?.hasSuffix("\n" + expected) == true, "\(message ?? "")")
    }
  }

  @Test func `a character of no token is shown with row and column`() {
    #expect(
      message("SELECT # FROM Account")
        == "\nSELECT # FROM Account\n      ^\nERROR at Row:1:Column:7\n"
        + "line 1:7 unexpected token: '#'")
    #expect(
      message("SELECT Id FROM Account WHERE CreatedDate = 2020-03-17T21:04:32.000 0000")?
        .hasSuffix("ERROR at Row:1:Column:66\nline 1:66 unexpected token: ' '")
        == true)
    #expect(
      message("SELECT Id\nFROM Account\nWHERE Name = 'x")?
        .hasSuffix("line 3:15 mismatched character '<EOF>' expecting '''") == true)
    #expect(
      message(#"SELECT Id FROM Account WHERE Name = 'a\qb'"#)?
        .hasSuffix("unexpected token: 'q'") == true)
  }

  @Test
  func `a word that fits nowhere is shown with row and column, from 0, and a caret before it`() {
    #expect(
      message("SELECT Id FROM Account LIMIT 1 SET OPTIONS (honorEmptyStrings = true) LIMIT 1")
        == "\nSELECT Id FROM Account LIMIT 1 SET OPTIONS (honorEmptyStrings\n"
        + "                              ^\nERROR at Row:1:Column:31\nunexpected token: 'SET'")
    #expect(
      message(
        "Select\nWHERE AccountId = '0014000000p6XlS' AND LastName LIKE 'test' OR email LIKE 'test'")
        != nil)
    #expect(
      message(
        "SELECT Id\nFROM Contact\nWHERE A = '0014000000p6XlS' AND LastName LIKE 'test' OR B = 1")?
        .contains("ERROR at Row:3:Column:53\nunexpected token: 'OR'") == true)
    #expect(
      message("SELECT Id FROM Account WHERE")
        == "\nSELECT Id FROM Account WHERE\n                           ^\nERROR at Row:1:Column:28\n"
        + "unexpected token: '<EOF>'")
  }

  @Test(arguments: [
    ("SELECT Id FROM Account ALL ROWS", "ALL ROWS not allowed in this context"),
    (
      "SELECT Id FROM Account WITH SECURITY_ENFORCED",
      "rule soqlWithIdentifierClause failed predicate: {this.helper.allowApexSyntax() && this.helper.hasApexContext()}?"
    ),
    (
      "SELECT Id FROM Account WITH USER_MODE",
      "rule soqlWithIdentifierClause failed predicate: {this.helper.allowApexSyntax() && this.helper.hasApexContext()}?"
    ),
  ])
  func `what Apex alone may say is refused elsewhere`(query: String, expected: String) throws {
    _ = try parse(query)
    #expect(throws: ServerError.self) { try SOQLParser.parse(SOQLSource(query)) }
    do { _ = try SOQLParser.parse(SOQLSource(query)) } catch {
      #expect(error.code == "MALFORMED_QUERY")
      #expect(error.message.hasSuffix(expected))
    }
  }

  @Test func `a bind variable is refused where it stands`() {
    #expect(
      message("SELECT Id FROM Account WHERE Name = :name")
        == "\nSELECT Id FROM Account WHERE Name = :name\n                                    ^\n"
        + "ERROR at Row:1:Column:37\nBind variables only allowed in Apex code")
  }

  @Test func `every escape of a string is read`() throws {
    let text = try parse(
      #"SELECT Id FROM A WHERE F = 'a\n\N\r\R\t\T\b\B\f\F\"\'\\\u00e9\uD83D\uDE00é'"#)
    guard case .comparison(let comparison)? = text.condition,
      case .string(let string)? = comparison.values.first?.literal
    else {
      Issue.record("no string")
      return
    }
    #expect(string.text == "a\n\n\r\r\t\t\u{8}\u{8}\u{C}\u{C}\"'\\é😀é")
    #expect(string.firstPatternEscape == nil)
  }

  @Test(arguments: [
    #"'\u00'"#, #"'\uD800'"#, #"'\uD800x'"#, #"'\uDC00'"#, #"'\uD800\u0041'"#, #"'\"#, "'", "1a",
    "2024-02-30", "2024-13-01", "2024-01-01T25:00:00Z", "2024-01-01T10:00:00",
    "2024-01-01T10:00:00+5", "2024-01-01T", "2024-01-01x", "-", "!", "#", "é",
  ])
  func `a literal of no form is refused`(literal: String) {
    #expect(message("SELECT Id FROM A WHERE F = \(literal)") != nil)
  }

  @Test func `datetimes with a zone are moved to UTC`() throws {
    for (text, expected) in [
      ("2024-02-29T23:30:00-02:00", "2024-03-01T01:30:00.000+0000"),
      ("2024-03-01T01:30:00+0200", "2024-02-29T23:30:00.000+0000"),
      ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999+0000"),
      ("2024-01-01T00:00Z", "2024-01-01T00:00:00.000+0000"),
      ("2024-01-01T00:00:00.1234567Z", "2024-01-01T00:00:00.123+0000"),
      ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000+0000"),
    ] {
      let condition = try parse("SELECT Id FROM A WHERE F = \(text)").condition
      guard case .comparison(let comparison)? = condition,
        case .dateTime(let milliseconds)? = comparison.values.first?.literal
      else {
        Issue.record("no datetime: \(text)")
        continue
      }
      #expect(SOQLDate.timestamp(milliseconds: milliseconds) == expected)
    }
  }

  @Test func `nesting and length have limits`() throws {
    let deep = { (depth: Int) in
      "SELECT Id FROM A WHERE " + String(repeating: "(", count: depth) + "F = 1"
        + String(repeating: ")", count: depth)
    }
    _ = try parse(deep(SOQLParser.maxDepth))
    #expect(message(deep(SOQLParser.maxDepth + 1))?.contains("nested") == true)
    #expect(message(deep(40_000)) != nil)
    #expect(message("SELECT Id FROM A WHERE " + String(repeating: "NOT ", count: 20_000)) != nil)
    #expect(
      message("SELECT " + String(repeating: "a(", count: 20_000))?.contains("nested") == true)
    #expect(message("SELECT " + String(repeating: "x", count: 100_000) + " FROM A") != nil)
    // The limit counts characters, not bytes.
    let name = "'" + String(repeating: "é", count: 4000) + "'"
    let names = Array(repeating: name, count: 24).joined(separator: ",")
    _ = try parse("SELECT Id FROM A WHERE F IN (\(names))")
  }
}
