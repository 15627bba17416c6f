import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing
import TestSupport

/// Does the command line make the syncs of a file, and say what is wrong with one?
@Suite struct SyncLoadTests {
  private static let good = """
    {"syncs": [
      {"syncName": "down", "syncType": "syncDown", "soupName": "accounts",
       "target": {"type": "soql", "query": "SELECT Name FROM Account"}}]}
    """

  @Test(.covers("BX-71.1"))
  func `a file is checked without a login, problems have line and column`()
    async throws
  {
    let tool = try Tool()
    let good = try tool.file("good.json", Self.good)
    let checked = try await tool.json("sync", "load", good, "--check")
    #expect(checked["usable"] == 1 && checked["problems"] == [])

    let bad = try tool.file("bad.json", Self.good.replacing("\"query\"", with: "\"quary\""))
    let result = try await tool("sync", "load", bad, "--check")
    #expect(result.status == 1)
    #expect(result.output.contains("bad.json:3:14: error: "), "\(result.output)")
    let failure = try await tool.failure("sync", "load", bad, "--check")
    #expect(failure["code"] == "invalidTarget")
    #expect(failure["message"]?.string?.contains("leaves out 'down'") == true)
    let missing = try await tool.failure("sync", "load", "/nowhere/usersyncs.json", "--check")
    #expect(missing["code"] == "unreadable")
  }

  @Test func `a misspelled merge mode is an error of its entry, and no sync is made from it`()
    async throws
  {
    let tool = try Tool()
    let text = Self.good.replacing(
      "\"soupName\"", with: "\"options\": {\"mergeMode\": \"LEAVE_IF_CHANGE\"}, \"soupName\"")
    let file = try tool.file("mode.json", text)
    let checked = try await tool("sync", "load", file, "--check")
    #expect(checked.status == 1)
    #expect(checked.output.contains("mode.json:2:"), "\(checked.output)")
    #expect(checked.output.contains("error: Unknown merge mode 'LEAVE_IF_CHANGE'"))
    #expect(
      try await tool.failure("sync", "load", file, "--check")["code"] == "unknownMergeMode")
  }

  @Test(.covers("MS-271"))
  func `a file makes syncs once, which run by name`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      _ = try await tool.json(
        "login", "--url", server.info.url, "--access-token", server.info.accessToken)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      try await org.create("Account", ["Name": "Acme"])
      let file = try tool.file("usersyncs.json", Self.good)
      #expect(try await tool.json("sync", "load", file)["created"] == ["down"])
      let again = try await tool.json("sync", "load", file)
      #expect(again["created"] == [] && again["existing"] == ["down"])
      #expect(again["differing"] == [] && again["leftOut"] == [] && again["problems"] == [])
      let other = try tool.file(
        "other.json", Self.good.replacing("SELECT Name", with: "SELECT Name, Phone"))
      let differing = try await tool.json("sync", "load", other)
      #expect(differing["differing"] == ["down"])
      #expect(differing["problems"]?[0]?["code"] == "differsFromStored")
      #expect(try await tool.json("sync", "run", "down")["totalSize"] == 1)
    }
  }
}
