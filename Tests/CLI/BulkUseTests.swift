import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does a sync with --bulk say when it sends records without a job?
@Suite(.timeLimit(.minutes(2))) struct BulkUseTests {
  /// Logs in and makes a soup with some local records.
  private func withEdits(
    creates: Int, _ body: (Tool, MockOrg) async throws -> Void
  ) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
        "--index", "__sync_id__:integer")
      for number in 0..<creates {
        _ = try await tool.json(
          "store", "create", "accounts", "--type", "Account", "Name=New \(number)")
      }
      try await body(tool, org)
    }
  }

  private func up(_ tool: Tool, _ options: [String]) async throws -> (JSONValue, String) {
    let result = try await tool.run(
      [
        "sync", "up", "--soup", "accounts", "--fields", "Name", "--state", tool.state.path,
        "--json",
      ]
        + options)
    return (try result.document(), result.errors)
  }

  @Test(arguments: [
    (["--bulk"], 0, 3),
    (["--target", #"{"type":"bulk","leastRecords":4,"pollInterval":1}"#], 0, 3),
    (["--target", #"{"type":"bulk","leastRecords":3,"pollInterval":1}"#], 1, 0),
  ])
  func `an upload says how many records went without a job`(
    options: [String], jobs: Int, others: Int
  ) async throws {
    try await withEdits(creates: 3) { tool, _ in
      let (report, errors) = try await up(tool, options)
      #expect(report["outcomes"]?["succeeded"]?.int64 == 3, "\(report.text)")
      #expect(report["bulk"]?["jobs"]?.int64 == Int64(jobs))
      #expect(report["bulk"]?["recordsWithoutJob"]?.int64 == Int64(others))
      #expect(errors.contains("3 records uploaded without a bulk job") == (others > 0), "\(errors)")
    }
  }

  @Test func `what needs no job, and what is another target, says nothing`() async throws {
    try await withEdits(creates: 1) { tool, org in
      let (other, quiet) = try await up(tool, [])
      #expect(other["bulk"] == nil && quiet.isEmpty)
      let (none, errors) = try await up(tool, ["--bulk"])
      #expect(none["bulk"]?["recordsWithoutJob"] == 0 && errors.isEmpty)
      let down = try await tool.json(
        "sync", "down", "--soup", "accounts", "--target",
        #"{"type":"bulk","query":"SELECT Id, Name FROM Account","pollInterval":1}"#)
      #expect(down["bulk"]?["jobs"] == 1 && down["bulk"]?["recordsWithoutJob"] == 0)
    }
  }
}
