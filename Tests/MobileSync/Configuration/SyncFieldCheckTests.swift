import MobileSync
import SalesforceSDKCommon
import StandardSyncTargets
import Testing

/// Does a file of syncs name the fields that stand in only one of its lists?
@Suite struct SyncFieldCheckTests {
  /// A sync in a file.
  private struct Sync: Sendable {
    var soup = "accounts"
    let target: JSONObject
    var fieldlist: [String]?

    static func down(_ fields: String, soup: String = "accounts") -> Sync {
      Sync(
        soup: soup,
        target: ["type": "soql", "query": .string("select \(fields) from Account a")])
    }

    static func up(_ fields: [String]?, target: JSONObject = [:], soup: String = "accounts") -> Sync
    {
      Sync(soup: soup, target: target, fieldlist: fields)
    }

    func json(_ number: Int) -> JSONValue {
      [
        "syncName": .string("sync \(number)"),
        "syncType": target["query"] != nil || target["parentFieldlist"] != nil
          ? "syncDown" : "syncUp",
        "soupName": .string(soup), "target": .object(target),
        "options": fieldlist.map { ["fieldlist": .array($0.map { .string($0) })] } ?? [:],
      ]
    }
  }

  /// The problems of a file with these syncs: code, place and the fields in quotes.
  private func problems(_ syncs: [Sync]) throws -> [String] {
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let file: JSONValue = ["syncs": .array(syncs.enumerated().map { $1.json($0) })]
    let config = SyncsConfig(parsing: Array(file.text.utf8), file: "f.json", registry: registry)
    #expect(config.entries.count == syncs.count)
    return config.problems.map { problem in
      #expect(problem.isWarning)
      let names = problem.message.matches(of: /'([^']+)'/).map { String($0.output.1) }.dropFirst()
      return "\(problem.code) \(problem.path) \(names.joined(separator: ","))"
    }
  }

  @Test
  func `a misspelled field is named on both sides`() throws {
    #expect(
      try problems([.down("Id, Name, Phone"), .up(["Name", "Phon"])])
        == ["fieldNotDownloaded syncs[1] Phon", "fieldNotSent syncs[1] Phone"])
  }

  @Test
  func `qualified names, ids, dates and fields of other records say nothing`() throws {
    #expect(
      try problems([
        .down("a.Id, Name, a.Phone, CreatedDate, LastModifiedDate, Owner.Name"),
        .up(["Name", "Phone"]),
      ]).isEmpty)
  }

  @Test
  func `a field in other letters than the query has it is named with those of the query`() throws {
    #expect(
      try problems([.down("Name, a.Phone"), .up(["name", "PHONE"])])
        == ["fieldInOtherCase syncs[1] Name,name,Phone,PHONE"])
    let lists: JSONObject = ["createFieldlist": ["name"], "updateFieldlist": ["Name"]]
    #expect(
      try problems([.down("Name"), .up(nil, target: lists)])
        == ["fieldInOtherCase syncs[1] Name,name"])
  }

  @Test
  func `FIELDS(ALL) counts as every field, and FIELDS(CUSTOM) and FIELDS(STANDARD) as the others`()
    throws
  {
    for group in ["FIELDS(ALL)", "fields( all )", "FIELDS(STANDARD), FIELDS(CUSTOM)"] {
      #expect(try problems([.down(group), .up(["Phone", "Key__c"])]).isEmpty)
    }
    #expect(
      try problems([.down("Name, Rating"), .down("FIELDS(ALL)"), .up(["Name", "Phon"])])
        == ["fieldNotSent syncs[2] Rating"])
  }

  @Test
  func `each action's list counts: what only a create sends is no edit`() throws {
    let lists: JSONObject = ["createFieldlist": ["Name", "Rating"], "updateFieldlist": ["Name"]]
    #expect(
      try problems([.down("Name, Rating"), .up(nil, target: lists)])
        == ["fieldNotSent syncs[1] Rating"])
  }

  @Test
  func `the lists of all syncs of a soup count together`() throws {
    #expect(
      try problems([
        .down("Name, Phone"), .down("Name, Rating"), .up(["Name", "Phone"]), .up(["Rating"]),
      ]).isEmpty)
    #expect(
      try problems([.down("Name"), .up(["Name", "Fax"]), .down("Fax", soup: "others")])
        == ["fieldNotDownloaded syncs[1] Fax"])
  }

  @Test
  func `nothing is said where a side is missing, or its fields are not known`() throws {
    #expect(try problems([.down("Name, Phone")]).isEmpty)
    #expect(try problems([.up(["Name", "Phone"])]).isEmpty)
    #expect(try problems([.down("Name, FORMAT(Amount)"), .up(["Phone"])]).isEmpty)
    #expect(try problems([.down("FIELDS(ALL)"), .up(["Phone"])]).isEmpty)
  }

  @Test
  func `the external id may be sent alone`() throws {
    #expect(
      try problems([
        .down("Name"), .up(["Name", "Key__c"], target: ["externalIdFieldName": "Key__c"]),
      ]).isEmpty)
  }

  @Test
  func `parents and children of trees have lists of their own`() throws {
    let tree: JSONObject = [
      "type": "parent_children", "relationshipType": "LOOKUP",
      "parent": ["sobjectType": "Account", "soupName": "accounts"],
      "children": [
        "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts",
        "parentIdFieldName": "AccountId",
      ],
    ]
    var down = tree
    down["parentFieldlist"] = ["Name", "Phone"]
    down["parentSoqlFilter"] = ""
    down["childrenFieldlist"] = ["LastName", "AccountId", "Email"]
    var up = tree
    for list in ["createFieldlist", "updateFieldlist"] { up[list] = ["Name", "Phone"] }
    for list in ["childrenCreateFieldlist", "childrenUpdateFieldlist"] {
      up[list] = ["LastName", "Fax"]
    }
    #expect(
      try problems([Sync(target: down), Sync(target: up)])
        == ["fieldNotDownloaded syncs[1] Fax", "fieldNotSent syncs[1] Email"])
  }
}
