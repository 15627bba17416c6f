import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing
import TestSupport

/// Can a user send any request, and move files, with nothing but the command line?
@Suite struct RestStoryTests {
  private func withTool(_ body: (Tool) async throws -> Void) async throws {
    try await withMockOrg { _, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      try await body(tool)
    }
  }

  @Test(.covers("CO-136", "CO-137"))
  func `a file is uploaded as a form and comes back into a file`() async throws {
    try await withTool { tool in
      let text = String(repeating: "line of a plan\n", count: 100_000)
      let file = try tool.file("a \"plan\".txt", text)
      let uploaded = try await tool.json(
        "rest", "POST", "/connect/files/users/me", "--form", #"json={"title":"T","desc":"D"}"#,
        "--form", "fileData=@\(file);type=text/plain")
      #expect(uploaded["title"]?.string == "T")
      #expect(uploaded["contentSize"]?.int64 == Int64(text.utf8.count))
      let id = try #require(uploaded["id"]?.string)
      let copy = try tool.file("copy", "old")
      let saved = try await tool.json(
        "rest", "GET", "/connect/files/\(id)/content", "--output", copy)
      #expect(saved["path"]?.string == copy)
      #expect(saved["bytes"]?.int64 == Int64(text.utf8.count))
      #expect(saved["resumedFrom"]?.int64 == 0)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == text)
      let refused = try await tool.failure(
        "rest", "GET", "/connect/files/069000000000000AAA/content", "--output", copy)
      #expect(refused["number"]?.int64 == 404)
      #expect(try String(contentsOfFile: copy, encoding: .utf8) == text)
      // Without --json there is nothing on standard output, and a sentence for people.
      let told = try await tool("rest", "GET", "/connect/files/\(id)/content", "--output", copy)
      #expect(told.status == 0)
      #expect(told.output.isEmpty)
      #expect(told.errors.contains("saved \(text.utf8.count) bytes"))
    }
  }

  @Test func `a body is read from a file, and header fields are sent`() async throws {
    try await withTool { tool in
      let body = try tool.file("account.json", #"{"Name":"From a file"}"#)
      let made = try await tool.json("rest", "POST", "/sobjects/Account", "--body", "@\(body)")
      let id = try #require(made["id"]?.string)
      let read = try await tool.json("rest", "GET", "/sobjects/Account/\(id)")
      #expect(read["Name"]?.string == "From a file")
      let changed = try await tool.failure(
        "rest", "PATCH", "/sobjects/Account/\(id)", "--body", #"{"Name":"Late"}"#, "--header",
        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT")
      #expect(changed["number"]?.int64 == 412)
      let missing = try await tool.failure(
        "rest", "POST", "/sobjects/Account", "--body", "@/no/such/file")
      #expect(missing["code"]?.string == "unreadable")
    }
  }

  @Test(arguments: [
    ["GET", "/limits", "--body", "{}"], ["POST", "/x", "--body", "{}", "--form", "a=b"],
    ["POST", "/x", "--form", "nothing"], ["POST", "/x", "--form", "a=@"],
    ["GET", "/limits", "--header", "no colon"], ["POST", "/x", "--content-type", "text/csv"],
    ["FETCH", "/x"],
  ])
  func `what cannot be meant is wrong usage`(arguments: [String]) async throws {
    let tool = try Tool()
    let ended = try await tool.run(["rest"] + arguments + ["--state", tool.state.path])
    #expect(ended.status == 2)
    #expect(ended.output.isEmpty)
  }
}
