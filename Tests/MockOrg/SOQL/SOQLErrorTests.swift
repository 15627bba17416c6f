import Testing

@testable import SalesforceMockOrg

@Suite struct SOQLErrorTests {
  private let org: SOQLTestOrg

  init() throws { org = try SOQLTestOrg() }

  @Test func `an unknown field is shown with a caret`() {
    let error = org.error("SELECT Id, Foo FROM Account")
    #expect(error?.code == "INVALID_FIELD")
    #expect(
      error?.message == """

        SELECT Id, Foo FROM Account
                   ^
        ERROR at Row:1:Column:12
        No such column 'Foo' on entity 'Account'. If you are attempting to use a custom field, be \
        sure to append the '__c' after the custom field name. Please reference your WSDL or the \
        describe call for the appropriate names.
        """)
  }

  @Test func `only the words around the place are shown`() {
    let error = org.error(
      "SELECT Id,CreatedDate,OwnerId,AnnualRevenue,TPI_Product__c,Name,NumberOfEmployees FROM Account"
    )
    #expect(
      error?.message.hasPrefix(
        "\nCreatedDate,OwnerId,AnnualRevenue,TPI_Product__c,Name,NumberOfEmployees\n"
          + "                                  ^\nERROR at Row:1:Column:45\n") == true)
    let second = org.error("SELECT Id\nFROM Account\nWHERE Foo = 1")
    #expect(
      second?.message.hasPrefix("\nWHERE Foo = 1\n      ^\nERROR at Row:3:Column:7\n") == true)
  }

  @Test func `an unknown object is refused`() {
    let error = org.error("SELECT Id FROM Nope__c")
    #expect(error?.code == "INVALID_TYPE")
    #expect(
      error?.message.hasPrefix(
        "\nSELECT Id FROM Nope__c\n               ^\nERROR at Row:1:Column:16\n"
          + "sObject type 'Nope__c' is not supported. If you are attempting to use a custom object, "
      ) == true)
  }

  @Test(arguments: [
    (
      "SELECT Foo.Name FROM Account", "INVALID_FIELD",
      "Didn't understand relationship 'Foo' in field path."
    ),
    ("SELECT Owner.Foo FROM Account", "INVALID_FIELD", "No such column 'Foo' on entity 'User'."),
    ("SELECT Owner.Foo FROM Contact", "INVALID_FIELD", "No such column 'Foo' on entity 'Name'."),
    (
      "SELECT Id, (SELECT Id FROM Foos) FROM Account", "INVALID_TYPE",
      "Didn't understand relationship 'Foos' in FROM part of query call."
    ),
    ("SELECT Id, Name, id FROM Account", "INVALID_FIELD", "duplicate field selected: Id"),
    (
      "SELECT Id FROM Account WHERE Description = 'x'", "INVALID_FIELD",
      "field 'Description' can not be filtered in a query call"
    ),
    (
      "SELECT Id FROM Account WHERE BillingAddress = 'x'", "INVALID_FIELD",
      "field 'BillingAddress' can not be filtered in a query call"
    ),
    (
      "SELECT Id FROM Account ORDER BY Description", "INVALID_FIELD",
      "field 'Description' can not be sorted in a query call"
    ),
    (
      "SELECT Id FROM Account ORDER BY Tags__c", "INVALID_FIELD",
      "field 'Tags__c' can not be sorted in a query call"
    ),
    (
      "SELECT COUNT(Id) FROM Account GROUP BY AnnualRevenue", "INVALID_FIELD",
      "field 'AnnualRevenue' can not be grouped in a query call"
    ),
    ("SELECT SUM(Name) FROM Account", "INVALID_FIELD", "does not support aggregate operator SUM"),
    (
      "SELECT Id FROM Account WHERE Name = 1", "INVALID_FIELD",
      "value of filter criterion for field 'Name' must be of type string and should be enclosed in quotes"
    ),
    (
      "SELECT Id FROM Account WHERE NumberOfEmployees = '1'", "INVALID_FIELD",
      "value of filter criterion for field 'NumberOfEmployees' must be of type int and should not be enclosed in quotes"
    ),
    (
      "SELECT Id FROM Account WHERE AnnualRevenue = '1'", "INVALID_FIELD",
      "must be of type double and should not be enclosed in quotes"
    ),
    (
      "SELECT Id FROM Account WHERE Active__c = 'true'", "INVALID_FIELD",
      "must be of type boolean and should not be enclosed in quotes"
    ),
    (
      "SELECT Id FROM Account WHERE CreatedDate = '2024-01-01'", "INVALID_FIELD",
      "value of filter criterion for field 'CreatedDate' must be of type dateTime and should not be enclosed in quotes"
    ),
    (
      "SELECT Id FROM Account WHERE CreatedDate = 2024-01-01", "INVALID_FIELD",
      "must be of type dateTime"
    ),
    (
      "SELECT Id FROM Account WHERE Founded__c = 2024-01-01T00:00:00Z", "INVALID_FIELD",
      "must be of type date and"
    ),
    ("SELECT Id FROM Account WHERE Opens__c = 5", "INVALID_FIELD", "must be of type time and"),
    ("SELECT Id FROM Account WHERE Name = TODAY", "INVALID_FIELD", "must be of type string"),
    (
      "SELECT Id FROM Account WHERE Id LIKE '001%'", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid operator on id field"
    ),
    (
      "SELECT Id FROM Account WHERE OwnerId LIKE '005%'", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid operator on id field"
    ),
    (
      "SELECT Id FROM Account WHERE Name INCLUDES ('x')", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid operator on string field"
    ),
    (
      "SELECT Id FROM Account WHERE Tags__c LIKE 'x'", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid operator on multipicklist field"
    ),
    (
      "SELECT Id FROM Account WHERE Active__c > true", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid operator on boolean field"
    ),
    (
      "SELECT Id FROM Account WHERE Id = 'abc'", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid ID field: abc"
    ),
    (
      "SELECT Id FROM Account WHERE Id IN ('001000000000001AAB')", "INVALID_QUERY_FILTER_OPERATOR",
      "invalid ID field: 001000000000001AAB"
    ),
    (
      #"SELECT Id FROM Account WHERE Name = 'a\%'"#, "MALFORMED_QUERY",
      "unexpected token: '%'"
    ),
    (
      "SELECT Name n FROM Account", "MALFORMED_QUERY",
      "only aggregate expressions use field aliasing"
    ),
    (
      "SELECT Name, COUNT(Id) FROM Account", "MALFORMED_QUERY",
      "Field must be grouped or aggregated: Name"
    ),
    (
      "SELECT COUNT(Id) FROM Account GROUP BY Name ORDER BY Industry", "MALFORMED_QUERY",
      "Ordered field must be grouped or aggregated: Industry"
    ),
    (
      "SELECT COUNT(Id) FROM Account GROUP BY Name HAVING Industry = 'x'", "MALFORMED_QUERY",
      "Field must be grouped or aggregated: Industry"
    ),
    ("SELECT COUNT(Id) a, MAX(Name) A FROM Account", "MALFORMED_QUERY", "duplicate alias: A"),
    (
      "SELECT Id FROM Account WHERE COUNT(Id) = 1", "MALFORMED_QUERY",
      "aggregate function is not allowed here: COUNT"
    ),
    ("SELECT COUNT(), Id FROM Account", "MALFORMED_QUERY", "unexpected token"),
    ("SELECT UPPERCASE(Name) FROM Account", "MALFORMED_QUERY", "unexpected token: '('"),
    (
      "SELECT FIELDS(ALL) FROM Account", "MALFORMED_QUERY",
      "The SOQL FIELDS function must have a LIMIT of at most 200"
    ),
    (
      "SELECT FIELDS(CUSTOM) FROM Account LIMIT 201", "MALFORMED_QUERY",
      "The SOQL FIELDS function must have a LIMIT of at most 200"
    ),
    (
      "SELECT Name, (SELECT FIELDS(ALL) FROM Contacts) FROM Account LIMIT 5", "MALFORMED_QUERY",
      "The SOQL FIELDS function must have a LIMIT of at most 200"
    ),
    (
      "SELECT FIELDS(ALL), (SELECT Id FROM Contacts LIMIT 5) FROM Account", "MALFORMED_QUERY",
      "The SOQL FIELDS function must have a LIMIT of at most 200"
    ),
    (
      "SELECT Id FROM Account OFFSET 2001", "NUMBER_OUTSIDE_VALID_RANGE",
      "Maximum SOQL offset allowed is 2000"
    ),
    (
      "SELECT Id FROM Account WHERE Name = 'x' OR Id IN (SELECT AccountId FROM Contact)",
      "MALFORMED_QUERY", "Semi join sub-selects are not allowed with the 'OR' operator"
    ),
    (
      "SELECT Id FROM Account WHERE Name = 'x' AND (Name = 'y' OR Id IN (SELECT AccountId FROM Contact))",
      "MALFORMED_QUERY",
      "Semi join sub-selects are only allowed at the top level WHERE expressions and not in nested WHERE expressions."
    ),
    (
      "SELECT Id FROM Account WHERE Name IN (SELECT AccountId FROM Contact)", "MALFORMED_QUERY",
      "The left operand field in the where expression for outer query should be an id field, cannot use: 'Name'"
    ),
    (
      "SELECT Id FROM Account WHERE Id IN (SELECT Id FROM Account)", "MALFORMED_QUERY",
      "The inner and outer selects should not be on the same object type"
    ),
    (
      "SELECT Id FROM Account WHERE Id IN (SELECT OwnerId FROM Contact)", "MALFORMED_QUERY",
      "should point to the same object type"
    ),
    (
      "SELECT COUNT(Id) FROM Account LIMIT 1", "MALFORMED_QUERY",
      "Non-grouped query that uses overall aggregate functions cannot also use LIMIT"
    ),
    (
      "SELECT Id FROM Account, Contact", "MALFORMED_QUERY",
      "A driving SObject type has already been set, all other entity types in the FROM clause must be relationships to the initial object.  The driving object is Account."
    ),
    (
      "SELECT COUNT(toLabel(Name)) FROM Account", "MALFORMED_QUERY",
      "nested functional syntax can only be used in the following manner: date_function(convertTimezone(columnName)): COUNT"
    ),
    ("SELECT Id FROM Account USING SCOPE nobody", "MALFORMED_QUERY", "scope 'nobody'"),
    (
      "SELECT TYPEOF Owner WHEN User THEN Foo END FROM Contact", "INVALID_FIELD",
      "No such column 'Foo' on entity 'User'."
    ),
    (
      "SELECT TYPEOF Owner WHEN Account THEN Name END FROM Contact", "INVALID_TYPE",
      "sObject type 'Account' is not supported."
    ),
    (
      "SELECT TYPEOF Account WHEN Account THEN Name END FROM Contact", "INVALID_FIELD",
      "TYPEOF needs a polymorphic relationship"
    ),
    (
      "SELECT Owner.Name, TYPEOF Owner WHEN User THEN Name END FROM Contact", "INVALID_FIELD",
      "duplicate field selected: Owner"
    ),
    (
      "SELECT Id FROM Account WHERE DISTANCE(Name, GEOLOCATION(1, 2), 'mi') < 1", "INVALID_FIELD",
      "field Name does not support function DISTANCE"
    ),
    (
      "SELECT Id FROM Account WHERE DISTANCE(Place__c, GEOLOCATION(1, 2), 'mi') = 1",
      "INVALID_QUERY_FILTER_OPERATOR", "invalid operator on double field"
    ),
    (
      "SELECT Id FROM Account WHERE Name = USD5", "INVALID_FIELD", "must be of type string"
    ),
    (
      "SELECT Id FROM Account WHERE Id IN (SELECT AccountId FROM Contact) AND ParentId IN (SELECT AccountId FROM Contact) AND OwnerId IN (SELECT OwnerId FROM Contact)",
      "MALFORMED_QUERY", "Maximum 2 semi join sub-selects are allowed"
    ),
    (
      "SELECT Parent.Parent.Parent.Parent.Parent.Parent.Name FROM Account", "MALFORMED_QUERY",
      "at most 5 relationships"
    ),
  ])
  func `a query is refused with its code and message`(query: String, code: String, part: String) {
    let error = org.error(query)
    #expect(error?.code == code)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "accepted")")
    #expect(error?.status == 400)
  }

  @Test func `too much for one statement is said to be so`() throws {
    var condition = "Name = 'x'"
    for level in 0..<80 {
      condition = level % 2 == 0 ? "(Name = 'a' AND \(condition))" : "(Name = 'b' OR \(condition))"
    }
    #expect(org.error("SELECT Id FROM Account WHERE \(condition)")?.code == "QUERY_TOO_COMPLICATED")
  }

  @Test func `what compiles also runs, however deep or long`() throws {
    for inner in ["Name = 'x'", "NOT Name IN ('a', 'b', null)"] {
      for last in [true, false] {
        var condition = inner
        for level in 0..<19 {
          let word = level % 2 == 0 ? "AND" : "OR"
          let leaves = Array(repeating: "Name = 'a'", count: 60).joined(separator: " \(word) ")
          condition =
            last ? "(\(leaves) \(word) \(condition))" : "(\(condition) \(word) \(leaves))"
        }
        _ = try org.rows("SELECT Id FROM Account WHERE \(condition)")
      }
    }
    var nots = "Name = 'x'"
    for _ in 0..<24 { nots = "NOT (Name = 'a' AND \(nots))" }
    _ = try org.rows("SELECT Id FROM Account WHERE \(nots)")
    var tree = "Name = 'x'"
    for level in 0..<9 {
      let word = level % 2 == 0 ? "AND" : "OR"
      tree = "(\(tree) \(word) CALENDAR_YEAR(CreatedDate) = 2024 \(word) \(tree))"
    }
    _ = try org.rows(
      "SELECT Id FROM Account WHERE Id NOT IN (SELECT AccountId FROM Contact WHERE \(tree)) AND \(tree)"
    )
    for word in ["OR", "AND"] {
      let many = Array(repeating: "Name='a'", count: 7500).joined(separator: " \(word) ")
      _ = try org.rows("SELECT Id FROM Account WHERE \(many)")
    }
    let list = (0..<45_000).map { String($0 % 10) }.joined(separator: ",")
    _ = try org.rows("SELECT Id FROM Account WHERE NumberOfEmployees IN (\(list))")
    _ = try org.rows(
      "SELECT Id FROM Account WHERE Name LIKE '\(String(repeating: "a%", count: 2000))'")
  }
}
