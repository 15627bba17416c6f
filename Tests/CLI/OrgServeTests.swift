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
    _ info: JSONSlice, _ path: String, token: String? = nil, method: String = "GET"
  ) async throws -> WebPage {
    var request = URLRequest(
      url: try #require(URL(string: (info["url"]?.string ?? "") + path)))
    request.httpMethod = method
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

  @Test func `users, profiles, sharing and a project's objects come from files`() async throws {
    let tool = try Tool()
    let folder = try TemporaryFolder()
    let project = folder.file("objects/Trip__c")
    try FileManager.default.createDirectory(at: project, withIntermediateDirectories: true)
    let definition = """
      <CustomObject xmlns="http://soap.sforce.com/2006/04/metadata"><label>Trip</label>
      <sharingModel>Private</sharingModel></CustomObject>
      """
    try Data(definition.utf8).write(to: project.appending(path: "Trip__c.object-meta.xml"))
    let setup = try tool.file(
      "setup.json",
      #"""
      {"profiles":[{"name":"Driver","modifiesAllData":false,"hiddenObjects":["Lead"]}],
      "users":[{"username":"dora@x.example","password":"pw","profile":"Driver"}]}
      """#)
    try await withServer([
      "--source", folder.url.path, "--setup", setup,
      "--generate", "Trip__c=3", "--apex-clauses", "--redirect", "https://app.example/done",
      "--client-id", "a",
    ]) { info in
      let count = "/services/data/v66.0/query?q=SELECT+COUNT()+FROM+Trip__c+ALL+ROWS"
      let all = try await get(info, count)
      #expect(try JSONSlice(parsing: all.text)["totalSize"]?.int64 == 3)
      let login = try await get(
        info,
        "/services/oauth2/token?grant_type=password&client_id=a&username=dora%40x.example&password=pw",
        method: "POST")
      let token = try JSONSlice(parsing: login.text)["access_token"]?.string
      let hers = try await get(info, count, token: token)
      #expect(try JSONSlice(parsing: hers.text)["totalSize"]?.int64 == 0)
      let hidden = try await get(info, "/services/data/v66.0/sobjects/Lead/describe", token: token)
      #expect(hidden.status == 404)
      let redirect = "/services/oauth2/authorize?response_type=code&client_id=a&redirect_uri="
      #expect(try await get(info, redirect + "https%3A%2F%2Fapp.example%2Fdone").status == 200)
      #expect(try await get(info, redirect + "https%3A%2F%2Fevil.example%2F").status == 400)
    }
    let broken = try tool.file("broken.json", #"{"sharing":{"Nothing__c":"Private"}}"#)
    let result = try await tool.run(["org", "serve", "--setup", broken])
    #expect(result.status == 1)
    #expect(result.errors.contains("Nothing__c"))
  }

  @Test func `a taken port is reported`() async throws {
    try await withServer([]) { info in
      let port = try #require(URL(string: info["url"]?.string ?? "")?.port)
      let result = try await Tool().run(["org", "serve", "--port", "\(port)"])
      #expect(result.status == 1)
      #expect(result.errors.contains("\(port)"))
    }
  }
}
