import MobileSync
import Testing
import TestSupport

@Suite struct SOQLMutatorTests {
  @Test(.covers("MS-112"))
  func `a predicate goes in front of the condition and the rest stays`() {
    var query = SOQLMutator("SELECT Id FROM Account WHERE Name = 'John' LIMIT 100")
    query.addWherePredicates("LastModifiedDate > 2015-02-05T21:12:03.956+0000")
    #expect(
      query.soql
        == "select Id from Account where LastModifiedDate > 2015-02-05T21:12:03.956+0000 and Name = 'John' limit 100"
    )
  }

  @Test(.covers("MS-286"))
  func `a predicate becomes the condition where there is none`() {
    var query = SOQLMutator("select Id from Account order by Name")
    query.addWherePredicates("Name = 'x'")
    #expect(query.soql == "select Id from Account where Name = 'x' order by Name")
  }

  @Test(.covers("MS-286"))
  func `the mutator itself never adds parentheses`() {
    var query = SOQLMutator("select Id from Account where A = 1 or B = 2")
    query.addWherePredicates("C = 3")
    #expect(query.soql == "select Id from Account where C = 3 and A = 1 or B = 2")
  }

  @Test(
    .covers("MS-113"),
    arguments: [
      ("A = 1 or B = 2", true), ("A = 1 OR B = 2", true), ("(A = 1 or B = 2)", false),
      ("A = ' or '", false), ("A = 1 and B = 2", false), ("Oregon = 1", false),
      ("(A = 1)or(B = 2)", true), ("A = 'x'or B = 2", true),
    ])
  func `an or counts outside parentheses and quotes only`(
    condition: String, expected: Bool
  ) {
    var query = SOQLMutator("select Id from T where \(condition)")
    #expect(query.hasAlternatives == expected)
    query.parenthesiseAlternatives()
    #expect(
      query.soql == "select Id from T where \(expected ? "(\(condition))" : condition)")
  }

  @Test(.covers("MS-285"))
  func `fields are added in front or replaced`() {
    var query = SOQLMutator("select A, B from T")
    query.addSelectFields("Id")
    #expect(query.soql == "select Id,A, B from T")
    query.replaceSelectFields("C")
    #expect(query.soql == "select C from T")
  }

  @Test(.covers("MS-287"))
  func `an order is set or removed`() {
    var query = SOQLMutator("select A from T order by B limit 5")
    query.replaceOrderBy("C desc")
    #expect(query.soql == "select A from T order by C desc limit 5")
    query.replaceOrderBy("")
    #expect(query.soql == "select A from T limit 5")
    #expect(!query.hasOrderBy)
  }

  @Test(
    .covers("MS-288"),
    arguments: [
      "select Id from Account",
      "select Id, Name, (select Id from Contacts where Name = 'x' order by Name) from Account where (A = 1 or B = '\\'') and C in (select X from Y) group by D having count(Id) > 1 order by E desc nulls last limit 10 offset 20",
      "select Id from Account using scope Mine where A = 1 with SECURITY_ENFORCED order by B limit 1",
      "select Id from Account order by B limit 1 for view",
      "select Id from Account where A = 1 all rows",
    ])
  func `a query in the built form comes back byte for byte`(soql: String) {
    #expect(SOQLMutator(soql).soql == soql)
  }

  @Test(.covers("MS-288"))
  func `keywords become lower case, blanks single, and limits of 0 disappear`() {
    #expect(
      SOQLMutator("  SELECT  Id,  Name \n FROM\tAccount   WHERE A  =  1 LIMIT 0 OFFSET x").soql
        == "select Id,  Name from Account where A  =  1")
  }

  @Test(.covers("MS-279"))
  func `tabs and line breaks are blanks`() {
    #expect(
      SOQLMutator("select Id\nfrom Account\r\nwhere A = 1").soql
        == "select Id from Account where A = 1")
  }

  @Test(.covers("MS-281"))
  func `words before the first keyword are dropped and keywords have any case`() {
    #expect(
      SOQLMutator("please SeLeCt Id FrOm T OrDeR   bY A").soql
        == "select Id from T order by A")
  }

  @Test(.covers("MS-282"))
  func `an order by is put before the clauses that must follow it`() {
    var query = SOQLMutator("select Id from T where A = 1 FOR VIEW ALL ROWS")
    query.replaceOrderBy("B")
    #expect(query.soql == "select Id from T where A = 1 order by B FOR VIEW ALL ROWS")
    query = SOQLMutator("select Id from T using scope mine with SECURITY_ENFORCED")
    query.addWherePredicates("A = 1")
    #expect(query.soql == "select Id from T using scope mine where A = 1 with SECURITY_ENFORCED")
  }

  @Test(
    .covers("MS-283"),
    arguments: [
      ("Id", true), ("Name", true), ("name", true), ("Nam", false), ("Account.Name", true),
      ("Hidden", false), ("n", false), ("Amount", true), ("From_customer__c", true),
    ])
  func `a selected field is a whole entry of the top-level list`(
    field: String, expected: Bool
  ) {
    let query = SOQLMutator(
      "select Id,Name n , Account.Name, (select Hidden from Kids), Amount\n, From_customer__c from T"
    )
    #expect(query.isSelectingField(field) == expected)
  }

  @Test(
    .covers("MS-283"),
    arguments: [
      ("select id,NAME from Contact", true), ("select Contact.Id from Contact", true),
      ("select contact.ID from Contact", true), ("select c.Id from Contact c", true),
      ("select C.id from Contact as c", true), ("select c.Id from Contact c, c.Account a", true),
      ("select Account.Id from Contact", false), ("select a.Id from Contact c, c.Account a", false),
      ("select Account.Id from Contact c", false), ("select Identity from Contact", false),
    ])
  func `names compare as the server compares them, with the object or its alias in front`(
    soql: String, selectsId: Bool
  ) {
    let query = SOQLMutator(soql)
    #expect(query.isSelectingField("Id") == selectsId)
    #expect(query.isSelectingField("iD") == selectsId)
    #expect(query.selectedFields?.contains { $0.lowercased() == "id" } == selectsId)
  }

  @Test(.covers("MS-284"))
  func `an order is found by names as the server compares them`() {
    for soql in [
      "select Id from T order by lastmodifieddate",
      "select Id from T t order by t.LastModifiedDate",
      "select Id from T order by T.LASTMODIFIEDDATE",
    ] {
      #expect(SOQLMutator(soql).isOrderingBy("LastModifiedDate"), "\(soql)")
    }
    #expect(!SOQLMutator("select Id from T order by A desc").isOrderingBy("A"))
    #expect(!SOQLMutator("select Id from T order by B.A").isOrderingBy("A"))
  }

  @Test(.covers("MS-284"))
  func `an order inside a sub-query or a quoted text does not count`() {
    #expect(!SOQLMutator("select Id, (select A from B order by C) from T").hasOrderBy)
    #expect(!SOQLMutator("select Id from T where A = 'order by B'").hasOrderBy)
    let query = SOQLMutator("select Id from T ORDER  BY  A , B")
    #expect(query.isOrderingBy("A,B"))
    #expect(!query.isOrderingBy("A"))
  }

  @Test(.covers("MS-116"))
  func `fields called like keywords and sub-selects are carried through`() {
    let soql =
      "select From_customer__c, Limit, (select Id from Contacts where LastName = 'where') from Account where Where_c__c = 1"
    #expect(SOQLMutator(soql).soql == soql)
  }

  @Test func `a field of FIELDS() is selected, and no second time`() {
    for (list, custom, standard) in [
      ("FIELDS(ALL)", true, true), ("fields( standard )", false, true),
      ("FIELDS(CUSTOM)", true, false),
      ("Name, FIELDS(CUSTOM)", true, true),
    ] {
      let query = SOQLMutator("select \(list) from Account a limit 200")
      #expect(query.isSelectingField("Key__c") == custom, "\(list)")
      #expect(query.isSelectingField("a.Name") == standard, "\(list)")
      #expect(!query.isSelectingField("Owner.Name"), "\(list)")
    }
    let query = SOQLMutator("select Name, FIELDS(CUSTOM) from Account")
    #expect(query.selectedFieldsAndGroups == ["Name", "FIELDS(CUSTOM)"])
    #expect(query.selectedFields == nil)
    for list in ["Name, (select Id from Contacts)", "FORMAT(Amount), FIELDS(ALL)", "count(Id)"] {
      #expect(SOQLMutator("select \(list) from Account").selectedFieldsAndGroups == nil)
    }
  }
}
