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
    ("\u{FEFF}{}", "byte order mark"), ("{", "not valid JSON"),
  ])
  func `a file that says something else is refused`(text: String, word: String) throws {
    let error = #expect(throws: MockOrgError.self) { _ = try self.setup(text) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
  }
}
