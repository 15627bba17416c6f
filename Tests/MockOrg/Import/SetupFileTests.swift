import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

@testable import SalesforceMockOrg

@Suite struct SetupFileTests {
  private func setup(_ text: String) throws -> MockOrgSetup {
    let folder = try TemporaryFolder()
    let file = folder.file("setup.json")
    try Data(text.utf8).write(to: file)
    return try MockOrgSetup(file: file)
  }

  @Test func `a file says who works in the org and by which rules`() async throws {
    let setup = try setup(
      #"""
      {"profiles":[{"name":"Technician","hiddenObjects":["Opportunity"],"readOnlyObjects":["Product2"],
      "hiddenFields":{"Contact":["Birthdate"]},"readOnlyFields":{"Contact":["Email"]},
      "modifiesAllData":false,"viewsAllOf":["Case"]}],
      "users":[{"username":"ted@x.example","password":"pw","firstName":"Ted","lastName":"Tech",
      "email":"t@x.example","profile":"Technician"},{"username":"uma@x.example"}],
      "sharing":{"Account":"private","Case":"Private"},
      "duplicateRules":[{"object":"Account","fields":["Name"],"action":"Block","name":"One_Name",
      "message":"There is one."}]}
      """#)
    let profile = setup.users[0].profile
    #expect(profile.hiddenFields == ["Contact": ["Birthdate"]])
    #expect(!profile.viewsAllData && !profile.modifiesAllData)
    #expect(setup.users[1].profile.modifiesAllData)
    #expect(setup.users[1].lastName == "uma")
    let org = try OrgUnderTest { $0.otherUsers = setup.users }
    try await org.org.apply(setup)
    let login = await org.raw(
      "POST", "/services/oauth2/token",
      "grant_type=password&client_id=app&username=ted%40x.example&password=pw")
    let headers = ["authorization": "Bearer \(login.json?["access_token"]?.string ?? "")"]
    try await org.made("Account", ["Name": "a"])
    try await org.made("Case", ["Subject": "c"])
    let accounts = await org.query("SELECT COUNT() FROM Account", headers: headers)
    #expect(accounts.json?["totalSize"]?.int64 == 0)
    let cases = await org.query("SELECT COUNT() FROM Case", headers: headers)
    #expect(cases.json?["totalSize"]?.int64 == 1)
    let twice = await org.send("POST", "/sobjects/Account", #"{"Name":"A"}"#)
    #expect(twice.message == "There is one.")
    #expect(twice.json?[0]?["duplicateResult"]?["duplicateRule"]?.string == "One_Name")
  }

  @Test func `a file says what the identity service tells the apps of each user`() async throws {
    let setup = try setup(
      #"""
      {"identity":{"mobile_policy":{"screen_lock":"10"},"custom_attributes":{"a":"1","b":"x"}},
      "users":[{"username":"ted@x.example","password":"pw","identity":{"mobile_policy":
      {"screen_lock":5,"pin_length":"8"},"custom_permissions":{"must_be_managed_app":true}}},
      {"username":"uma@x.example","password":"pw"},
      {"username":"vic@x.example","password":"pw","identity":{}}]}
      """#)
    let policy = try #require(setup.identityPolicy)
    let org = try OrgUnderTest {
      $0.otherUsers = setup.users
      $0.identityPolicy = policy
    }
    try await org.org.apply(setup)
    func identity(_ name: String) async throws -> JSONSlice? {
      let login = await org.raw(
        "POST", "/services/oauth2/token",
        "grant_type=password&client_id=app&username=\(name)%40x.example&password=pw")
      let path = try #require(login.json?["id"]?.string.flatMap { URL(string: $0)?.path })
      return await org.raw(
        "GET", path, "",
        headers: ["authorization": "Bearer \(login.json?["access_token"]?.string ?? "")"]
      ).json
    }
    let ted = try await identity("ted")
    #expect(ted?["mobile_policy"]?["screen_lock"]?.string == "5")
    #expect(ted?["mobile_policy"]?["pin_length"]?.string == "8")
    #expect(ted?["custom_permissions"]?["must_be_managed_app"]?.bool == true)
    #expect(ted?["custom_attributes"] == nil)
    let uma = try await identity("uma")
    #expect(uma?["mobile_policy"]?["pin_length"]?.string == "4")
    #expect(uma?["custom_attributes"]?["b"]?.string == "x" && uma?["custom_permissions"] == nil)
    let vic = try await identity("vic")
    #expect(vic?["username"]?.string == "vic@x.example")
    #expect(vic?["mobile_policy"] == nil && vic?["custom_attributes"] == nil)
  }

  @Test(arguments: [
    ("[]", "JSON object"), (#"{"user":[]}"#, "'user'"), (#"{"users":{}}"#, "array"),
    (#"{"users":[{}]}"#, "'username'"), (#"{"users":[{"username":1}]}"#, "text"),
    (#"{"users":[{"username":"a","profile":"P"}]}"#, "'P'"),
    (#"{"users":[{"username":"a"},{"username":"A"}]}"#, "two users"),
    (#"{"profiles":[{"name":"P","viewAllData":true}]}"#, "'viewAllData'"),
    (#"{"profiles":[{"name":"P","viewsAllData":1}]}"#, "true or false"),
    (#"{"profiles":[{"name":"P"},{"name":"P"}]}"#, "two profiles"),
    (#"{"profiles":[{"name":"P","hiddenFields":["x"]}]}"#, "hiddenFields"),
    (#"{"profiles":[{"name":"P","hiddenObjects":[1]}]}"#, "hiddenObjects"),
    (#"{"sharing":{"Account":"Open"}}"#, "ControlledByParent"),
    (#"{"duplicateRules":[{"object":"Account","fields":["Name"],"action":"warn"}]}"#, "warn"),
    (#"{"identity":[]}"#, "JSON object"), (#"{"identity":{"mobilePolicy":{}}}"#, "'mobilePolicy'"),
    (#"{"identity":{"mobile_policy":{"screenLock":1}}}"#, "'screenLock'"),
    (#"{"identity":{"mobile_policy":{"pin_length":6}}}"#, "'screen_lock'"),
    (#"{"identity":{"mobile_policy":{"screen_lock":"soon"}}}"#, "whole number"),
    (#"{"identity":{"mobile_policy":{"screen_lock":-1}}}"#, "whole number"),
    (#"{"identity":{"custom_attributes":["a"]}}"#, "'custom_attributes'"),
    (#"{"identity":{"custom_attributes":{"a":1}}}"#, "'a'"),
    (#"{"identity":{"custom_permissions":{"p":"yes"}}}"#, "'p'"),
    (#"{"users":[{"username":"ted","identity":{"pin":1}}]}"#, "'pin'"),
    ("\u{FEFF}{}", "byte order mark"), ("{", "not valid JSON"),
  ])
  func `a file that says something else is refused`(text: String, word: String) throws {
    let error = #expect(throws: MockOrgError.self) { _ = try self.setup(text) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
  }
}
