import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// How a client sends: again after a failure that may pass, in pieces, and not at all any more.
@Suite struct SendingTests {
  /// A clock that notes how long it was to sleep, and does not.
  private final class NotedClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant
    let waits = Mutex<[Duration]>([])
    let start = ContinuousClock.now
    var now: Instant { start + waits.withLock { $0.reduce(.zero, +) } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      try Task.checkCancellation()
      let wait = now.duration(to: deadline)
      waits.withLock { $0.append(wait) }
    }
  }

  private struct Setup {
    let transport: ScriptedTransport
    let clock = NotedClock()
    let client: RestClient
    var sent: Int { transport.requests.count }
    var waits: [Duration] { clock.waits.withLock { $0 } }

    init(
      policy: RetryPolicy = RetryPolicy(), chance: Double = 0.5, org: TestOrg = TestOrg(),
      observer: (@Sendable (TransferMetrics) -> Void)? = nil,
      redirects: RedirectRule = RedirectRule(), _ script: ScriptedTransport
    ) async throws {
      transport = script
      client = RestClient(
        account: org.account(), accounts: try await org.manager(transport: script),
        transport: script, redirects: redirects,
        options: .init(
          retries: policy, clock: clock, chance: { chance }, observer: observer))
    }
  }

  private func failing(
    _ times: Int, _ code: TransportError.Code = .unreachable
  ) -> ScriptedTransport {
    let count = Mutex(0)
    return ScriptedTransport { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number <= times { throw TransportError(code, "no") }
      return RestResponse(json: "{}")
    }
  }

  @Test(.covers("BX-57"))
  func `a request that may be repeated is, after growing waits`() async throws {
    let setup = try await Setup(policy: RetryPolicy(maxAttempts: 4), failing(3))
    #expect(try await setup.client.send(.limits()).status == 200)
    #expect(setup.sent == 4)
    #expect(setup.waits == [.milliseconds(250), .milliseconds(500), .seconds(1)])
  }

  @Test(.covers("BX-57"))
  func `after the last attempt the failure is the caller's`() async throws {
    let setup = try await Setup(failing(9, .truncated))
    let error = await #expect(throws: RestError.self) {
      try await setup.client.send(.limits())
    }
    #expect(error?.code == .truncated)
    #expect(setup.sent == 3)
    let refused = try await Setup(
      ScriptedTransport { _ in RestResponse(status: 503, json: "[]") })
    #expect(try await refused.client.response(to: .limits()).status == 503)
    #expect(refused.sent == 3)
  }

  @Test(.covers("BX-57"))
  func `what changes something is sent once, unless the caller says that it may`()
    async throws
  {
    for request in [
      RestRequest.create(object: "A", fields: ["B": 1]), .delete(object: "A", id: "1"),
      .update(object: "A", id: "1", fields: [:]),
    ] {
      let setup = try await Setup(failing(1))
      await #expect(throws: RestError.self) { try await setup.client.send(request) }
      #expect(setup.sent == 1)
      var repeatable = request
      repeatable.isRepeatable = true
      #expect(try await setup.client.send(repeatable).status == 200)
    }
    #expect(RestRequest(method: .put, path: "/x").isRepeatable)
    #expect(RestRequest(method: .head, path: "/x").isRepeatable)
    let read = try RestRequest.collectionRetrieve(object: "A", ids: ["1"], fields: ["Id"])
    #expect(read.isRepeatable)
  }

  @Test(
    .covers("CO-119"),
    arguments: [
      TransportError.Code.timedOut, .tooLarge, .insecureURL, .malformed, .unreadableBody,
    ])
  func `what another attempt would not repair has none`(code: TransportError.Code) async throws {
    let setup = try await Setup(failing(1, code))
    await #expect(throws: RestError.self) { try await setup.client.send(.limits()) }
    #expect(setup.sent == 1)
    #expect(setup.waits.isEmpty)
  }

  @Test(.covers("BX-57"))
  func `the server's Retry-After is the shortest wait, and may be too long`()
    async throws
  {
    let answers = Mutex(["2", "Sun, 06 Nov 1994 08:49:37 GMT"])
    let setup = try await Setup(
      ScriptedTransport { _ in
        guard let wait = answers.withLock({ $0.popLast() }) else { return .init(json: "{}") }
        return RestResponse(status: 503, headers: [.retryAfter: wait])
      })
    #expect(try await setup.client.send(.limits()).status == 200)
    // A date that is past asks for no wait.
    #expect(setup.waits == [.milliseconds(250), .milliseconds(2250)])
    let long = try await Setup(
      ScriptedTransport { _ in RestResponse(status: 503, headers: [.retryAfter: "31"]) })
    #expect(try await long.client.response(to: .limits()).status == 503)
    #expect(long.sent == 1)
  }

  @Test(.covers("BX-57"))
  func `a client that fails all the time uses up its repetitions`() async throws {
    let setup = try await Setup(policy: RetryPolicy(budget: 2), failing(.max))
    for _ in 0..<8 {
      await #expect(throws: RestError.self) { try await setup.client.send(.limits()) }
    }
    // Two saved up at first, and a tenth of one for each request.
    #expect(setup.sent == 8 + 2)
  }

  @Test(.covers("BX-57"))
  func `the decisions, as a table`() {
    func waits(_ policy: RetryPolicy, _ chance: Double, _ count: Int) -> [Duration?] {
      var machine = RetryMachine(policy: policy, isRepeatable: true)
      return (0..<count).map { _ in machine.wait(after: .failure(.unreachable), chance: chance) }
    }
    let policy = RetryPolicy(
      maxAttempts: 6, firstWait: .seconds(1), maxWait: .seconds(5), budget: 1)
    #expect(
      waits(policy, 1, 7) == [
        .seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5), nil, nil,
      ])
    #expect(waits(policy, 0, 1) == [.zero])
    #expect(waits(.never, 1, 1) == [nil])
    for (status, mayPass) in [(503, true), (500, false), (429, false), (502, false), (200, false)] {
      var machine = RetryMachine(policy: policy, isRepeatable: true)
      let wait = machine.wait(after: .response(status: status, retryAfter: nil), chance: 1)
      #expect((wait != nil) == mayPass, "\(status)")
    }
    for (status, asked) in [(503, 2), (429, 2)] {
      var machine = RetryMachine(policy: policy, isRepeatable: true)
      let response = RetryMachine.Outcome.response(status: status, retryAfter: .seconds(asked))
      #expect(machine.wait(after: response, chance: 0) == .seconds(asked), "\(status)")
    }
    var once = RetryMachine(policy: policy, isRepeatable: false)
    #expect(once.wait(after: .failure(.unreachable), chance: 1) == nil)
    let now = SalesforceDate(milliseconds: 784_111_777_000)
    for (text, wait) in [
      ("0", Duration.zero), (" 7 ", .seconds(7)), ("Sun, 06 Nov 1994 08:49:38 GMT", .seconds(1)),
      ("999999999999", .seconds(86_400)),
    ] {
      #expect(HTTPFields([.init(name: .retryAfter, value: text)]).retryAfter(now: now) == wait)
    }
    for text in ["", "-1", "soon"] {
      #expect(HTTPFields([.init(name: .retryAfter, value: text)]).retryAfter(now: now) == nil)
    }
  }

  @Test(.covers("CO-121.1", "BX-57"))
  func `a repetition may still need a refresh, and that one more attempt`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    let count = Mutex(0)
    let inner = org.transport()
    let setup = try await Setup(
      org: org,
      ScriptedTransport { request in
        if request.url.path().hasSuffix("/limits"),
          count.withLock({
            $0 += 1; return $0
          }) == 1
        {
          throw TransportError(.unreachable, "no")
        }
        return try await inner.send(request)
      })
    #expect(try await setup.client.send(.limits()).status == 200)
    #expect(org.state.withLock { $0.refreshes } == 1)
    #expect(count.withLock { $0 } == 3)
  }

  @Test(.covers("CO-129"))
  func `cancelling ends a wait between attempts`() async throws {
    let clock = ContinuousClock()
    let transport = failing(.max)
    let org = TestOrg()
    let client = RestClient(
      account: org.account(), accounts: try await org.manager(transport: transport),
      transport: transport,
      options: .init(
        retries: RetryPolicy(firstWait: .seconds(3600), maxWait: .seconds(3600)), clock: clock,
        chance: { 1 }))
    let task = Task { try await client.send(.limits()) }
    await until { transport.requests.count == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.requests.count == 1)
  }

  @Test(.covers("CO-129", "BX-56"))
  func `requests are cancelled all, or by choice, and counted`() async throws {
    let latch = Latch()
    let setup = try await Setup(
      ScriptedTransport { _ in
        try await latch.wait()
        return .init(json: "{}")
      })
    let client = setup.client
    let tasks = ["/a/1", "/a/2", "/b/1"].map { path in
      Task { try await client.send(RestRequest(path: path)) }
    }
    await until { setup.sent == 3 }
    #expect(client.cancel { $0.path.hasPrefix("/a/") } == 2)
    for task in tasks.prefix(2) {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(client.cancelAll() == 1)
    await #expect(throws: CancellationError.self) { try await tasks[2].value }
    #expect(client.cancelAll() == 0)
    latch.open()
    #expect(try await client.send(.limits()).status == 200)
  }

  @Test(.covers("BX-51"))
  func `an observer receives what each call cost, and no secret`() async throws {
    let seen = Mutex<[TransferMetrics]>([])
    let org = TestOrg { _ in RestResponse(status: 404, json: "[]") }
    org.state.withLock { $0.accessToken = "access-9" }
    let setup = try await Setup(
      org: org, observer: { metrics in seen.withLock { $0.append(metrics) } }, org.transport())
    _ = try await setup.client.response(to: .create(object: "A", fields: ["B": 1]))
    let failed = try await Setup(
      observer: { metrics in seen.withLock { $0.append(metrics) } }, failing(.max))
    _ = try? await failed.client.send(.limits())
    let all = seen.withLock { $0 }
    let first = try #require(all.first)
    #expect(first.method == .post)
    #expect(first.host == "acme.my.salesforce.com")
    #expect(first.status == 404)
    #expect(first.sentBytes == 7)
    #expect(first.receivedBytes == 2)
    #expect(first.repetitions == 1)
    #expect(first.duration > .zero)
    #expect(all.last?.status == nil)
    #expect(all.last?.repetitions == 2)
    #expect(all.count == 2)
  }

  @Test(.covers("CO-114", "CO-127", "CO-9.1"))
  func `a client without an account asks whole addresses without a token`()
    async throws
  {
    let transport = ScriptedTransport { _ in RestResponse(json: "{}") }
    let client = RestClient(transport: transport)
    let url = try #require(URL(string: "https://example.com/x?y=1"))
    #expect(try await client.send(RestRequest(url: url)).status == 200)
    #expect(transport.requests.map(\.url) == [url])
    #expect(transport.requests.first?.headers[.authorization] == nil)
    func code(_ request: RestRequest) async -> RestError.Code? {
      await #expect(throws: RestError.self) { try await client.send(request) }?.code
    }
    #expect(await code(.limits()) == .notAuthenticated)
    #expect(await code(.versions()) == .invalidRequest)
    #expect(transport.requests.count == 1)
  }

  @Test(.covers("CO-115.1", "BX-57", "CO-59.3"))
  func `a request is a value that any number of tasks may send again`()
    async throws
  {
    let setup = try await Setup(ScriptedTransport { _ in RestResponse(json: "{}") })
    let request = RestRequest(path: "/x", query: [RestQueryItem("n", 1)])
    #expect(request.method == .get)
    #expect(request.endpoint == "/services/data")
    #expect(request.timeout == .seconds(60))
    #expect(request.requiresAuthentication)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask { _ = try await setup.client.send(request) }
      }
      try await group.waitForAll()
    }
    #expect(Set(setup.transport.requests.map(\.url)).count == 1)
    #expect(setup.sent == 10)
  }

  @Test(.covers("CO-181.1", "CO-182"))
  func `requests and refreshes say who sends them`() async throws {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    let setup = try await Setup(org: org, org.transport())
    _ = try await setup.client.send(.limits())
    #expect(setup.sent == 3)
    for request in setup.transport.requests {
      let agent = try #require(request.headers[.userAgent])
      #expect(agent.hasPrefix("SalesforceMobileSDK/\(SDKVersion.current) "))
    }
    #expect(SDKVersion.current.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+(\.dev)?/) != nil)
  }

  // MARK: Streams

  @Test(.covers("CO-118"))
  func `a successful response is lent in pieces, a refusal is an error`() async throws {
    let setup = try await Setup(
      ScriptedTransport { request in
        request.url.path().hasSuffix("good")
          ? RestResponse(status: 200, headers: [.contentLength: "3"], body: [1, 2, 3])
          : RestResponse(
            status: 404, json: #"[{"errorCode":"NOT_FOUND","message":"m"}]"#)
      })
    let bytes = try await setup.client.withStream(to: RestRequest(path: "/good")) { stream in
      #expect(stream.expectedBytes == 3)
      var bytes: [UInt8] = []
      for try await piece in stream.body { bytes += piece }
      return bytes
    }
    #expect(bytes == [1, 2, 3])
    let error = await #expect(throws: RestError.self) {
      try await setup.client.withStream(to: RestRequest(path: "/bad")) { _ in
        Issue.record("a refusal is not lent")
      }
    }
    #expect(error?.code == .notFound)
    #expect(error?.serverErrors.first?.errorCode == "NOT_FOUND")
  }

  @Test(.covers("CO-120.1", "CO-121.1"))
  func `a stream is refreshed and replayed as any other request is`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 200, body: [1]) }
    org.state.withLock { $0.accessToken = "access-9" }
    let setup = try await Setup(org: org, org.transport())
    let bytes = try await setup.client.withStream(to: .limits()) { stream in
      try await stream.body.reduce(into: [UInt8]()) { $0 += $1 }
    }
    #expect(bytes == [1])
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test func `a stream whose reader has begun is not sent again`() async throws {
    let setup = try await Setup(failing(0))
    let error = await #expect(throws: RestError.self) {
      try await setup.client.withStream(to: .limits()) { _ in
        throw RestError(TransportError(.truncated, "cut"))
      }
    }
    #expect(error?.code == .truncated)
    #expect(setup.sent == 1)
  }

  @Test(.covers("CO-128.1"))
  func `a stream's redirect never carries the token to an untrusted host`() async throws {
    for target in ["https://evil.example/x", "http://acme.my.salesforce.com/x"] {
      let setup = try await Setup(
        ScriptedTransport { request in
          #expect(request.url.host() == "acme.my.salesforce.com")
          return RestResponse(status: 302, headers: [.location: target])
        })
      let error = await #expect(throws: RestError.self) {
        try await setup.client.withStream(to: .limits()) { _ in }
      }
      #expect(error?.status == 302)
      #expect(setup.sent == 1)
    }
    let followed = try await Setup(
      redirects: RedirectRule(trustedHostSuffixes: [".file.force.com"]),
      ScriptedTransport { request in
        request.url.host() == "acme.my.salesforce.com"
          ? RestResponse(
            status: 302, headers: [.location: "https://acme.file.force.com/f"])
          : RestResponse(
            status: 200, body: Array((request.headers[.authorization] ?? "").utf8))
      })
    let bytes = try await followed.client.withStream(to: .limits()) { stream in
      try await stream.body.reduce(into: [UInt8]()) { $0 += $1 }
    }
    #expect(bytes == Array("Bearer access-1".utf8))
  }

  @Test(.covers("CO-121.1"))
  func `an upload is read again for its replay`() async throws {
    let org = TestOrg()
    org.state.withLock { $0.accessToken = "access-9" }
    let bodies = Mutex<[[UInt8]?]>([])
    let inner = org.transport()
    let setup = try await Setup(
      org: org,
      ScriptedTransport { request in
        if let upload = request.upload { bodies.withLock { $0.append(try? upload.bytes()) } }
        return try await inner.send(request)
      })
    var request = RestRequest(method: .post, path: "/x")
    request.upload = UploadBody([1, 2])
    #expect(try await setup.client.send(request).status == 200)
    #expect(bodies.withLock { $0 } == [[1, 2], [1, 2]])
  }

  @Test(.covers("CO-199.1"))
  func `without a network what needs none works, and the rest says so at once`()
    async throws
  {
    let transport = ScriptedTransport { _ in throw TransportError(.unreachable, "no network") }
    let org = TestOrg()
    let other = org.account(
      identity: UserAccountIdentity(
        userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
    let accounts = try await org.manager([org.account(), other], transport: transport)
    try await accounts.setCurrent(other.identity)
    #expect(await accounts.current?.identity == other.identity)
    let client = RestClient(
      account: other, accounts: accounts, transport: transport, options: .init(retries: .never))
    let error = await #expect(throws: RestError.self) { try await client.send(.limits()) }
    #expect(error?.code.isNetworkFailure == true)
    #expect(try await accounts.logOut(other.identity).account.identity == other.identity)
    #expect(await accounts.accounts.count == 1)
  }
}
