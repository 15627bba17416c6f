import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// Which responses are used again, for whom, and for how long?
@Suite struct ResponseCacheTests {
  /// A client with a cache, a clock that moves by hand, and a server that counts.
  private struct World {
    let folder: TemporaryFolder
    let org: TestOrg
    let transport: ScriptedTransport
    let accounts: UserAccountManager
    let stores: KeyValueStores
    let cache: ResponseCache
    let client: RestClient
    let passed: Seconds

    var requests: [TransportRequest] {
      transport.requests.filter { $0.url.path().hasPrefix("/services/data") }
    }
  }

  private static let now = Date(timeIntervalSince1970: 1_700_000_000)

  private func withWorld(
    maxBytes: Int = 20 << 20,
    _ answer: @escaping @Sendable (TransportRequest) -> RestResponse,
    _ body: (World) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let org = TestOrg { answer($0) }
    let transport = org.transport()
    let other = org.account(identity: Self.otherIdentity)
    let accounts = try await org.manager([org.account(), other], transport: transport)
    let stores = KeyValueStores(
      folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()),
      accounts: accounts)
    let passed = Seconds()
    let cache = ResponseCache(
      stores: stores, accounts: accounts, maxBytes: maxBytes,
      now: { Self.now.addingTimeInterval(Double(passed.value)) })
    var options = RestClient.Options()
    options.cache = cache
    let client = RestClient(
      account: org.account(), accounts: accounts, transport: transport, options: options)
    try await body(
      World(
        folder: folder, org: org, transport: transport, accounts: accounts, stores: stores,
        cache: cache, client: client, passed: passed))
    await accounts.close()
  }

  /// The seconds that have passed, by hand.
  private final class Seconds: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func pass(_ seconds: Int) { count.withLock { $0 += seconds } }
  }

  private static let otherIdentity = UserAccountIdentity(
    userId: "005000000000002AAA", organizationId: "00D000000000001EAA")

  private static func response(_ body: String, _ fields: [(String, String)]) -> RestResponse {
    var headers = HTTPFields()
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    return RestResponse(status: 200, headers: headers, body: Array(body.utf8))
  }

  private let describe = RestRequest(path: "/{v}/sobjects/Account/describe")

  @Test(.covers("CO-188", "BX-50"))
  func `a fresh response needs no request, and no client has a cache by default`() async throws {
    try await withWorld({ _ in Self.response("{}", [("Cache-Control", "private, max-age=60")]) }) {
      world in
      for _ in 0..<3 { #expect(try await world.client.send(describe).text == "{}") }
      world.passed.pass(59)
      _ = try await world.client.send(describe)
      #expect(world.requests.count == 1)
      world.passed.pass(1)
      _ = try await world.client.send(describe)
      #expect(world.requests.count == 2)
      let plain = RestClient(
        account: world.org.account(), accounts: world.accounts, transport: world.transport)
      _ = try await plain.send(describe)
      #expect(world.requests.count == 3)
      var fresh = describe
      fresh.headers[.cacheControl] = "no-cache"
      _ = try await world.client.send(fresh)
      #expect(world.requests.count == 4)
    }
  }

  @Test(.covers("CO-188"))
  func `a stale response is confirmed by its tag, and keeps its body`() async throws {
    try await withWorld({ request in
      guard request.headers[.ifNoneMatch] == "\"7\"" else {
        return Self.response("body", [("ETag", "\"7\""), ("X-First", "1")])
      }
      var headers = HTTPFields()
      headers[.eTag] = "\"7\""
      headers[.date] = "Tue, 14 Nov 2023 22:13:20 GMT"
      return RestResponse(status: 304, headers: headers, body: [])
    }) { world in
      let first = try await world.client.send(describe)
      let second = try await world.client.send(describe)
      #expect(first.text == "body" && second.text == "body")
      #expect(second.status == 200 && second.headers[.date] != nil)
      #expect(world.requests.count == 2)
      #expect(world.requests[0].headers[.ifNoneMatch] == nil)
      #expect(world.requests[1].headers[.ifNoneMatch] == "\"7\"")
      // A condition of the caller's own goes to the server, and so does its response to the caller.
      var own = describe
      own.headers[.ifNoneMatch] = "\"7\""
      #expect(try await world.client.response(to: own).status == 304)
    }
  }

  @Test(
    .covers("CO-188"),
    arguments: [
      [("Cache-Control", "no-store, max-age=60"), ("ETag", "\"1\"")],
      [("Cache-Control", "max-age=60"), ("Vary", "*")], [("X-Nothing", "1")],
      [("Cache-Control", "max-age=0")], [("Cache-Control", "max-age=60"), ("Age", "60")],
      [("Expires", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")],
    ])
  func `what the server does not allow is not used again`(_ fields: [(String, String)]) async throws
  {
    try await withWorld({ _ in Self.response("{}", fields) }) { world in
      for _ in 0..<2 { _ = try await world.client.send(describe) }
      #expect(world.requests.count == 2)
      #expect(world.requests.allSatisfy { $0.headers[.ifNoneMatch] == nil })
    }
  }

  @Test(.covers("CO-188"))
  func `a request that the response varies by has an entry of its own`() async throws {
    try await withWorld({ request in
      Self.response(
        request.headers[.acceptLanguage] ?? "none",
        [("Cache-Control", "max-age=60"), ("Vary", "Accept-Language, Authorization")])
    }) { world in
      var german = describe
      german.headers[.acceptLanguage] = "de"
      var texts: [String] = []
      for request in [describe, german, german] {
        texts.append(try await world.client.send(request).text)
      }
      #expect(texts == ["none", "de", "de"])
      #expect(world.requests.count == 2)
    }
  }

  @Test(.covers("CO-188", "BX-50"))
  func `each user has entries of their own, and the logout removes them`() async throws {
    try await withWorld({ request in
      Self.response("{}", [("Cache-Control", "max-age=60")])
    }) { world in
      var options = RestClient.Options()
      options.cache = world.cache
      let other = RestClient(
        account: world.org.account(identity: Self.otherIdentity), accounts: world.accounts,
        transport: world.transport, options: options)
      _ = try await world.client.send(describe)
      _ = try await other.send(describe)
      #expect(world.requests.count == 2)
      _ = try await world.accounts.logOut(TestOrg.identity, reason: .userLogout)
      await #expect(throws: RestError.self) { try await world.client.send(describe) }
      _ = try await other.send(describe)
      #expect(world.requests.count == 2)
      #expect(try world.stores.storeNames(for: world.org.account()).isEmpty)
    }
  }

  @Test(.covers("CO-188"))
  func `a change of a record removes the responses of its path`() async throws {
    try await withWorld({ _ in Self.response("{}", [("Cache-Control", "max-age=60")]) }) { world in
      let record = RestRequest(
        path: "/{v}/sobjects/Account/001", query: [RestQueryItem("fields", "Name")])
      _ = try await world.client.send(record)
      _ = try await world.client.send(describe)
      _ = try await world.client.send(
        RestRequest(method: .patch, path: "/{v}/sobjects/Account/001", body: Array("{}".utf8)))
      _ = try await world.client.send(record)
      _ = try await world.client.send(describe)
      #expect(world.requests.map(\.method) == [.get, .get, .patch, .get])
    }
  }

  @Test(.covers("CO-188"))
  func `the least recently used responses go when there is no space`() async throws {
    let body = String(repeating: "a", count: 1_000)
    try await withWorld(
      maxBytes: 3_000, { _ in Self.response(body, [("Cache-Control", "max-age=60")]) }
    ) { world in
      func get(_ name: String) async throws {
        _ = try await world.client.send(RestRequest(path: "/{v}/\(name)"))
      }
      try await get("a")
      try await get("b")
      try await get("a")
      #expect(world.requests.count == 2)
      // Three responses with their fields have more than 3,000 bytes.
      try await get("c")
      try await get("a")
      #expect(world.requests.count == 3)
      try await get("b")
      #expect(world.requests.count == 4)
    }
  }

  @Test(.covers("CO-188", "BX-50"))
  func `nothing of a response is in the files, and a damaged file is a miss`() async throws {
    try await withWorld({ _ in
      Self.response("confidential", [("Cache-Control", "max-age=60")])
    }) { world in
      _ = try await world.client.send(describe)
      let files = try FileManager.default.subpathsOfDirectory(atPath: world.folder.url.path)
        .map { world.folder.url.appending(path: $0) }
        .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
      #expect(files.count >= 2)
      for file in files {
        let bytes = try Data(contentsOf: file)
        #expect(bytes.range(of: Data("confidential".utf8)) == nil)
        #expect(bytes.range(of: Data("describe".utf8)) == nil)
        #expect(!file.lastPathComponent.contains("describe"))
        try Data(repeating: 1, count: bytes.count).write(to: file)
      }
      #expect(try await world.client.send(describe).text == "confidential")
      #expect(world.requests.count == 2)
    }
  }
}
