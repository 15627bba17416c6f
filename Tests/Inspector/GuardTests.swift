import FieldforceInspector
import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Who gets the page, and who the data?
struct GuardTests {
  @Test(.covers("HT-95.3"))
  func
    `without the page's number, the token, the host and the origin there is 403 without content`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    try await fixture.inspect { client in
      let origin = "http://127.0.0.1:\(client.inspector.port)"
      var refused: [InspectorClient.Response] = []
      for address in [
        "\(origin)/", "\(origin)/index.html", "\(origin)/AAAAAAAAAAAAAAAAAAAAAA/",
        String(client.page.dropLast()), "\(origin)//\(client.page.dropFirst(origin.count + 1))",
      ] { refused.append(try await client.raw(address)) }
      for (path, headers) in [
        ("api/stores", [:]), ("api/stores?token=\(client.token)", [:]), ("api/nothing", [:]),
        ("api/stores", ["Authorization": "Bearer \(client.token.dropLast())"]),
        ("api/stores", ["Authorization": "Basic \(client.token)"]),
        ("api/stores", ["Cookie": "token=\(client.token)"]),
      ] as [(String, [String: String])] {
        refused.append(try await client.raw(path, headers: headers, isAuthorized: false))
      }
      for (name, value) in [
        ("Origin", "http://evil.example"), ("Origin", "null"),
        ("Origin", "https://127.0.0.1:\(client.inspector.port)"), ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"), ("Host", "evil.example"),
        ("Host", "localhost:\(client.inspector.port)"),
      ] {
        refused.append(try await client.raw("api/stores", headers: [name: value]))
        refused.append(try await client.raw("", headers: [name: value]))
      }
      for response in refused {
        #expect(response.status == 403)
        #expect(response.text.isEmpty)
        #expect(response.headers["access-control-allow-origin"] == nil)
        #expect(response.headers["cache-control"] == "no-store")
      }
      #expect(
        try await client.raw("api/stores", headers: ["Origin": origin, "Sec-Fetch-Site": "none"])
          .status == 200)
    }
  }

  @Test(.covers("HT-70"))
  func `the page's files come with the policy that keeps other sites out, and no other file does`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.inspect { client in
      let index = try await client.raw("", isAuthorized: false)
      #expect(index.status == 200)
      #expect(index.headers["content-type"] == "text/html; charset=utf-8")
      let policy = index.headers["content-security-policy"] ?? ""
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'"))
      #expect(!policy.contains("unsafe"))
      #expect(index.headers["referrer-policy"] == "no-referrer")
      #expect(index.headers["cross-origin-opener-policy"] == "same-origin")
      #expect(index.headers["x-content-type-options"] == "nosniff")
      #expect(
        try await client.raw("data/api.js").headers["content-type"]
          == "text/javascript; charset=utf-8")
      for name in ["none.js", "data", "data/", "%2e%2e/Inspector.swift", "index.html%00.js"] {
        let response = try await client.raw(name)
        #expect(response.status == 404, "\(name)")
        #expect(response.text.isEmpty)
      }
      #expect(try await client.raw("index.html", "DELETE").status == 405)
    }
  }

  @Test(.covers("HT-70"))
  func `two inspectors have different addresses, and a taken port is an error`() async throws {
    let fixture = try StoresFixture()
    try await fixture.inspect { client in
      let other = try await Inspector.start(showing: fixture.app)
      #expect(InspectorClient(other).token != client.token)
      #expect(InspectorClient(other).page.suffix(24) != client.page.suffix(24))
      await other.stop()
      let error = await #expect(throws: InspectorError.self) {
        try await Inspector.start(showing: fixture.app, port: client.inspector.port)
      }
      #expect(error?.code == .cannotListen)
    }
  }

  @Test(.covers("CO-184", "CO-13.5"), .covers("SS-226"))
  func `without developer support no inspector starts`() async throws {
    let fixture = try StoresFixture()
    var app = fixture.app
    app.isDeveloperSupportEnabled = false
    let error = await #expect(throws: InspectorError.self) {
      try await Inspector.start(showing: app)
    }
    #expect(error?.code == .notEnabled)
    #expect(
      InspectedApp(name: "x", stores: fixture.stores).isDeveloperSupportEnabled
        == SmartStoreOptions.isDebugBuild)
  }

  @Test(.covers("HT-70"))
  func `an inspector without requests ends by itself, and a stopped one accepts no connection`()
    async throws
  {
    let fixture = try StoresFixture()
    var limits = InspectorLimits()
    limits.idleTime = .milliseconds(50)
    let inspector = try await Inspector.start(
      showing: fixture.app, access: .readOnly, limits: limits)
    await inspector.waitForEnd()
    await inspector.stop()
    await #expect(throws: (any Error).self) {
      try await InspectorClient(inspector).raw("")
    }
  }

  @Test(.covers("HT-70"))
  func `waiting for the end ends with its task`() async throws {
    let fixture = try StoresFixture()
    try await fixture.inspect { client in
      let waiting = Task { await client.inspector.waitForEnd() }
      await Task.yield()
      waiting.cancel()
      await waiting.value
    }
  }

  @Test(.covers("HT-70"))
  func `requests that cannot be read are refused with a reason`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    var limits = InspectorLimits()
    limits.requestBytes = 1_000
    try await fixture.inspect(limits: limits) { client in
      let query = "api/\(try await client.store())/query"
      #expect(try await client.raw("api/nothing").error == "notFound")
      #expect(try await client.raw("api/stores/%2e%2e/soups").error == "notFound")
      let wrong = try await client.raw("api/stores", "DELETE")
      #expect(wrong.status == 405)
      #expect(wrong.headers["allow"] == "GET")
      for body in ["", "[]", "{", "null", #""x""#] {
        #expect(try await client.raw(query, "POST", body: body).status == 400, "\(body)")
      }
      let plain = try await client.raw(
        query, "POST", body: "{}", headers: ["Content-Type": "text/plain"])
      #expect(plain.status == 415)
      let long = #"{"smartSQL":"\#(String(repeating: "x", count: 2_000))"}"#
      #expect(try await client.raw(query, "POST", body: long).status == 413)
      let entries = try await client.entries()
      for parameters in [
        ["limit": "0"], ["limit": "501"], ["limit": "+1"], ["colour": "red"], ["at": "2"],
        ["direction": "up"], ["order": "_soupEntryId", "from": "x"],
        ["columns": (0..<21).map(String.init).joined(separator: ",")],
      ] {
        #expect(
          try await client.call(entries, parameters).error == "invalidRequest", "\(parameters)")
      }
      #expect(try await client.call(entries, ["after": "nonsense"]).error == "invalidCursor")
    }
  }
}
