import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// What do clients get that list tabs, actions, list views and rules of an org?
@Suite struct SetupListTests {
  @Test(arguments: [
    ("/quickActions", "[]"), ("/sobjects/Account/quickActions", "[]"),
    (
      "/sobjects/Account/listviews",
      #"{"done":true,"listviews":[],"nextRecordsUrl":null,"size":0,"sobjectType":"Account"}"#
    ),
    (
      "/sobjects/account/listviews/recent",
      #"{"done":true,"listviews":[],"nextRecordsUrl":null,"size":0,"sobjectType":"Account"}"#
    ),
    ("/sobjects/Account/describe/approvalLayouts", #"{"approvalLayouts":[]}"#),
    ("/process/rules", #"{"rules":{}}"#), ("/process/approvals/", #"{"approvals":{}}"#),
    ("/appMenu/AppSwitcher", #"{"appMenuItems":[]}"#), ("/actions/standard", #"{"actions":[]}"#),
    ("/actions/custom/flow", #"{"actions":[]}"#),
    (
      "/actions",
      #"{"standard":"/services/data/v66.0/actions/standard","custom":"/services/data/v66.0/actions/custom"}"#
    ),
  ])
  func `lists of an org without setup have the platform's form and no elements`(
    path: String, expected: String
  ) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", path)
    #expect(reply.status == 200)
    #expect(reply.text == expected)
    #expect(await org.send("DELETE", path).errorCode == "METHOD_NOT_ALLOWED")
  }

  @Test func `each object that a person works with has a tab and a theme`() async throws {
    let org = try OrgUnderTest()
    let tabs = try #require(await org.send("GET", "/tabs").json?.elements.map { $0.value })
    let account = try #require(tabs.first { $0["sobjectName"] == "Account" })
    #expect(account["label"] == "Accounts" && account["name"] == "standard-Account")
    #expect(account["url"] == "http://127.0.0.1:1/001/o" && account["custom"] == false)
    #expect(!tabs.contains { $0["sobjectName"] == "CronTrigger" })
    let theme = await org.send("GET", "/theme")
    #expect(
      theme.json?["themeItems"]?.elements.map { $0["name"]?.string }
        == tabs.map { $0["sobjectName"]?.string })
    let tag = try #require(theme.header("ETag"))
    #expect(await org.send("GET", "/theme", headers: ["if-none-match": tag]).status == 304)
  }

  @Test func `every address of a version and of a describe leads to something`() async throws {
    let org = try OrgUnderTest()
    let resources = try #require(await org.send("GET", "").json?.members.map { ($0, $1.string) })
    // `identity` has no version, and these are the beginnings of others.
    let beginnings = ["chatter", "connect", "identity", "jobs", "ui-api"]
    for (name, url) in resources where !beginnings.contains(name) {
      let path = String(try #require(url).dropFirst("/services/data/v66.0".count))
      #expect(await org.send("GET", path).status != 404, "\(name)")
    }
    let describe = try #require(await org.send("GET", "/sobjects/Contact/describe").json?["urls"])
    #expect(
      Set(describe.members.map { $0.key }) == [
        "approvalLayouts", "compactLayouts", "describe", "layouts", "listviews", "quickActions",
        "rowTemplate", "sobject", "uiDetailTemplate", "uiEditTemplate", "uiNewRecord",
      ])
    #expect(describe["uiNewRecord"]?.string == "http://127.0.0.1:1/003/e")
    #expect(describe["uiDetailTemplate"]?.string == "http://127.0.0.1:1/{ID}")
    let listed = await org.send("GET", "/sobjects").json?["sobjects"]?.elements
      .first { $0["name"]?.string == "Contact" }
    #expect(listed?["urls"]?["uiNewRecord"] == nil)
    for (name, url) in describe.members where !name.hasPrefix("ui") && name != "rowTemplate" {
      let path = String(try #require(url.string).dropFirst("/services/data/v66.0".count))
      #expect(await org.send("GET", path).status == 200, "\(name)")
    }
  }

  @Test func `what a describe says of fields is what real orgs say`() async throws {
    let org = try OrgUnderTest()
    func fields(_ object: String) async throws -> [String: JSONSlice] {
      let json = try #require(await org.send("GET", "/sobjects/\(object)/describe").json)
      #expect(json["listviewable"]?.isNull == true && json["lookupLayoutable"]?.isNull == true)
      let described = json["fields"]?.elements.map { ($0["name"]?.string ?? "", $0) } ?? []
      return Dictionary(described) { first, _ in first }
    }
    let contact = try await fields("Contact")
    let account = try await fields("Account")
    for (field, isPermissionable) in [
      ("FirstName", false), ("Salutation", false), ("LastName", false), ("Phone", true),
      ("MailingAddress", true), ("MailingCity", true), ("OwnerId", false),
    ] {
      #expect(contact[field]?["permissionable"]?.bool == isPermissionable, "\(field)")
    }
    #expect(account["RecordTypeId"]?["permissionable"]?.bool == false)
    #expect(account["Name"]?["permissionable"]?.bool == false)
    for (field, isPrefilterable) in [
      ("AccountId", true), ("ReportsToId", true), ("OwnerId", false), ("MasterRecordId", false),
      ("CreatedById", false), ("Email", false),
    ] {
      #expect(contact[field]?["searchPrefilterable"]?.bool == isPrefilterable, "\(field)")
    }
    #expect(account["ParentId"]?["searchPrefilterable"]?.bool == true)
  }
}
