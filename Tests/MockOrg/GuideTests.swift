import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The samples of Docs/Guides/Mock-org.md, as a user of the public API writes them. They
/// stand here word for word, and the last test looks that they do.
@Suite struct GuideTests {
  @Test func `data come from descriptions, a project, a plan and a seed`() async throws {
    let folder = try TemporaryFolder()
    let describes = folder.url.appending(path: "describes")
    try FileManager.default.createDirectory(at: describes, withIntermediateDirectories: true)
    try Data(
      #"""
      {"name": "Robot__c", "label": "Robot", "labelPlural": "Robots", "keyPrefix": "a0R", "custom": true,
       "createable": true, "queryable": true, "updateable": true, "deletable": true,
       "fields": [{"name": "Id", "type": "id", "length": 18},
                  {"name": "Name", "type": "string", "length": 80, "nameField": true,
                   "createable": true, "updateable": true, "nillable": true}]}
      """#.utf8
    ).write(to: describes.appending(path: "Robot__c.json"))
    let project = folder.url.appending(path: "project/objects/Part__c")
    try FileManager.default.createDirectory(at: project, withIntermediateDirectories: true)
    try Data(
      """
      <CustomObject xmlns="http://soap.sforce.com/2006/04/metadata"><label>Part</label>
      <pluralLabel>Parts</pluralLabel><nameField><label>Name</label><type>Text</type></nameField>
      </CustomObject>
      """.utf8
    ).write(to: project.appending(path: "Part__c.object-meta.xml"))

    let org = try MockOrg()
    try await org.load(describesIn: describes)
    try await org.load(sourceFormat: project)
    try await org.load(plan: MockOrg.samplePlan)
    try await org.generate("Account", count: 200, seed: 7)

    #expect(Set(org.objectNames).isSuperset(of: ["Robot__c", "Part__c", "Service_Visit__c"]))
    #expect(try await org.count("Account") == 205)
  }

  @Test func `a test acts as another user of the server`() async throws {
    let org = try MockOrg()
    let id = try await org.create("Account", ["Name": "Harbor Repair"])
    try await org.update("Account", id: id, ["Phone": "555-0100"])
    let rows = try await org.query("SELECT Name, Phone FROM Account WHERE Name LIKE 'Harbor%'")
    #expect(rows.first?["Phone"]?.string == "555-0100")
    try await org.delete("Account", id: id)
    #expect(try await org.count("Account") == 0)
  }

  @Test func `a user is held to their profile`() async throws {
    var options = MockOrgOptions()
    var technician = MockOrgProfile(name: "Technician")
    technician.hiddenFields = ["Contact": ["Birthdate"]]
    technician.readOnlyObjects = ["Account"]
    options.otherUsers = [
      MockOrgUser(
        username: "ted@example.com", firstName: "Ted", lastName: "Tech", profile: technician)
    ]
    try await withMockOrg(options) { org, server in
      let ted = try #require(server.info(forUser: "ted@example.com"))
      let app = App(instance: ted.instanceUrl, token: ted.accessToken)
      #expect(try await app.createAccount(named: "Ted's").status == 400)
    }
  }

  @Test func `who sees what is narrowed`() async throws {
    var options = MockOrgOptions()
    var technician = MockOrgProfile(name: "Technician")
    technician.viewsAllData = false
    technician.modifiesAllData = false
    options.otherUsers = [
      MockOrgUser(
        username: "ted@example.com", firstName: "Ted", lastName: "Tech", profile: technician)
    ]
    try await withMockOrg(options) { org, server in
      try await org.setSharing(.private, of: "Account")
      try await org.setSharing(.controlledByParent, of: "Contact")
      let account = try await org.create("Account", ["Name": "Ada's"])
      try await org.create("Contact", ["LastName": "x", "AccountId": .string(account)])
      let ted = try #require(server.info(forUser: "ted@example.com"))
      let app = App(instance: ted.instanceUrl, token: ted.accessToken)
      for object in ["Account", "Contact"] {
        let page = try await app.send(
          "GET", "/services/data/v66.0/query?q=SELECT+COUNT()+FROM+\(object)")
        #expect(page.text.contains(#""totalSize":0"#))
      }
      let gone = try await app.send("GET", "/services/data/v66.0/sobjects/Account/\(account)")
      #expect(gone.status == 404)
    }
  }

  @Test func `a record like another one is refused`() async throws {
    let org = try MockOrg()
    try org.add(MockOrgDuplicateRule(object: "Contact", fields: ["Email"], action: .alert))
    try await org.create("Contact", ["LastName": "a", "Email": "a@example.com"])
    let error = await #expect(throws: MockOrgError.self) {
      try await org.create("Contact", ["LastName": "b", "Email": "A@example.com"])
    }
    #expect(error?.message.hasPrefix("DUPLICATES_DETECTED") == true)
  }

  @Test func `the file with users and rules`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "setup.json")
    let json = try #require(Self.blocks("json", of: try Self.guide()).first)
    try Data(json.utf8).write(to: file)
    let setup = try MockOrgSetup(file: file)
    var options = MockOrgOptions()
    options.otherUsers = setup.users
    try await MockOrg(options).apply(setup)
    #expect(setup.sharing["Account"] == .private)
  }

  @Test func `the file with policies`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "setup.json")
    let blocks = Self.blocks("json", of: try Self.guide())
    let json = try #require(blocks.first { $0.contains("mobile_policy") })
    try Data(json.utf8).write(to: file)
    let setup = try MockOrgSetup(file: file)
    #expect(setup.identityPolicy?.mobilePolicy?.screenLockMinutes == 10)
    #expect(setup.identityPolicy?.mobilePolicy?.pinLength == 6)
    #expect(setup.identityPolicy?.customAttributes == ["BIOMETRIC_UNLOCK": "false"])
    #expect(setup.users[0].identityPolicy?.customPermissions == ["must_be_managed_app": true])
  }

  @Test func `rules and the log`() async throws {
    try await withMockOrg { org, server in
      org.add(MockOrgFault(method: "POST", path: "/composite", action: .dropAfterCommit))
      org.add(MockOrgFault(path: "/query", skipping: 1, action: .truncatedBody(at: 500)))
      org.add(
        MockOrgFault(object: "Contact", probability: 0.1, seed: 7, count: nil, action: .rowLock))

      org.add(MockOrgFault(object: "Account", action: .maintenance))
      let app = App(instance: server.info.instanceUrl, token: server.info.accessToken)
      for expected in [503, 201] {
        let made = try await app.createAccount(named: "x")
        #expect(made.status == expected)
      }
      let sent = org.requestLog.filter {
        $0.method == "POST" && $0.path.hasSuffix("/sobjects/Account")
      }
      #expect(sent.first?.status == 503)
      #expect(sent.first?.fault == "maintenance")
      #expect(sent.last?.status == 201)
    }
  }

  @Test func `an endpoint of one's own has the org's records`() async throws {
    try await withMockOrg { org, server in
      try await org.load(plan: MockOrg.samplePlan)
      org.setApexEndpoint("Visits") { request, org in
        let found = try await org.query("SELECT Id, Name FROM Service_Visit__c")
        return MockOrgApexResponse(json: .array(found.map(\.value)))
      }
      // GET /services/apexrest/Visits
      let app = App(instance: server.info.instanceUrl, token: server.info.accessToken)
      let page = try await app.send("GET", "/services/apexrest/Visits")
      #expect(page.status == 200)
      let count = try await org.count("Service_Visit__c")
      #expect(try JSONSlice(parsing: page.body).count == count)
    }
  }

  @Test func `rules as JSON`() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "faults.json")
    let guide = try Self.guide()
    let blocks = Self.blocks("json", of: guide)
    try #require(blocks.count == 3)
    try Data(blocks[2].utf8).write(to: file)
    try MockOrg().load(faults: file)
  }

  @Test func `time moves by hand`() async throws {
    let clock = MockOrgClock(frozenAt: Date(timeIntervalSince1970: 1_778_846_400))
    var options = MockOrgOptions()
    options.clock = clock
    let org = try MockOrg(options)
    try await org.create("Account", ["Name": "Early"])
    clock.advance(by: .seconds(60))
    let late = try await org.create("Account", ["Name": "Late"])
    let found = try await org.query(
      "SELECT Id FROM Account WHERE CreatedDate > 2026-05-15T12:00:30Z")
    #expect(found.map { $0["Id"]?.string } == [late])
  }

  @Test func `snapshots clean up`() async throws {
    let org = try MockOrg()
    try await org.load(plan: MockOrg.samplePlan)
    let clean = try await org.snapshot()
    for name in ["first", "second"] {
      try await org.create("Account", ["Name": .string(name)])
      #expect(try await org.count("Account") == 6)
      try await org.restore(clean)
    }
    #expect(try await org.count("Account") == 5)
  }

  // MARK: The guide itself

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func guide() throws -> String {
    try text("Docs/Guides/Mock-org.md")
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
  }

  private static func blocks(_ language: String, of guide: String) -> [String] {
    guide.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }

  /// A text's words, however its lines are broken and indented.
  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined()
  }

  @Test func `every Swift sample of the guide is compiled`() throws {
    let compiled = try [
      "Tests/MockOrg/GuideTests.swift",
      "Docs/Examples/RoundTrip/Tests/RoundTripTests/MockOrgTests.swift",
    ].map { Self.words(try Self.text($0)) }
    let samples = Self.blocks("swift", of: try Self.guide())
    #expect(samples.count >= 8)
    for sample in samples {
      #expect(compiled.contains { $0.contains(Self.words(sample)) }, "\(sample)")
    }
  }
}

/// What a user tests with the mock org: an app with a client of its own.
private struct App {
  let instance: String
  let token: String

  func createAccount(named name: String) async throws -> WebPage {
    try await send(
      "POST", "/services/data/v66.0/sobjects/Account", Data(#"{"Name": "\#(name)"}"#.utf8))
  }

  func send(_ method: String, _ path: String, _ body: Data? = nil) async throws -> WebPage {
    var request = URLRequest(url: try #require(URL(string: instance + path)))
    request.httpMethod = method
    request.httpBody = body
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return try await WebPage.load(request)
  }
}
