import Foundation
import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// A login server by a table of paths; the identity service and userinfo respond by themselves.
final class LoginServerStub: Sendable {
  typealias Answer = @Sendable (TransportRequest) throws -> RestResponse

  let answers: Mutex<[String: Answer]>

  init(_ answers: [String: Answer] = [:]) {
    self.answers = Mutex(answers)
  }

  /// Gives this response at `path` from now on.
  func set(_ path: String, _ answer: @escaping Answer) {
    answers.withLock { $0[path] = answer }
  }

  func transport() -> ScriptedTransport {
    ScriptedTransport { request in
      let path = request.url.path()
      if let answer = self.answers.withLock({ $0[path] }) { return try answer(request) }
      if path.hasPrefix("/id/") {
        return RestResponse(json: #"{"username":"jane@example.com","display_name":"Jane"}"#)
      }
      return RestResponse(status: 404)
    }
  }

  func manager(
    _ transport: ScriptedTransport, _ accounts: [UserAccount] = [],
    options: UserAccountManager.Options = .init(), loginHosts: LoginHostStorage? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> UserAccountManager {
    let persister = InMemoryAccountPersister()
    for account in accounts { try await persister.save(account) }
    return try await UserAccountManager(
      persister: persister, transport: transport, options: options, loginHosts: loginHosts,
      clock: clock)
  }

  /// A token response.
  static func tokens(
    _ members: [String: String] = [:], without missing: [String] = []
  ) -> RestResponse {
    var object: JSONObject = [
      "access_token": "access-1", "instance_url": "https://acme.my.salesforce.com",
      "id": "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA",
    ]
    for (key, value) in members { object[key] = .string(value) }
    for key in missing { object[key] = nil }
    return RestResponse(json: JSONValue.object(object).text)
  }

  static func refusal(_ error: String, status: Int = 400) -> RestResponse {
    RestResponse(
      status: status, json: #"{"error":"\#(error)","error_description":"said the server"}"#)
  }
}

/// A clock on which every wait is over at once; it counts what was waited.
final class PatientClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let time = Mutex(Duration.zero)
  /// The waits, in order.
  let waits = Mutex<[Duration]>([])
  /// Waits of at least this long never end.
  let limit: Duration

  init(limit: Duration = .seconds(20)) { self.limit = limit }

  var now: Instant { Instant(offset: time.withLock { $0 }) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let wait = now.duration(to: deadline)
    guard wait < limit else {
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      for await _ in stream {}
      continuation.finish()
      throw CancellationError()
    }
    waits.withLock { $0.append(wait) }
    time.withLock { $0 += wait }
  }
}
