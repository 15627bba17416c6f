import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct SearchTests {
  // MARK: Words

  private func finds(_ term: String, in texts: String...) throws -> Bool {
    let expression = try SOSLExpressionParser.parse(term, at: 0, in: SOQLSource(term))
    return SOSLMatcher(expression: expression).matches(texts)
  }

  @Test(arguments: [
    ("acme", "Acme Import", true), ("ACME", "acme", true), ("acm", "Acme", false),
    ("acm*", "Acme", true), ("a*e", "Acme", true), ("ac?e", "Acme", true), ("acm??", "Acme", false),
    ("ac?", "ac", false), ("*cme", "Acme", false), ("*acme", "Acme", true),
    // Words need not be neighbours, phrases do.
    ("import acme", "Acme Big Import", true), ("\"acme import\"", "Acme Big Import", false),
    ("\"acme big\"", "Acme, Big Import", true), ("\"big im*\"", "Acme Big Import", true),
    ("acme and import", "Acme Import", true), ("acme AND nothing", "Acme Import", false),
    ("acme OR nothing", "Acme Import", true), ("acme AND NOT import", "Acme Import", false),
    ("acme AND NOT nothing", "Acme Import", true),
    // AND binds closer than OR.
    ("nothing AND acme OR import", "Acme Import", true),
    ("nothing AND (acme OR import)", "Acme Import", false),
    ("(acme OR nothing) AND (import OR nothing)", "Acme Import", true),
    ("\"and\"", "this and that", true), ("\"or\" that", "this and that", false),
    // Punctuation parts words.
    ("a@b.co", "mail a@b.co now", true), ("a@c.co", "mail a@b.co now", false),
    ("(415) 555-1212", "415.555.1212", true), ("o'neil", "O'Neil", true),
    (#"a\&b"#, "a&b", true), (#"what\?"#, "what now", true),
    ("at&t".replacing("&", with: #"\&"#), "AT&T", true),
    ("émile", "Émile", true), ("emile", "Émile", false),
    // Writing without blanks.
    ("京都", "東京都知事", true), ("京知", "東京都知事", false), ("知", "東京都知事", true),
    ("a b", "b a", true),
  ])
  func `a search term finds texts`(term: String, text: String, expected: Bool) throws {
    #expect(try finds(term, in: text) == expected)
  }

  @Test func `the words of a term may stand in several fields, those of a phrase in one`() throws {
    #expect(try finds("acme berlin", in: "Acme", "Berlin"))
    #expect(try !finds("\"acme berlin\"", in: "Acme", "Berlin"))
  }

  @Test(
    arguments: [
      (
        "FIND {John|jane_gray@uoa.edu} RETURNING Contact",
        "\nFIND {John|jane_gray@uoa.edu} RETURNING Contact\n         ^\nERROR at Row:1:Column:10\n"
          + "line 1:10 mismatched character '|' expecting '}'"
      ),
      (
        "FIND {name} IN ALL TYPE RETURNING Account(name)",
        "\nFIND {name} IN ALL TYPE RETURNING Account(name)\n                  ^\n"
          + "ERROR at Row:1:Column:19\nMalformed search token: TYPE"
      ),
      ("FIND {a}", "search term must be longer than one character: a"),
      ("FIND {}", "search term must be longer than one character: "),
      ("FIND {***}", "search term must be longer than one character: ***"),
      ("FIND name", "No search term found. The search term must be enclosed in braces."),
      (
        "FIND {name",
        "\nFIND {name\n         ^\nERROR at Row:1:Column:10\nline 1:10 mismatched character '<EOF>' expecting '}'"
      ),
      ("SELECT Id FROM Account", nil), ("", nil), ("FIND {(name}", nil), ("FIND {name)}", nil),
      ("FIND {name AND}", nil), ("FIND {name} IN NAME", nil), ("FIND {name} RETURNING", nil),
      ("FIND {name} RETURNING Account(", nil), ("FIND {name} RETURNING Account(Name LIMIT x)", nil),
      ("FIND {name} RETURNING Account((SELECT Id FROM Contacts))", nil),
      ("FIND {name} LIMIT", nil), ("FIND {name} WITH NOTHING", nil), ("FIND {name} extra", nil),
      ("FIND {name} RETURNING Account(COUNT(Id))", nil),
    ] as [(String, String?)])
  func `a search beyond the grammar is refused`(search: String, message: String?) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/search?q=\(PercentEncoding.encode(search))")
    #expect(reply.status == 400, "\(reply.text)")
    #expect(reply.errorCode == "MALFORMED_SEARCH", "\(reply.text)")
    if let message { #expect(reply.message == message) }
  }

  // MARK: Searches

  private func search(
    _ org: OrgUnderTest, _ text: String
  ) async -> (records: [JSONSlice], reply: OrgUnderTest.Reply) {
    let reply = await org.send("GET", "/search?q=\(PercentEncoding.encode(text))")
    return (reply.json?["searchRecords"].map { Array($0.elements) } ?? [], reply)
  }

  private func filled() async throws -> OrgUnderTest {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "Acme", "Phone": "(415) 555-1212", "Industry": "Media"])
    try await org.made("Account", ["Name": "Acme Import", "Website": "https://acme.example"])
    try await org.made("Account", ["Name": "Zoo", "Description": "once bought from Acme"])
    try await org.made(
      "Contact", ["LastName": "Acme", "FirstName": "Ann", "Email": "ann@zoo.example"])
    try await org.made("Contact", ["LastName": "Bo", "Email": "bo@acme.example"])
    let gone = try await org.made("Account", ["Name": "Acme gone"])
    try await org.org.delete("Account", id: gone)
    return org
  }

  @Test func `RETURNING says which objects and fields, in their order`() async throws {
    let org = try await filled()
    let (records, reply) = await search(
      org,
      "FIND {acme} IN ALL FIELDS RETURNING Contact(Name, Email), Account(Name ORDER BY Name DESC)")
    #expect(reply.status == 200, "\(reply.text)")
    #expect(
      records.map { $0["Name"]?.string } == ["Ann Acme", "Bo", "Zoo", "Acme Import", "Acme"])
    #expect(
      records.map { $0["attributes"]?["type"]?.string }
        == ["Contact", "Contact", "Account", "Account", "Account"])
    #expect(records[0]["Email"]?.string == "ann@zoo.example")
    #expect(
      records[0]["attributes"]?["url"]?.string?.hasPrefix("/services/data/v66.0/sobjects/Contact/")
        == true)
    #expect(records[0]["Id"] == nil)
  }

  @Test(
    arguments: [
      ("IN NAME FIELDS RETURNING Account(Name)", ["Acme", "Acme Import"]),
      ("IN EMAIL FIELDS RETURNING Contact(Name)", ["Bo"]),
      ("IN ALL FIELDS RETURNING Account(Name WHERE Industry = 'Media')", ["Acme"]),
      ("RETURNING Account(Name LIMIT 1)", ["Acme"]),
      ("RETURNING Account(Name ORDER BY Name LIMIT 1 OFFSET 1)", ["Acme Import"]),
      ("RETURNING Account(Name LIMIT 0)", []),
      // What the name says comes first.
      ("RETURNING Account(Name)", ["Acme", "Acme Import", "Zoo"]),
      (
        "IN SIDEBAR FIELDS RETURNING Account(Name), Contact(Name)",
        ["Acme", "Acme Import", "Ann Acme", "Bo"]
      ),
      // A limit of the whole is shared evenly; what an object does not need is for the others.
      (
        "RETURNING Account(Name), Contact(Name) LIMIT 4", ["Acme", "Acme Import", "Ann Acme", "Bo"]
      ),
      (
        "RETURNING Account(Name), Contact(Name WHERE LastName = 'Bo') LIMIT 3",
        ["Acme", "Acme Import", "Bo"]
      ),
      ("RETURNING Account(Name LIMIT 1), Contact(Name) LIMIT 2", ["Acme", "Ann Acme"]),
      (
        "RETURNING Account(Name USING SCOPE mine) UPDATE TRACKING, VIEWSTAT",
        ["Acme", "Acme Import", "Zoo"]
      ),
      (
        "RETURNING Account(toLabel(Industry), Name WHERE Name = 'Acme') WITH SNIPPET(target_length=120) WITH NETWORK = 'x'",
        ["Acme"]
      ),
    ] as [(String, [String])])
  func `a search has groups, clauses and limits`(clauses: String, names: [String]) async throws {
    let org = try await filled()
    let (records, reply) = await search(org, "FIND {acme} \(clauses)")
    #expect(reply.status == 200, "\(reply.text)")
    #expect(records.compactMap { $0["Name"]?.string } == names)
  }

  @Test func `without RETURNING the ids of all objects are found`() async throws {
    let org = try await filled()
    let (records, _) = await search(org, "FIND {acme}")
    #expect(records.count == 5)
    #expect(records.allSatisfy { $0["Id"]?.string?.count == 18 })
    let (phones, _) = await search(org, "FIND {(415)} IN PHONE FIELDS RETURNING Account")
    #expect(phones.count == 1)
  }

  @Test func `labels come with the records on request`() async throws {
    let org = try await filled()
    let (_, reply) = await search(
      org, "FIND {acme} RETURNING Account(Id, Phone) WITH METADATA='LABELS'")
    let entity = reply.json?["metadata"]?["entityMetadata"]?[0]
    #expect(entity?["entityName"]?.string == "Account")
    #expect(entity?["fieldMetadata"]?[1]?["name"]?.string == "Phone")
    #expect(entity?["fieldMetadata"]?[1]?["label"]?.string != nil)
  }

  @Test func `unknown objects and fields have the errors of queries`() async throws {
    let org = try OrgUnderTest()
    #expect(await search(org, "FIND {acme} RETURNING Nope").reply.errorCode == "INVALID_TYPE")
    let field = await search(org, "FIND {acme} RETURNING Account(Nope)").reply
    #expect(field.errorCode == "INVALID_FIELD")
    #expect(field.message?.contains("ERROR at Row:1:Column:31") == true, "\(field.text)")
    #expect(
      await search(org, "FIND {acme} RETURNING Organization").reply.errorCode == "INVALID_TYPE")
  }

  @Test func `a search of 2,000 finds no more`() async throws {
    let org = try OrgUnderTest()
    try await org.org.generate("Account", count: 2100)
    let (records, _) = await search(
      org, "FIND {a* OR b* OR c* OR d* OR e* OR n*} RETURNING Account")
    #expect(records.count <= 2000)
    let (none, _) = await search(
      org, "FIND {\(String(repeating: "word ", count: 2100))} RETURNING Account")
    #expect(none.isEmpty)
  }

  // MARK: Parameters

  @Test func `parameters of the URL say the same`() async throws {
    let org = try await filled()
    let reply = await org.send(
      "GET",
      "/parameterizedSearch?q=acme&sobject=Account&sobject=Contact&Account.fields=Id,Name"
        + "&Account.limit=1&Contact.fields=Name&Contact.where=Email+LIKE+'bo%25'&in=ALL&overallLimit=10"
    )
    #expect(reply.status == 200, "\(reply.text)")
    #expect(
      reply.json?["searchRecords"]?.elements.map { $0["Name"]?.string } == ["Acme", "Bo"])
    let plain = await org.send("GET", "/parameterizedSearch?q=acme")
    #expect(plain.json?["searchRecords"]?.count == 5)
  }

  @Test func `a body of JSON says the same`() async throws {
    let org = try await filled()
    let reply = await org.send(
      "POST", "/parameterizedSearch",
      """
      {"q": "acme", "in": "NAME", "fields": ["Name"], "defaultLimit": 1, "overallLimit": 5,
       "sobjects": [{"name": "Account", "fields": ["Name", "Phone"], "orderBy": "Name DESC"},
                    {"name": "Contact"}]}
      """)
    #expect(reply.status == 200, "\(reply.text)")
    #expect(
      reply.json?["searchRecords"]?.elements.map { $0["Name"]?.string }
        == ["Acme Import", "Ann Acme"])
  }

  @Test(arguments: [
    ("", "MALFORMED_SEARCH"), ("q=", "MALFORMED_SEARCH"), ("q=acme&in=NOWHERE", "INVALID_SEARCH"),
    ("q=acme&overallLimit=x", "INVALID_SEARCH"), ("q=acme&sobject=Nope", "INVALID_TYPE"),
    ("q=acme&sobject=Account&Account.fields=Nope", "INVALID_FIELD"),
    ("q=acme&sobject=Account&Account.where=x", "MALFORMED_SEARCH"),
  ])
  func `wrong parameters are refused`(parameters: String, code: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/parameterizedSearch?\(parameters)")
    #expect(reply.status == 400)
    #expect(reply.errorCode == code, "\(reply.text)")
  }
}
