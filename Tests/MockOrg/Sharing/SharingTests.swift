import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// Whose records does a user see, and what may he do with them?
@Suite struct SharingTests {
  /// An org with an administrator, who owns what `made` makes, and two users whose profile gives no rights
  /// to others' records.
  private struct Org {
    let org: OrgUnderTest
    private let profile: MockOrgProfile
    let ted: [String: String]
    let uma: [String: String]
    var tedID: String { org.org.users[1].id }
    var umaID: String { org.org.users[2].id }

    init(_ adjust: (inout MockOrgProfile) -> Void = { _ in }) throws {
      var profile = MockOrgProfile(name: "Technician")
      profile.viewsAllData = false
      profile.modifiesAllData = false
      adjust(&profile)
      self.profile = profile
      org = try OrgUnderTest {
        $0.otherUsers = ["Ted", "Uma"].map {
          MockOrgUser(
            username: "\($0)@fieldforce.example", firstName: $0, lastName: "Tech", profile: profile)
        }
      }
      func headers(_ index: Int, _ org: OrgUnderTest) -> [String: String] {
        let token = org.org.sessions.open(
          userID: org.org.users[index].id, clientID: "app", now: OrgUnderTest.start)
        return ["authorization": "Bearer \(token)"]
      }
      ted = headers(1, org)
      uma = headers(2, org)
    }
  }

  private func names(_ reply: OrgUnderTest.Reply) -> [String] {
    reply.json?["records"]?.elements.compactMap { $0["Name"]?.string } ?? []
  }

  @Test func `a private object's records are there for their owner alone`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    let hers = try await org.org.made("Account", ["Name": "admins"])
    let made = await org.org.send(
      "POST", "/sobjects/Account", #"{"Name":"teds"}"#, headers: org.ted)
    #expect(made.status == 201)
    let soql = "SELECT Name FROM Account ORDER BY Name"
    #expect(names(await org.org.query(soql, headers: org.ted)) == ["teds"])
    #expect(names(await org.org.query(soql, headers: org.uma)) == [])
    #expect(names(await org.org.query(soql)) == ["admins", "teds"])
    let count = await org.org.query("SELECT COUNT() FROM Account", headers: org.ted)
    #expect(count.json?["totalSize"]?.int64 == 1)
    let groups = await org.org.query(
      "SELECT COUNT(Id) n FROM Account GROUP BY OwnerId", headers: org.ted)
    #expect(groups.json?["records"]?.count == 1)

    let path = "/sobjects/Account/\(hers)"
    #expect(await org.org.send("GET", path, headers: org.ted).errorCode == "NOT_FOUND")
    #expect(await org.org.send("GET", "\(path)/Contacts", headers: org.ted).status == 404)
    #expect(
      await org.org.send("GET", "/ui-api/records/\(hers)?fields=Account.Name", headers: org.ted)
        .status == 404)
    let patched = await org.org.send("PATCH", path, #"{"Name":"x"}"#, headers: org.ted)
    let denied = "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY"
    #expect(patched.status == 400 && patched.errorCode == denied)
    let refused = await org.org.send("DELETE", path, headers: org.ted)
    #expect(refused.status == 400 && refused.errorCode == denied)
    #expect(await org.org.send("GET", path).json?["Name"]?.string == "admins")

    let found = await org.org.send(
      "GET", "/search?q=FIND+%7Badmins+OR+teds%7D+RETURNING+Account(Name)", headers: org.ted)
    #expect(found.json?["searchRecords"]?.elements.compactMap { $0["Name"]?.string } == ["teds"])
    let suggested = await org.org.send(
      "GET", "/search/suggestions?q=adm&sobject=Account", headers: org.ted)
    #expect(suggested.json?["autoSuggestResults"]?.count == 0)
    let window = "start=2026-05-15T11%3A00%3A00Z&end=2026-05-15T13%3A00%3A00Z"
    let updated = await org.org.send(
      "GET", "/sobjects/Account/updated?\(window)", headers: org.ted)
    #expect(updated.json?["ids"]?.elements.compactMap(\.string) == [made.id])
    try await org.org.org.delete("Account", id: hers)
    let deleted = await org.org.send(
      "GET", "/sobjects/Account/deleted?\(window)", headers: org.ted)
    #expect(deleted.json?["deletedRecords"]?.count == 0)
  }

