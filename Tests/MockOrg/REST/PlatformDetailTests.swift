import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// Details of the platform's responses that clients of other authors depend on.
@Suite struct PlatformDetailTests {
  // MARK: Describes

  @Test(arguments: [
    "/sobjects/Contact/describe", "/sobjects", "/sobjects/Contact/describe/layouts",
  ])
  func `a describe has a tag, and who names the tag gets 304`(path: String) async throws {
    let org = try OrgUnderTest()
    let first = await org.send("GET", path)
    let tag = try #require(first.header("ETag"))
    #expect(tag.count == 10 && tag.hasPrefix("\"") && tag.hasSuffix("\""))
    let again = await org.send("GET", path, headers: ["if-none-match": tag])
    #expect(again.status == 304)
    #expect(again.text == "")
    #expect(again.header("ETag") == tag)
    #expect(await org.send("GET", path, headers: ["if-none-match": "\"other\""]).status == 200)
  }

  @Test func `a describe inside a composite request has a tag and can be 304`() async throws {
    let org = try OrgUnderTest()
    func composite(_ headers: String) async -> JSONSlice? {
      await org.send(
        "POST", "/composite",
        #"{"compositeRequest":[{"method":"GET","url":"/services/data/v66.0/sobjects/Account/describe","#
          + #""referenceId":"a","httpHeaders":\#(headers)}]}"#
      ).json?["compositeResponse"]?[0]
    }
    let first = try #require(await composite("{}"))
    let tag = try #require(first["httpHeaders"]?["ETag"]?.string)
    let again = try #require(
      await composite(JSONValue.object(["If-None-Match": .string(tag)]).text))
    #expect(again["httpStatusCode"]?.int64 == 304)
    #expect(again["body"]?.isNull == true)
    #expect(first["body"]?["name"]?.string == "Account")
  }

  @Test(arguments: ["If-None-Match", "If-Modified-Since"], [false, true])
  func `a composite request goes on after a record that has not changed`(
    header: String, allOrNone: Bool
  ) async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "old"])
    let record = await org.send("GET", "/sobjects/Account/\(id)")
    let value = try #require(record.header(header == "If-None-Match" ? "ETag" : "Last-Modified"))
    func steps(_ first: JSONValue) -> JSONValue {
      [
        first,
        [
          "method": "POST", "url": "/services/data/v66.0/sobjects/Account", "referenceId": "made",
          "body": ["Name": "new"],
        ],
      ]
    }
    let get: JSONValue = [
      "method": "GET", "url": .string("/services/data/v66.0/sobjects/Account/\(id)"),
      "referenceId": "read", "httpHeaders": .object([header: .string(value)]),
    ]
    let body: JSONValue = ["allOrNone": .bool(allOrNone), "compositeRequest": steps(get)]
    let reply = await org.send("POST", "/composite", body.text)
    let results = try #require(reply.json?["compositeResponse"])
    #expect(results[0]?["httpStatusCode"]?.int64 == 304)
    #expect(results[0]?["body"]?.isNull == true)
    #expect(results[1]?["httpStatusCode"]?.int64 == 201, "\(reply.text)")
    #expect(try await org.org.count("Account") == 2)

    let graph: JSONValue = ["graphs": [["graphId": "g", "compositeRequest": steps(get)]]]
    let graphs = await org.send("POST", "/composite/graph", graph.text)
    #expect(graphs.json?["graphs"]?[0]?["isSuccessful"]?.bool == true, "\(graphs.text)")
    #expect(try await org.org.count("Account") == 3)
  }

  @Test func `a describe lists the members of interfaces, scopes and extra types`() async throws {
    let org = try OrgUnderTest()
    let contact = try #require(await org.send("GET", "/sobjects/Contact/describe").json)
    for member in [
      "associateEntityType", "associateParentEntity", "defaultImplementation", "extendedBy",
      "extendsInterfaces", "implementedBy", "implementsInterfaces",
    ] { #expect(contact[member]?.isNull == true, "\(member)") }
    let scopes = contact["supportedScopes"]?.elements.compactMap { $0["name"]?.string }
    #expect(scopes == ["everything", "mine", "scopingRule", "team"])
    let types = Dictionary(
      uniqueKeysWithValues: try #require(contact["fields"]).elements.map {
        ($0["name"]?.string ?? "", $0["extraTypeInfo"]?.string)
      })
    #expect(types["LastName"] == "personname")
    #expect(types["Name"] == "personname")
    #expect(types["Salutation"] == "personname")
    #expect(types["Description"] == "plaintextarea")
    #expect(types["Email"] == .some(String?.none))
    let account = try #require(await org.send("GET", "/sobjects/Account/describe").json)
    let name = account["fields"]?.elements.first { $0["name"]?.string == "Name" }
    #expect(name?["extraTypeInfo"]?.string == "switchablepersonname")
    let global = await org.send("GET", "/sobjects").json?["sobjects"]?[0]
    #expect(global?["associateEntityType"]?.isNull == true)
    #expect(global?["associateParentEntity"]?.isNull == true)
  }

  // MARK: Records

  @Test func `a deleted record is not there for who reads it, and deleted for who changes it`()
    async throws
  {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    try await org.org.delete("Account", id: id)
    for path in ["/sobjects/Account/\(id)", "/sobjects/Account/\(id)/Contacts"] {
      let read = await org.send("GET", path)
      #expect(read.status == 404)
      #expect(read.errorCode == "NOT_FOUND")
      #expect(read.message == "The requested resource does not exist")
    }
    for (method, body) in [("PATCH", #"{"Name":"y"}"#), ("DELETE", nil)] {
      let reply = await org.send(method, "/sobjects/Account/\(id)", body)
      #expect(reply.status == 404)
      #expect(reply.errorCode == "ENTITY_IS_DELETED")
    }
  }

  @Test(arguments: ["Id", "id"])
  func `a record can be created at its id field`(field: String) async throws {
    let org = try OrgUnderTest()
    for path in ["/sobjects/Account/\(field)/", "/sobjects/Account/\(field)"] {
      let reply = await org.send("POST", path, #"{"Name":"x"}"#)
      #expect(reply.status == 201, "\(path)")
      #expect(reply.json?["success"]?.bool == true)
    }
  }

  @Test func `attachments and documents know the length of their bodies`() async throws {
    let org = try OrgUnderTest()
    let parent = try await org.made("Account", ["Name": "x"])
    for length in 0...7 {
      let body = Data((0..<length).map { UInt8($0) }).base64EncodedString()
      let reply = await org.send(
        "POST", "/sobjects/Attachment",
        JSONValue.object([
          "ParentId": .string(parent), "Name": "a", "Body": .string(length == 0 ? "AA==" : body),
        ]).text)
      let made = await org.send("GET", "/sobjects/Attachment/\(reply.id)")
      #expect(made.json?["BodyLength"]?.int64 == Int64(max(length, 1)), "\(made.text)")
    }
  }

  @Test func `a version of a file names the address of its content, which a session can read`()
    async throws
  {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/sobjects/ContentVersion",
      #"{"Title":"a","PathOnClient":"a.txt","VersionData":"aGVsbG8="}"#)
    let version = await org.send("GET", "/sobjects/ContentVersion/\(reply.id)")
    let address = try #require(version.json?["VersionDataUrl"]?.string)
    #expect(address.hasPrefix("http://127.0.0.1:1/"))
    let path = String(address.dropFirst("http://127.0.0.1:1".count))
    let content = await org.raw("GET", path, headers: ["authorization": "Bearer \(org.token)"])
    #expect(content.text == "hello")
    #expect(await org.raw("GET", path).status == 401)
    let nowhere = await org.raw(
      "GET", path.dropLast(18) + "068000000000000AAA",
      headers: ["authorization": "Bearer \(org.token)"])
    #expect(nowhere.status == 404)
  }

  @Test func `a content can be read in ranges, and a range behind its end is refused`() async throws
  {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/sobjects/ContentVersion",
      #"{"Title":"a","PathOnClient":"a.txt","VersionData":"aGVsbG8="}"#)
    let path = "/sobjects/ContentVersion/\(reply.id)/VersionData"
    let ranges = [
      "bytes=1-": "ello", "bytes=1-2": "el", "bytes=0-0": "h", "bytes=3-99": "lo",
      "bytes=0-": "hello",
    ]
    for (range, text) in ranges {
      let part = await org.send("GET", path, headers: ["range": range])
      #expect(part.status == 206 && part.text == text, "\(range): \(part.text)")
    }
    for other in ["bytes=-2", "bytes=1-2,4-4", "bytes=2-1", "lines=1-2", "bytes=", "bytes=a-b"] {
      let whole = await org.send("GET", path, headers: ["range": other])
      #expect(whole.status == 200 && whole.text == "hello", "\(other): \(whole.text)")
    }
    #expect(await org.send("GET", path, headers: ["range": "bytes=5-"]).status == 416)
  }

  // MARK: The org

  @Test func `the organization says whether it is a sandbox, and has its usual settings`()
    async throws
  {
    let org = try OrgUnderTest { $0.isSandbox = true }
    let names = await org.send("GET", "/sobjects/Organization/describe").json?["fields"]?.elements
      .compactMap { $0["name"]?.string }
    #expect(
      Set(names ?? []).isSuperset(of: ["DefaultAccountAccess", "UiSkin", "ComplianceBccEmail"]))
    let query =
      "SELECT IsSandbox, DefaultLeadAccess, PreferencesLightningLoginEnabled FROM Organization"
    let record = await org.query(query).json?["records"]?[0]
    #expect(record?["IsSandbox"]?.bool == true)
    #expect(record?["DefaultLeadAccess"]?.string == "ReadEditTransfer")
    #expect(record?["PreferencesLightningLoginEnabled"]?.bool == true)
    let usual = try OrgUnderTest()
    let other = await usual.query("SELECT IsSandbox, IsReadOnly FROM Organization")
    #expect(other.json?["records"]?[0]?["IsSandbox"]?.bool == false)
    #expect(other.json?["records"]?[0]?["IsReadOnly"]?.bool == false)
  }

  @Test func `a user's password is set and reset over REST`() async throws {
    let org = try OrgUnderTest()
    let path = "/sobjects/User/\(org.org.userID)/password"
    func login(_ password: String) async -> Int {
      await org.raw(
        "POST", "/services/oauth2/token",
        "grant_type=password&client_id=app&username=\(org.org.options.user.username)&password=\(password)"
      ).status
    }
    #expect(await org.send("GET", path).json?["isExpired"]?.bool == false)
    #expect(
      await org.send("POST", path, #"{"NewPassword":"short"}"#).errorCode == "INVALID_NEW_PASSWORD")
    #expect(await login("fieldforce1") == 200)
    #expect(await org.send("POST", path, #"{"NewPassword":"longer123"}"#).status == 204)
    #expect(await login("fieldforce1") == 400)
    #expect(await login("longer123") == 200)
    let reset = await org.send("DELETE", path)
    let password = try #require(reset.json?["NewPassword"]?.string, "\(reset.text)")
    #expect(await login("longer123") == 400)
    #expect(await login(password) == 200)
    #expect(await org.send("GET", "/sobjects/User/005000000000009AAA/password").status == 404)
  }

  @Test func `business hours and scheduled jobs can be queried`() async throws {
    let org = try OrgUnderTest()
    let hours = await org.query(
      "SELECT Name, IsDefault, MondayStartTime FROM BusinessHours WHERE IsActive = true")
    #expect(hours.json?["records"]?[0]?["IsDefault"]?.bool == true)
    #expect(hours.json?["records"]?[0]?["MondayStartTime"]?.string == "00:00:00.000Z")
    let note = try await org.made("ApexEmailNotification", ["UserId": .string(org.org.userID)])
    let notes = await org.query("SELECT Id, User.Username, Email FROM ApexEmailNotification")
    #expect(notes.json?["records"]?[0]?["Id"]?.string == note, "\(notes.text)")
    let twice = await org.send(
      "POST", "/sobjects/ApexEmailNotification", #"{"UserId":"\#(org.org.userID)"}"#)
    #expect(twice.errorCode == "DUPLICATE_VALUE", "\(twice.text)")
    #expect(await org.send("DELETE", "/sobjects/ApexEmailNotification/\(note)").status == 204)
    let jobs = await org.query("SELECT Id, CronJobDetail.Name, State FROM CronTrigger")
    #expect(jobs.json?["totalSize"]?.int64 == 0, "\(jobs.text)")
  }

  @Test func `responses name how many requests are used, of Apex endpoints too`() async throws {
    let org = try OrgUnderTest()
    org.org.setApexEndpoint("Ping") { _, _ in MockOrgApexResponse(json: "pong") }
    for path in [
      "/services/data/v66.0/limits", "/services/data/v66.0/sobjects/Nothing",
      "/services/apexrest/Ping",
    ] {
      let reply = await org.raw("GET", path, headers: ["authorization": "Bearer \(org.token)"])
      #expect(reply.header("Sforce-Limit-Info")?.hasPrefix("api-usage=") == true, "\(path)")
    }
  }

  // MARK: Queries

  @Test func `the scopes of a query are those that the platform knows`() async throws {
    let org = try OrgUnderTest()
    _ = try await org.made("Account", ["Name": "mine"])
    let viewed = try await org.made("Account", ["Name": "viewed"])
    #expect(await org.send("GET", "/sobjects/Account/\(viewed)").status == 200)
    func names(_ scope: String) async -> [String?] {
      await org.query("SELECT Name FROM Account USING SCOPE \(scope) ORDER BY Name").json?[
        "records"]?
        .elements.map { $0["Name"]?.string } ?? [nil]
    }
    for scope in ["everything", "mine", "team", "scopingRule", "Team"] {
      #expect(await names(scope) == ["mine", "viewed"], "\(scope)")
    }
    #expect(await names("mru") == ["viewed"])
    #expect(await names("my_territory") == [])
    #expect(await names("my_team_territory") == [])
    #expect(
      await org.query("SELECT Id FROM Case USING SCOPE my_territory").errorCode == "MALFORMED_QUERY"
    )
  }

  @Test func `the scope of a user and their groups is that of approval requests`() async throws {
    let org = try OrgUnderTest()
    let account = try await org.made("Account", ["Name": "a"])
    let process = try await org.made("ProcessInstance", ["TargetObjectId": .string(account)])
    var groups: [String] = []
    for name in ["Mine", "Others"] {
      groups.append(try await org.made("Group", ["Name": .string(name), "Type": "Queue"]))
    }
    _ = try await org.made(
      "GroupMember",
      ["GroupId": .string(groups[0]), "UserOrGroupId": .string(org.org.userID)])
    var items: [String] = []
    for actor in [org.org.userID] + groups {
      items.append(
        try await org.made(
          "ProcessInstanceWorkitem",
          [
            "ProcessInstanceId": .string(process), "ActorId": .string(actor),
            "OriginalActorId": .string(actor),
          ]))
    }
    let found = await org.query(
      "SELECT Id FROM ProcessInstanceWorkitem USING SCOPE Mine_And_My_Groups ORDER BY Id")
    #expect(
      found.json?["records"]?.elements.map { $0["Id"]?.string } == Array(items.prefix(2)),
      "\(found.text)")
    let describe = await org.send("GET", "/sobjects/ProcessInstanceWorkitem/describe")
    #expect(
      describe.json?["supportedScopes"]?.elements.map { $0["name"]?.string }
        == ["everything", "mine_and_my_groups"])
    #expect(
      await org.query("SELECT Id FROM Case USING SCOPE mine_and_my_groups").errorCode
        == "MALFORMED_QUERY")
  }

  @Test func `a sub-query may select the parents of a polymorphic id, custom ones too`()
    async throws
  {
    let org = try OrgUnderTest()
    try await load(["Visit__c": #"[{"name":"Name","type":"string","nameField":true}]"#], org)
    let account = try await org.made("Account", ["Name": "a"])
    let visit = try await org.made("Visit__c", ["Name": "v"])
    for (parent, name) in [(account, "of account"), (visit, "of visit")] {
      _ = try await org.made(
        "Attachment", ["ParentId": .string(parent), "Name": .string(name), "Body": "eA=="])
      _ = try await org.made("Note", ["ParentId": .string(parent), "Title": .string(name)])
    }
    for (query, expected) in [
      ("SELECT Name FROM Attachment WHERE ParentId IN (SELECT Id FROM Account)", ["of account"]),
      ("SELECT Name FROM Attachment WHERE ParentId IN (SELECT Id FROM Visit__c)", ["of visit"]),
      (
        "SELECT Name FROM Attachment WHERE ParentId NOT IN (SELECT Id FROM Visit__c)",
        ["of account"]
      ),
      ("SELECT Title FROM Note WHERE ParentId IN (SELECT Id FROM Visit__c)", ["of visit"]),
      ("SELECT Name FROM Visit__c WHERE Id IN (SELECT ParentId FROM Attachment)", ["v"]),
      ("SELECT Id FROM Task WHERE WhatId IN (SELECT Id FROM Visit__c)", []),
      ("SELECT Id FROM ContentDocumentLink WHERE LinkedEntityId IN (SELECT Id FROM Visit__c)", []),
    ] {
      let reply = await org.query(query)
      #expect(
        reply.json?["records"]?.elements.map { ($0["Name"] ?? $0["Title"])?.string } == expected,
        "\(query): \(reply.text)")
    }
    let wrong = await org.query("SELECT Id FROM Task WHERE WhoId IN (SELECT Id FROM Account)")
    #expect(wrong.errorCode == "MALFORMED_QUERY")
  }

  @Test func `a described object is a child of its parents, also of those that are not described`()
    async throws
  {
    let org = try OrgUnderTest()
    try await load(
      [
        "Visit__c": #"""
        [{"name":"Name","type":"string","nameField":true},
         {"name":"Account__c","type":"reference","referenceTo":["Account"],"relationshipName":"Account__r"},
         {"name":"Trip__c","type":"reference","referenceTo":["Trip__c"],"relationshipName":"Trip__r",
          "nillable":false,"cascadeDelete":true}]
        """#,
        "Trip__c": #"[{"name":"Name","type":"string","nameField":true}]"#,
      ], org)
    for (parent, cascades) in [("Account", false), ("Trip__c", true)] {
      let describe = await org.send("GET", "/sobjects/\(parent)/describe")
      let child = try #require(
        describe.json?["childRelationships"]?.elements.first {
          $0["childSObject"]?.string == "Visit__c"
        }, "\(parent)")
      #expect(child["field"]?.string == (parent == "Account" ? "Account__c" : "Trip__c"))
      #expect(child["relationshipName"]?.string == "Visits__r")
      #expect(child["cascadeDelete"]?.bool == cascades)
    }
    let account = try await org.made("Account", ["Name": "a"])
    let trip = try await org.made("Trip__c", ["Name": "t"])
    _ = try await org.made(
      "Visit__c",
      ["Name": "v", "Account__c": .string(account), "Trip__c": .string(trip)])
    let rows = await org.query("SELECT Name, (SELECT Name FROM Visits__r) FROM Account")
    #expect(
      rows.json?["records"]?[0]?["Visits__r"]?["records"]?[0]?["Name"]?.string == "v",
      "\(rows.text)")
    #expect(await org.send("DELETE", "/sobjects/Trip__c/\(trip)").status == 204)
    #expect(try await org.org.count("Visit__c") == 0)
  }

  /// Loads describe results with these fields.
  private func load(_ objects: [String: String], _ org: OrgUnderTest) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (number, (name, fields)) in objects.sorted(by: { $0.key < $1.key }).enumerated() {
      let label = name.replacing("__c", with: "")
      try Data(
        #"""
        {"name":"\#(name)","label":"\#(label)","labelPlural":"\#(label)s","keyPrefix":"a9\#(number)",
         "custom":true,"fields":\#(fields)}
        """#.utf8
      ).write(to: folder.appending(path: "\(name).json"))
    }
    try await org.org.load(describesIn: folder)
  }

  @Test func `articles can be queried by data categories, other objects cannot`() async throws {
    let org = try OrgUnderTest()
    let fields = #"[{"name":"Title","type":"string","length":80,"nameField":true}]"#
    let selection = #"""
      [{"name":"ParentId","type":"reference","referenceTo":["Help__kav"]},
       {"name":"DataCategoryGroupName","type":"string","length":80},
       {"name":"DataCategoryName","type":"string","length":80}]
      """#
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, prefix, fields) in [
      ("Help__kav", "ka0", fields), ("Help__DataCategorySelection", "02o", selection),
    ] {
      try Data(
        #"{"name":"\#(name)","keyPrefix":"\#(prefix)","custom":true,"fields":\#(fields)}"#.utf8
      )
      .write(to: folder.appending(path: "\(name).json"))
    }
    try await org.org.load(describesIn: folder)
    let usa = try await org.made("Help__kav", ["Title": "usa"])
    _ = try await org.made("Help__kav", ["Title": "nowhere"])
    _ = try await org.made(
      "Help__DataCategorySelection",
      ["ParentId": .string(usa), "DataCategoryGroupName": "Geography", "DataCategoryName": "Usa"])
    for clause in [
      "Geography__c AT Usa__c", "Geography__c ABOVE_OR_BELOW (Usa__c, France__c)",
      "Geography__c BELOW usa__c AND Geography__c AT Usa__c",
    ] {
      let found = await org.query(
        "SELECT Title FROM Help__kav WITH DATA CATEGORY \(clause) LIMIT 9")
      #expect(
        found.json?["records"]?.elements.compactMap { $0["Title"]?.string } == ["usa"],
        "\(found.text)")
    }
    let none = await org.query(
      "SELECT Title FROM Help__kav WITH DATA CATEGORY Geography__c AT Peru__c")
    #expect(none.json?["totalSize"]?.int64 == 0)
    let account = await org.query(
      "SELECT Id FROM Account WITH DATA CATEGORY Geography__c AT Usa__c")
    #expect(account.errorCode == "MALFORMED_QUERY")
    for clause in [
      "Geography__c", "Geography__c NEAR Usa__c", "Geography__c AT", "Geography__c AT (",
    ] {
      let broken = await org.query("SELECT Id FROM Help__kav WITH DATA CATEGORY \(clause)")
      #expect(broken.status == 400, "\(clause)")
    }
  }

  @Test func `totals of CUBE can be ordered by GROUPING, with and without aliases`() async throws {
    let org = try OrgUnderTest()
    for (type, rating) in [("Prospect", "Hot"), ("Other", "Cold")] {
      _ = try await org.made(
        "Account", ["Name": "x", "Type": .string(type), "Rating": .string(rating)])
    }
    let query = """
      SELECT Type, Rating, GROUPING(Type) grpType, GROUPING(Rating) grpRating, COUNT(Id) n FROM Account \
      GROUP BY CUBE(Type, Rating) ORDER BY GROUPING(Type), GROUPING(Rating), Type
      """
    let rows = try #require(
      await org.query(query).json?["records"]?.elements.map {
        "\($0["grpType"]?.int64 ?? -1)\($0["grpRating"]?.int64 ?? -1)"
      })
    #expect(rows == ["00", "00", "01", "01", "10", "10", "11"])
  }

  // MARK: Clients

  @Test func `an unknown consumer key is refused unless the options serve it`() async throws {
    let form =
      "grant_type=password&username=admin@fieldforce.example&password=fieldforce1&client_secret=x"
    func token(_ client: String, _ org: OrgUnderTest) async -> OrgUnderTest.Reply {
      await org.raw(
        "POST", "/services/oauth2/token", form + "&client_id=\(client)",
        headers: ["content-type": "application/x-www-form-urlencoded"])
    }
    let strict = try OrgUnderTest { $0.otherClientIds = ["second"] }
    let refused = await token("mine", strict)
    #expect(refused.status == 400)
    #expect(refused.json?["error"]?.string == "invalid_client_id")
    #expect(await token("second", strict).status == 200)
    #expect(
      await strict.raw("GET", "/services/oauth2/authorize?client_id=mine&response_type=code").status
        == 400)
    let lenient = try OrgUnderTest { $0.acceptsUnknownClients = true }
    #expect(await token("mine", lenient).status == 200)
  }

  @Test func `responses name the instance URL of the options`() async throws {
    var options = MockOrgOptions()
    options.instanceURL = URL(string: "https://org.example/")
    let org = try MockOrg(options)
    let server = try await MockOrgServer.start(org)
    defer { Task { await server.stop() } }
    #expect(server.info.instanceUrl == "https://org.example")
    #expect(server.info.url.hasPrefix("http://127.0.0.1:"))
    var request = URLRequest(url: server.url.appending(path: "services/oauth2/token"))
    request.httpMethod = "POST"
    request.httpBody = Data(
      ("grant_type=password&username=\(options.user.username)&password=\(options.user.password)"
        + "&client_id=\(options.clientId)&client_secret=\(options.clientSecret)").utf8)
    let (data, _) = try await URLSession.shared.data(for: request)
    let tokens = try JSONSlice(parsing: Array(data))
    #expect(tokens["instance_url"]?.string == "https://org.example")
    #expect(tokens["id"]?.string?.hasPrefix("https://org.example/id/") == true)
  }

  // MARK: Bulk

  @Test func `classic batches in JSON have a state message, and those in CSV have none`()
    async throws
  {
    let org = try OrgUnderTest()
    func bulk(_ method: String, _ path: String, _ body: String?, _ type: String) async
      -> OrgUnderTest.Reply
    {
      await org.raw(
        method, "/services/async/66.0\(path)", body,
        headers: ["x-sfdc-session": org.token, "content-type": type])
    }
    for (type, media) in [("JSON", "application/json"), ("CSV", "text/csv")] {
      let job = await bulk(
        "POST", "/job", #"{"operation":"query","object":"Account","contentType":"\#(type)"}"#,
        "application/json")
      let jobID = job.json?["id"]?.string ?? ""
      let batch = await bulk("POST", "/job/\(jobID)/batch", "SELECT Id FROM Account", media)
      if type == "JSON" {
        #expect(batch.json?["stateMessage"]?.isNull == true, "\(batch.text)")
      } else {
        #expect(!batch.text.contains("stateMessage"))
      }
    }
  }
}
