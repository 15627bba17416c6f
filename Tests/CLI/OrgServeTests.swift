import Foundation
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Can a program in any language start the mock org, use it and stop it?
@Suite struct OrgServeTests {
  /// Starts `org serve`, gives its first line to `body`, and stops it.
  private func withServer(
    _ arguments: [String], signal: Signal = .terminate, _ body: (JSONSlice) async throws -> Void
  ) async throws {
    let (status, rest) = try await Tool.serve(["org", "serve"] + arguments, signal: signal) {
      line in
      try await body(try JSONSlice(parsing: line))
    }
    #expect(status == 0)
    #expect(rest.isEmpty, "one line and no more")
  }

  private func get(
    _ info: JSONSlice, _ path: String, token: String? = nil
  ) async throws -> WebPage {
    var request = URLRequest(
      url: try #require(URL(string: (info["url"]?.string ?? "") + path)))
    request.setValue(
      "Bearer \(token ?? info["accessToken"]?.string ?? "")", forHTTPHeaderField: "Authorization")
    return try await WebPage.load(request)
  }

  @Test func `the first line says all that a client needs, and SIGTERM ends the server well`()
    async throws
  {
    try await withServer(["--port", "0", "--generate", "Account=25", "--seed", "7"]) { info in
      for key in [
        "url", "instanceUrl", "apiVersion", "accessToken", "refreshToken", "username", "password",
        "clientId", "clientSecret", "redirectUri", "userId", "organizationId",
      ] {
        #expect(info[key]?.string?.isEmpty == false, "\(key)")
      }
      let query = "/services/data/v66.0/query?q=SELECT+COUNT()+FROM+Account"
      let answer = try await get(info, query)
      #expect(answer.status == 200)
      #expect(try JSONSlice(parsing: answer.text)["totalSize"]?.int64 == 25)
      #expect(try await get(info, query, token: "guessed").status == 401)
    }
  }

  @Test func `SIGINT ends the server well too`() async throws {
    try await withServer([], signal: .interrupt) { info async throws in
      #expect(try await get(info, "/services/data").status == 200)
    }
  }

  @Test func `a file of faults makes the org misbehave`() async throws {
    let tool = try Tool()
    let faults = try tool.file(
      "faults.json", #"[{"path":"/limits","status":500,"body":"[]"}]"#)
    try await withServer(["--faults", faults]) { info async throws in
      #expect(try await get(info, "/services/data/v66.0/limits").status == 500)
      #expect(try await get(info, "/services/data/v66.0/limits").status == 200)
    }
    let broken = try tool.file("broken.json", #"[{"path":"/limits"}]"#)
    let result = try await tool.run(["org", "serve", "--faults", broken])
    #expect(result.status == 1)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("Rule 1"))
  }

  @Test func `a taken port is told`() async throws {
    try await withServer([]) { info in
      let port = try #require(URL(string: info["url"]?.string ?? "")?.port)
      let result = try await Tool().run(["org", "serve", "--port", "\(port)"])
      #expect(result.status == 1)
      #expect(result.errors.contains("\(port)"))
    }
  }
}