  @Test func `collections and composite requests say what single rows say`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    let hers = try await org.org.made("Account", ["Name": "admins"])
    let got = await org.org.send(
      "GET", "/composite/sobjects/Account?ids=\(hers)&fields=Name,Owner.Name", headers: org.ted)
    #expect(got.json?[0]?.isNull == true)
    let changed = await org.org.send(
      "PATCH", "/composite/sobjects",
      #"{"records":[{"attributes":{"type":"Account"},"id":"\#(hers)","Name":"x"}]}"#,
      headers: org.ted)
    #expect(
      changed.json?[0]?["errors"]?[0]?["statusCode"]?.string
        == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
    let removed = await org.org.send(
      "DELETE", "/composite/sobjects?ids=\(hers)", headers: org.ted)
    #expect(
      removed.json?[0]?["errors"]?[0]?["statusCode"]?.string
        == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
    let nowhere = await org.org.send(
      "DELETE", "/composite/sobjects?ids=001000000000001AAA", headers: org.ted)
    #expect(
      nowhere.json?[0]?["errors"]?[0]?["statusCode"]?.string == "INVALID_CROSS_REFERENCE_KEY")
    let composite = await org.org.send(
      "POST", "/composite",
      #"{"compositeRequest":[{"method":"GET","referenceId":"a","url":"/services/data/v66.0/sobjects/Account/\#(hers)"}]}"#,
      headers: org.ted)
    #expect(composite.json?["compositeResponse"]?[0]?["httpStatusCode"]?.int64 == 404)
    let child = await org.org.send(
      "POST", "/sobjects/Contact", #"{"LastName":"x","AccountId":"\#(hers)"}"#, headers: org.ted)
    #expect(child.status == 400)
    #expect(child.errorCode == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
  }

  @Test func `a bulk job does what its user may`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    let hers = try await org.org.made("Account", ["Name": "admins"])
    let job = await org.org.send(
      "POST", "/jobs/ingest", #"{"object":"Account","operation":"update"}"#, headers: org.ted)
    var headers = org.ted
    headers["content-type"] = "text/csv"
    _ = await org.org.send(
      "PUT", "/jobs/ingest/\(job.id)/batches", "Id,Name\n\(hers),x\n", headers: headers)
    _ = await org.org.send(
      "PATCH", "/jobs/ingest/\(job.id)", #"{"state":"UploadComplete"}"#, headers: org.ted)
    let failed = await org.org.send(
      "GET", "/jobs/ingest/\(job.id)/failedResults", headers: org.ted)
    #expect(failed.text.contains("INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY"))
    let query = await org.org.send(
      "POST", "/jobs/query", #"{"operation":"query","query":"SELECT Name FROM Account"}"#,
      headers: org.ted)
    let rows = await org.org.send(
      "GET", "/jobs/query/\(query.id)/results", headers: org.ted)
    #expect(!rows.text.contains("admins"))
    let own = await org.org.send(
      "POST", "/jobs/query", #"{"operation":"query","query":"SELECT Name FROM Account"}"#)
    #expect(
      await org.org.send("GET", "/jobs/query/\(own.id)/results", headers: org.ted).status == 404)
    #expect(
      await org.org.send("GET", "/jobs/query/\(query.id)/results", headers: org.ted).status == 200)
  }

  @Test(arguments: [
    (MockOrgSharing.read, 400, 400, 400), (.readWrite, 204, 400, 400),
    (.readWriteTransfer, 204, 204, 400), (.fullAccess, 204, 204, 204),
  ])
  func `others may do what the default gives them`(
    sharing: MockOrgSharing, change: Int, transfer: Int, delete: Int
  ) async throws {
    let org = try Org()
    try await org.org.org.setSharing(sharing, of: "Account")
    let id = try await org.org.made("Account", ["Name": "admins"])
    let path = "/sobjects/Account/\(id)"
    #expect(await org.org.send("GET", path, headers: org.ted).status == 200)
    let changed = await org.org.send("PATCH", path, #"{"Phone":"1"}"#, headers: org.ted)
    #expect(changed.status == change)
    if change == 400 {
      #expect(changed.errorCode == "INSUFFICIENT_ACCESS_OR_READONLY")
      #expect(changed.message == "insufficient access rights on object id")
    }
    let given = await org.org.send(
      "PATCH", path, #"{"OwnerId":"\#(org.umaID)"}"#, headers: org.ted)
    #expect(given.status == transfer)
    #expect(await org.org.send("DELETE", path, headers: org.ted).status == delete)
  }

  @Test func `profiles that view or modify all see and change what is not theirs`() async throws {
    let viewer = try Org { $0.viewsAllData = true }
    try await viewer.org.org.setSharing(.private, of: "Account")
    let id = try await viewer.org.made("Account", ["Name": "x"])
    let path = "/sobjects/Account/\(id)"
    #expect(await viewer.org.send("GET", path, headers: viewer.ted).status == 200)
    let refused = await viewer.org.send("DELETE", path, headers: viewer.ted)
    #expect(refused.errorCode == "INSUFFICIENT_ACCESS_OR_READONLY")
    let master = try Org { $0.modifiesAllOf = ["account"] }
    try await master.org.org.setSharing(.private, of: "Account")
    let other = try await master.org.made("Account", ["Name": "x"])
    #expect(
      await master.org.send("DELETE", "/sobjects/Account/\(other)", headers: master.ted).status
        == 204)
  }

  @Test func `a parent that a user does not see is null`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    let account = try await org.org.made("Account", ["Name": "secret"])
    try await org.org.made("Contact", ["LastName": "open", "AccountId": .string(account)])
    let soql = "SELECT LastName, Account.Name FROM Contact WHERE Account.Name = 'secret'"
    #expect(await org.org.query(soql, headers: org.ted).json?["totalSize"]?.int64 == 0)
    let all = await org.org.query("SELECT Account.Name FROM Contact", headers: org.ted)
    #expect(all.json?["records"]?[0]?["Account"]?.isNull == true)
  }

  @Test func `who owns a contact reads its account, no more`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    let account = try await org.org.made("Account", ["Name": "shared"])
    try await org.org.made(
      "Contact",
      ["LastName": "x", "AccountId": .string(account), "OwnerId": .string(org.tedID)])
    let path = "/sobjects/Account/\(account)"
    #expect(await org.org.send("GET", path, headers: org.ted).status == 200)
    #expect(await org.org.send("GET", path, headers: org.uma).status == 404)
    let changed = await org.org.send("PATCH", path, #"{"Name":"y"}"#, headers: org.ted)
    #expect(changed.errorCode == "INSUFFICIENT_ACCESS_OR_READONLY")
  }

  @Test func `children can be as open as their parent`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    try await org.org.org.setSharing(.controlledByParent, of: "Contact")
    let hers = try await org.org.made("Account", ["Name": "admins"])
    let his = try await org.org.made(
      "Account", ["Name": "teds", "OwnerId": .string(org.tedID)])
    for (name, account) in [("hidden", hers), ("open", his)] {
      try await org.org.made("Contact", ["LastName": .string(name), "AccountId": .string(account)])
    }
    try await org.org.made("Contact", ["LastName": "loose"])
    let rows = await org.org.query("SELECT Name FROM Contact", headers: org.ted)
    #expect(names(rows) == ["open"])
    let children = await org.org.query(
      "SELECT Name, (SELECT Name FROM Contacts) FROM Account", headers: org.ted)
    #expect(children.json?["records"]?.count == 1)
    #expect(children.json?["records"]?[0]?["Contacts"]?["totalSize"]?.int64 == 1)
    let semi = await org.org.query(
      "SELECT Id FROM Account WHERE Id IN (SELECT AccountId FROM Contact)", headers: org.ted)
    #expect(semi.json?["totalSize"]?.int64 == 1)
  }

  @Test func `what is sharing's own leaves room for what a query says`() async throws {
    let org = try Org()
    try await org.org.org.setSharing(.private, of: "Account")
    try await org.org.org.setSharing(.controlledByParent, of: "Contact")
    var condition = "Name = 'x'"
    for _ in 0..<18 { condition = "NOT (Name = 'a' AND \(condition))" }
    let deep = await org.org.query(
      "SELECT Account.Name FROM Contact WHERE AccountId IN (SELECT Id FROM Account WHERE \(condition))"
        + " AND \(condition)", headers: org.ted)
    #expect(deep.status == 200, "\(deep.message ?? "")")
  }

  @Test func `a unique value of a hidden record is taken, but the record stays unknown`()
    async throws
  {
    let org = try Org()
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let describe = #"""
      {"name":"Key__c","keyPrefix":"a0K","sharingModel":"Private","fields":[
      {"name":"OwnerId","type":"reference","referenceTo":["User"],"relationshipName":"Owner"},
      {"name":"Code__c","type":"string","length":20,"externalId":true,"unique":true}]}
      """#
    try Data(describe.utf8).write(to: folder.appending(path: "key.json"))
    try await org.org.org.load(describesIn: folder)
    let id = try await org.org.made("Key__c", ["Code__c": "k1"])
    #expect(await org.org.send("GET", "/sobjects/Key__c/\(id)", headers: org.ted).status == 404)
    #expect(
      await org.org.send("GET", "/sobjects/Key__c/Code__c/k1", headers: org.ted).status == 404)
    let again = await org.org.send(
      "POST", "/sobjects/Key__c", #"{"Code__c":"k1"}"#, headers: org.ted)
    #expect(again.errorCode == "DUPLICATE_VALUE")
    #expect(again.message?.hasSuffix("<unknown>") == true)
    let upserted = await org.org.send(
      "PATCH", "/sobjects/Key__c/Code__c/k1", "{}", headers: org.ted)
    #expect(upserted.errorCode == "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY")
    await #expect(throws: MockOrgError.self) {
      try await org.org.org.setSharing(.read, of: "Nothing__c")
    }
  }
}
