import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Can a user add files without a network, upload and download them, and take them to another device?
@Suite struct FilesStoryTests {
  private func prepare(_ tool: Tool, _ server: MockOrgServer) async throws {
    try await tool.logIn(to: server)
    _ = try await tool.json(
      "soup", "register", "accounts", "--index", "Id:string", "--index", "Name:string",
      "--index", "__local__:string", "--index", "__sync_id__:integer")
    _ = try await tool.json(
      "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account",
      "--merge-mode", "MERGE_FIELDS", "--name", "down")
  }

  @Test func `files are added, listed, uploaded and downloaded`() async throws {
    try await withMockOrg(MockOrgOptions()) { org, server in
      let id = try await org.create("Account", ["Name": "Arbour"])
      let tool = try Tool()
      try await prepare(tool, server)
      let source = try tool.file("roof.txt", "the roof leaks")
      let queued = try await tool.json("files", "add", source, "--record", id)
      #expect(queued["state"] == "queued" && queued["size"] == 14)
      let key = try #require(queued["id"]?.string)
      let local = try await tool.json(
        "store", "create", "accounts", "Name=Beacon", "--type", "Account")
      let localId = try #require(local["entry"]?["Id"]?.string)
      let waiting = try await tool.json("files", "add", source, "--record", localId)
      #expect(waiting["state"] == "waitingForRecord")
      let refused = try await tool.failure("logout")
      #expect(refused["code"] == "unsyncedRecords")

      let report = try await tool.json("files", "sync", status: 3)
      let fileId = try #require(report["uploaded"]?[key]?.string)
      #expect(report["waiting"]?.array?.count == 1)
      let listed = try await tool.json("files", "list", "--record", id)
      #expect(listed["files"]?[0]?["state"] == "available")
      let copy = try tool.file("unused", "") + ".copy"
      _ = try await tool.json("files", "download", fileId, "--output", copy)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == "the roof leaks")
      _ = try await tool.json("files", "remove", fileId)
      let after = try await tool.json("files", "list", "--record", id)
      #expect(after["files"]?[0]?["state"] == "onServer")
      #expect(try await org.count("ContentVersion") == 1)

      let unknown = try await tool.failure("files", "add", source, "--record", "001x")
      #expect(unknown["code"] == "unknownRecord")
      let missing = try await tool.failure("files", "add", source + "x", "--record", id)
      #expect(missing["code"] == "unreadableSource")
    }
  }

  @Test func `queued files are part of a rescue, and uploaded from another state folder`()
    async throws
  {
    try await withMockOrg(MockOrgOptions()) { org, server in
      let id = try await org.create("Account", ["Name": "Arbour"])
      let (first, second) = (try Tool(), try Tool())
      try await prepare(first, server)
      try await prepare(second, server)
      let source = try first.file("roof.txt", "the roof leaks")
      _ = try await first.json("files", "add", source, "--record", id)
      let passphrase = try first.file("passphrase", "correct horse battery\n")
      let file = try first.file("unused", "") + ".rescue"
      let exported = try await first.json(
        "rescue", "export", file, "--passphrase", "@\(passphrase)")
      #expect(exported["files"] == 1 && exported["entries"] == 0)
      let imported = try await second.json(
        "rescue", "import", file, "--passphrase", "@\(passphrase)")
      #expect(imported["files"] == 1)
      let report = try await second.json("files", "sync")
      #expect(report["uploaded"]?.object?.count == 1)
      #expect(try await org.count("ContentVersion") == 1)
    }
  }
}
