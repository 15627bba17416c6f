import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

/// Which events does the command line store, and when do they leave the machine?
@Suite struct AnalyticsStoryTests {
  @Test(.covers("CA-42", "CA-44"))
  func `events are listed, published on request, and kept while the user opted out`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json("soup", "register", "notes", "--index", "Id:string")
      let listed = try await tool.json("analytics", "list")
      #expect(listed["enabled"] == true)
      let names = listed["events"]?.array?.compactMap { $0["name"]?.string } ?? []
      #expect(names.contains("addUser") && names.contains("registerSoup"))
      #expect(org.analyticsLines.isEmpty)
      let text = try await tool("analytics", "list")
      #expect(text.output.contains("registerSoup\tSmartStore\t"))

      #expect(try await tool.json("analytics", "optout") == ["enabled": false])
      _ = try await tool.json("soup", "register", "more", "--index", "Id:string")
      let off = try await tool.json("analytics", "list")
      #expect(off["enabled"] == false && off["events"]?.array?.count == names.count)
      #expect(try await tool.json("analytics", "publish") == ["published": 0])
      #expect(try await tool.json("analytics", "optout", "--undo") == ["enabled": true])

      org.add(MockOrgFault(path: "app-analytics-logging", action: .status(500, body: "[]")))
      let refused = try await tool("analytics", "publish", "--json").failure()
      #expect(refused["code"] == "publicationFailed")
      let published = try await tool.json("analytics", "publish")["published"]?.int64 ?? 0
      #expect(published == Int64(names.count) && org.analyticsLines.count == names.count)
      #expect(try await tool.json("analytics", "list")["events"] == [])
      #expect(try await tool("analytics", "list").output.trimmed == "no events")
    }
  }

  @Test(.covers("CA-39"))
  func `without a login there are no events to list, publish or switch off`() async throws {
    let tool = try Tool()
    for command in ["list", "publish", "optout"] {
      let failure = try await tool("analytics", command, "--json").failure()
      #expect(failure["code"] == "notLoggedIn")
    }
  }
}
