import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Logins with a code that a person enters elsewhere.
@Suite struct DeviceLoginTests {
  private static let code = RestResponse(
    json: """
      {"device_code":"device-secret","user_code":"ABCD1234",
      "verification_uri":"https://login.salesforce.com/setup/connect","interval":5}
      """)

  /// A server that returns these responses, one after the other, to the polls for the token.
  private func stub(_ answers: [RestResponse]) -> LoginServerStub {
    let rest = Mutex(answers[...])
    return LoginServerStub([
      "/services/oauth2/token": { request in
        if form(request)["response_type"] == "device_code" { return Self.code }
        guard form(request)["code"] == "device-secret" else {
          return LoginServerStub.refusal("invalid_request")
        }
        return rest.withLock { $0.popFirst() } ?? LoginServerStub.refusal("authorization_pending")
      }
    ])
  }

  @Test(.covers("CO-24"))
  func `a device shows a code, asks as often as it may, and gets its tokens`()
    async throws
  {
    let stub = stub([
      LoginServerStub.refusal("authorization_pending"), LoginServerStub.refusal("slow_down"),
      LoginServerStub.refusal("authorization_pending"),
      LoginServerStub.tokens(["refresh_token": "refresh-1"]),
    ])
    let clock = PatientClock()
    let transport = stub.transport()
    let manager = try await stub.manager(transport, clock: clock)
    let shown = Mutex<[String]>([])
    let account = try await manager.logIn(
      .device(app: TestOrg.app) { code in
        shown.withLock { $0.append("\(code.userCode) \(code.verificationURL) \(code)") }
      })
    #expect(account.credentials.refreshToken == "refresh-1")
    #expect(shown.withLock { $0.count } == 1)
    #expect(
      shown.withLock { $0[0] }.contains("ABCD1234 https://login.salesforce.com/setup/connect"))
    #expect(!shown.withLock { $0[0] }.contains("device-secret"))
    #expect(
      form(transport.requests[0]) == [
        "response_type": "device_code", "client_id": "client-1", "scope": "api id refresh_token",
      ])
    #expect(
      form(transport.requests[1]) == [
        "grant_type": "device", "client_id": "client-1", "code": "device-secret",
      ])
    #expect(clock.waits.withLock { $0 } == [.seconds(5), .seconds(5), .seconds(10), .seconds(10)])
  }

  @Test(.covers("CO-40"))
  func `a person who refuses ends the login of the device`() async throws {
    let stub = stub([LoginServerStub.refusal("access_denied")])
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.device(app: TestOrg.app) { _ in })
    }
    #expect(error?.code == .accessDenied)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-40.3"))
  func `a code that is never entered times out`() async throws {
    let stub = stub([])
    let clock = PatientClock()
    let manager = try await stub.manager(stub.transport(), clock: clock)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.device(app: TestOrg.app) { _ in })
    }
    #expect(error?.number == 667)
    #expect(clock.waits.withLock { $0.count } == 120)
  }

  @Test(.covers("CO-24"))
  func `a server that fails or is busy for a moment ends no login`() async throws {
    let failures = Mutex<[@Sendable () throws -> RestResponse]>([
      { RestResponse(status: 503) }, { RestResponse(status: 429) },
      { throw TransportError(.timedOut, "silence") },
      { throw TransportError(.unreachable, "no network") },
      { LoginServerStub.refusal("rate_limit_exceeded") },
    ])
    let stub = LoginServerStub([
      "/services/oauth2/token": { request in
        if form(request)["response_type"] == "device_code" { return Self.code }
        let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try failure?() ?? LoginServerStub.tokens(["refresh_token": "refresh-1"])
      }
    ])
    let clock = PatientClock()
    let manager = try await stub.manager(stub.transport(), clock: clock)
    let account = try await manager.logIn(.device(app: TestOrg.app) { _ in })
    #expect(account.credentials.refreshToken == "refresh-1")
    #expect(clock.waits.withLock { $0.count } == 6)
  }

  @Test(
    .covers("CO-24"),
    arguments: [
      (600, 9_000_000_000_000_000_000, 600, 599), (9_000_000_000_000_000_000, 5, 86_400, 5),
      (600, -4, 600, 1), (1, 5, 1, 1), (-1, 5, 1, 1), (.min, .min, 1, 1),
    ] as [(Int64, Int64, Int64, Int64)])
  func `times that a server cannot mean are bounded`(
    expires: Int64, interval: Int64, lifetime: Int64, pause: Int64
  ) throws {
    let code = try DeviceCode(
      JSONSlice(
        parsing: """
          {"device_code":"d","user_code":"u","verification_uri":"https://a.b",
          "expires_in":\(expires),"interval":\(interval)}
          """))
    #expect(code.lifetime == .seconds(lifetime) && code.interval == .seconds(pause))
  }
}
