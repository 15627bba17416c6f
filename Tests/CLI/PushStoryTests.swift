import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Can a person register a device and read notifications from a shell?
@Suite(.timeLimit(.minutes(2))) struct PushStoryTests {
  @Test(.covers("CO-139.1", "CO-143", "HT-87.1"))
  func `a device is registered, renewed, and taken off by the logout`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      #expect(try await tool.failure("push", "types")["code"]?.string == "notLoggedIn")
      try await tool.logIn(to: server)
      org.notify(
        MockOrgNotification(
          title: "t", body: "b", type: "late", actions: [.init(key: "late.ok", label: "OK")]))
      let made = try await tool.json(
        "push", "register", "--token", "-", "--bundle", "com.acme", input: "0aff\n")
      #expect(made["deviceId"]?.string?.isEmpty == false)
      #expect(try await tool.json("run", "renew-push")["renewed"]?.int64 == 0)
      let types = try await tool.json("push", "types")["notificationTypes"]?.array ?? []
      #expect(types.compactMap { $0["apiName"]?.string } == ["late"])
      let pushes = try await org.pushes(of: MockOrgNotification(title: "secret title", body: "b"))
      #expect(
        pushes.count == 1 && !JSONValue.object(pushes[0].payload).text.contains("secret title"))
      _ = try await tool.json("logout")
      #expect(try await org.query("SELECT Id FROM MobilePushServiceDevice").isEmpty)
    }
  }

  @Test(.covers("HT-72.1", "HT-72.2"))
  func `listening prints what the server lists and what a companion passes on`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json("push", "register", "--token", "0aff", "--bundle", "com.acme")
      org.notify(MockOrgNotification(title: "listed", body: "b"))
      let push = try #require(
        try await org.pushes(of: MockOrgNotification(title: "passed on", body: "b")).first)
      let ended = try await Subprocess.run(
        .path(Tool.binary()),
        arguments: Arguments([
          "push", "listen", "--relay", "--allow-root", "--interval", "0.1", "--state",
          tool.state.path,
        ]), input: .none, output: .sequence, error: .discarded
      ) { execution in
        var lines = execution.standardOutput.strings().makeAsyncIterator()
        let relay = try JSONSlice(parsing: (try await lines.next() ?? "").trimmed)
        var request = URLRequest(
          url: try #require(relay["relay"]?.string.flatMap { URL(string: $0) }))
        request.httpMethod = "POST"
        request.httpBody = Data(JSONValue.object(push.payload).text.utf8)
        request.setValue(
          "Bearer \(relay["token"]?.string ?? "")", forHTTPHeaderField: "Authorization")
        #expect(try await WebPage.load(request).status == 202)
        var titles: Set<String> = []
        while titles.count < 2, let line = try await lines.next() {
          let payload = try JSONSlice(parsing: line.trimmed)["payload"]
          titles.insert((payload?["messageTitle"] ?? payload?["alertTitle"])?.string ?? "")
        }
        try execution.send(signal: .interrupt)
        #expect(titles == ["listed", "passed on"])
      }
      #expect(ended.terminationStatus == .exited(0))
    }
  }
}
