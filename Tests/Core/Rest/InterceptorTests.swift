import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// What can an app put between its calls and the server?
@Suite struct InterceptorTests {
  private static let field = HTTPField.Name.acceptLanguage

  /// An interceptor that is a closure.
  private struct Step: RestInterceptor {
    let body: @Sendable (RestCall, Next) async throws -> RestResponse

    init(_ body: @escaping @Sendable (RestCall, Next) async throws -> RestResponse) {
      self.body = body
    }

    func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
      try await body(call, next)
    }
  }

  private struct Refusal: Error {}

  private let limits = RestRequest.limits()

  private func client(
    _ org: TestOrg, _ transport: ScriptedTransport, _ interceptors: [Step],
    retries: RetryPolicy = RetryPolicy(firstWait: .zero),
    observer: (@Sendable (TransferMetrics) -> Void)? = nil
  ) async throws -> RestClient {
    RestClient(
      account: org.account(), accounts: try await org.manager(transport: transport),
      transport: transport,
      options: RestClient.Options(
        retries: retries, observer: observer,
        interceptors: interceptors))
  }

  @Test func `responses, streams, uploads and downloads pass an interceptor`() async throws {
    let folder = try TemporaryFolder()
    let org = TestOrg { _ in RestResponse(status: 200, body: [1, 2, 3]) }
    let transport = org.transport()
    let seen = Mutex<[String]>([])
    let client = try await client(
      org, transport,
      [
        Step { call, next in
          var call = call
          call.request.headers[Self.field] = "7"
          let response = try await next(call)
          seen.withLock {
            $0.append(
              "\(call.request.path) \(call.isStream) \(response.status) \(response.body.count)")
          }
          return response
        }
      ])
    _ = try await client.send(RestRequest(path: "/a"))
    let size = try await client.withStream(to: RestRequest(path: "/b")) { stream in
      try await stream.body.reduce(into: 0) { $0 += $1.count }
    }
    let file = folder.file("up.bin")
    try Data([9, 9]).write(to: file)
    _ = try await client.send(
      RestRequest(method: .put, path: "/c", upload: try UploadBody(file: file)))
    let copy = folder.file("down.bin")
    try await client.download(RestRequest(path: "/d"), to: copy)
    #expect(size == 3)
    #expect(try Data(contentsOf: copy) == Data([1, 2, 3]))
    #expect(
      seen.withLock { $0 } == [
        "/a false 200 3", "/b true 200 0", "/c false 200 3", "/d true 200 0",
      ])
    #expect(transport.requests.map { $0.headers[Self.field] } == ["7", "7", "7", "7"])
  }

  @Test func `interceptors run in order, once for a call with retries and a refresh`() async throws
  {
    let calls = Atomic(0)
    let org = TestOrg { _ in
      calls.add(1, ordering: .relaxed).newValue == 1
        ? RestResponse(status: 503) : RestResponse(json: "{}")
    }
    org.state.withLock { $0.accessToken = "access-0" }
    let transport = org.transport()
    let order = Mutex<[String]>([])
    func step(_ name: String) -> Step {
      Step { call, next in
        order.withLock {
          $0.append("\(name) \(call.request.headers[.authorization] ?? "no token")")
        }
        #expect(call.identity == TestOrg.identity)
        let response = try await next(call)
        order.withLock { $0.append("\(name) \(response.status)") }
        return response
      }
    }
    let client = try await client(org, transport, [step("outer"), step("inner")])
    let response = try await client.send(limits)
    #expect(response.status == 200)
    #expect(
      order.withLock { $0 } == ["outer no token", "inner no token", "inner 200", "outer 200"])
    // Refused with the first token, 503 with the second one, and accepted.
    #expect(transport.requests.filter { $0.method == .get }.count == 3)
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test func `an interceptor responds in place of the server`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let client = try await client(
      org, transport, [Step { _, _ in RestResponse(json: #"{"cached":true}"#) }])
    #expect(try await client.send(limits).json()["cached"]?.bool == true)
    let text = try await client.withStream(to: limits) { stream in
      try await stream.body.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self) }
    }
    #expect(text == #"{"cached":true}"#)
    #expect(transport.requests.isEmpty)
  }

  @Test func `an interceptor's error reaches the caller unchanged`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let client = try await client(org, transport, [Step { _, _ in throw Refusal() }])
    await #expect(throws: Refusal.self) { try await client.send(limits) }
    await #expect(throws: Refusal.self) { try await client.withStream(to: limits) { _ in } }
    #expect(transport.requests.isEmpty)
  }

  @Test func `a refusal that an interceptor returns to a stream is an error`() async throws {
    let org = TestOrg()
    let client = try await client(
      org, org.transport(), [Step { _, _ in RestResponse(status: 404) }])
    let error = await #expect(throws: RestError.self) {
      try await client.withStream(to: limits) { _ in }
    }
    #expect(error?.code == .notFound)
  }

  @Test func `an interceptor sends a request again`() async throws {
    let calls = Atomic(0)
    let org = TestOrg { _ in
      calls.add(1, ordering: .relaxed).newValue == 1
        ? RestResponse(status: 500) : RestResponse(json: "{}")
    }
    let transport = org.transport()
    let again = Step { call, next in
      let response = try await next(call)
      return response.status == 500 ? try await next(call) : response
    }
    let client = try await client(org, transport, [again])
    #expect(try await client.send(limits).status == 200)
    #expect(transport.requests.count == 2)
  }

  @Test func `a delivered stream is not sent again`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let twice = Step { call, next in
      _ = try await next(call)
      return try await next(call)
    }
    let client = try await client(org, transport, [twice])
    let received = Atomic(0)
    let error = await #expect(throws: RestError.self) {
      try await client.withStream(to: limits) { _ in _ = received.add(1, ordering: .relaxed) }
    }
    #expect(error?.code == .invalidRequest)
    #expect(received.load(ordering: .relaxed) == 1)
    #expect(transport.requests.count == 1)
  }

  @Test func `a receiver's error is no reason to send again, whatever it is`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let client = try await client(org, transport, [])
    let error = await #expect(throws: RestError.self) {
      try await client.withStream(to: limits) { _ in throw RestError(.unreachable, "mine") }
    }
    #expect(error?.message == "mine")
    await #expect(throws: TransportError.self) {
      try await client.withStream(to: limits) { _ in throw TransportError(.truncated, "mine") }
    }
    #expect(transport.requests.count == 2)
  }

  @Test(arguments: ["https://evil.example/x", "http://acme.my.salesforce.com/x"])
  func `an interceptor cannot lead a token to another server`(address: String) async throws {
    let org = TestOrg()
    let transport = org.transport()
    let client = try await client(
      org, transport,
      [
        Step { call, next in
          var call = call
          call.request.path = address
          return try await next(call)
        }
      ])
    let error = await #expect(throws: RestError.self) { try await client.send(limits) }
    #expect(error?.code == (address.hasPrefix("https") ? .invalidRequest : .insecureURL))
    #expect(transport.requests.isEmpty)
  }

  @Test func `a call that an interceptor responds to is measured as not sent`() async throws {
    let org = TestOrg()
    let metrics = Mutex<[TransferMetrics]>([])
    let client = try await client(
      org, org.transport(), [Step { _, _ in RestResponse(json: "{}") }],
      observer: { entry in metrics.withLock { $0.append(entry) } })
    _ = try await client.send(limits)
    let entry = try #require(metrics.withLock { $0.first })
    #expect(entry.status == nil)
    #expect(entry.host.isEmpty)
    #expect(entry.repetitions == 0)
  }

  @Test func `an interceptor can be tested with a call of its own`() async throws {
    let call = RestCall(limits)
    #expect(!call.isStream)
    #expect(call.identity == nil)
    let response = try await Step { call, next in try await next(call) }
      .intercept(call) { _ in RestResponse(status: 204) }
    #expect(response.status == 204)
  }

  @Test func `the last of too many redirects is the response, also of a stream`() async throws {
    let org = TestOrg { _ in
      RestResponse(status: 302, headers: [.location: "/again"], body: Array("moved".utf8))
    }
    let transport = org.transport()
    let client = try await client(org, transport, [])
    let error = await #expect(throws: RestError.self) {
      try await client.withStream(to: limits) { _ in }
    }
    #expect(error?.status == 302)
    #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == "moved")
    #expect(transport.requests.count == 6)
  }

  @Test func `one call refreshes a token once, over all its attempts`() async throws {
    let calls = Atomic(0)
    let org = TestOrg { _ in
      // Refused, 503, and refused again although the token was accepted.
      calls.add(1, ordering: .relaxed).newValue == 1
        ? RestResponse(status: 503) : RestResponse(status: 401)
    }
    org.state.withLock { $0.accessToken = "access-0" }
    let transport = org.transport()
    let client = try await client(org, transport, [])
    #expect(try await client.response(to: limits).status == 401)
    #expect(org.state.withLock { $0.refreshes } == 1)
    #expect(transport.requests.filter { $0.method == .get }.count == 3)
  }
}
