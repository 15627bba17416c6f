import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Testing

@testable import MobileSync
import TestSupport

/// What does a sync make of requests that bring no response?
@Suite struct SyncContextTests {
  private func error(_ failure: any Error) async throws -> SyncError {
    let device = try await Device.open(InMemoryOrg())
    let context = SyncContext(
      store: device.store, soupName: Device.soup, syncId: 1, userId: nil, mergeMode: .overwrite,
      sender: FailingSender(failure: failure), signal: StopSignal(),
      serverClock: ServerClock())
    return try #require(
      await #expect(throws: SyncError.self) { try await context.response(to: .limits()) })
  }

  @Test(
    .covers("MS-8"),
    arguments: [
      (RestError.Code.unreachable, SyncError.Code.transport), (.timedOut, .transport),
      (.truncated, .transport), (.tooLarge, .unexpectedResponse),
      (.malformedResponse, .unexpectedResponse), (.emptyResponse, .unexpectedResponse),
      (.insecureURL, .invalidRequest), (.invalidRequest, .invalidRequest),
      (.tooManyRecords, .invalidRequest), (.notAuthenticated, .noRestClient),
    ])
  func `a failed request is reported by what it means, and only a network failure advises a retry`(
    code: RestError.Code, expected: SyncError.Code
  ) async throws {
    let error = try await error(RestError(code, "it went wrong"))
    #expect(error.code == expected)
    #expect(error.message.contains("Try again") == (expected == .transport))
    #expect((error.cause as? RestError)?.code == code)
  }

  @Test(arguments: [
    (TransportError.Code.unreachable, SyncError.Code.transport), (.timedOut, .transport),
    (.truncated, .transport), (.tooLarge, .unexpectedResponse), (.malformed, .unexpectedResponse),
    (.insecureURL, .invalidRequest),
  ])
  func `a sender of one's own may throw the transport's errors`(
    code: TransportError.Code, expected: SyncError.Code
  ) async throws {
    #expect(try await error(TransportError(code, "it went wrong")).code == expected)
  }

  @Test func `tokens that cannot be kept are not taken for a missing network`() async throws {
    let error = try await error(AccountError(.writeFailed, "the disk is full"))
    #expect(error.code == .noRestClient)
    #expect(error.message.contains("the disk is full"))
    #expect(!error.message.contains("did not respond"))
  }

  @Test(arguments: [OAuthError.Code.serverUnavailable, .refreshFailed, .timedOut])
  func `a login server that is down passes`(code: OAuthError.Code) async throws {
    #expect(try await error(OAuthError(code, "down")).code == .transport)
  }

  @Test func `what responds in place of the login server asks for no login`() async throws {
    let error = try await error(OAuthError(.malformedResponse, "a page"))
    #expect(error.code == .unexpectedResponse && error.message.contains("captive portal"))
    #expect(!error.message.contains("Log in"))
  }

  @Test(.covers("MS-195"))
  func `a request that never left is refused, not unanswered`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    await device.manager.close()
    let manager = try await SyncManager(
      store: device.store, sender: FailingSender(failure: RestError(.insecureURL, "http")),
      registry: device.registry)
    let run = try await manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    await #expect(throws: SyncError.self) { try await run.finished() }
    let outcome = try #require(try await manager.outcomes(forId: run.state.id).first)
    #expect(outcome.kind == .rejected)
    #expect(outcome.error?["statusCode"] == "INVALID_REQUEST")
  }
}

/// Sends no response.
private struct FailingSender: SyncRequestSender {
  let failure: any Error
  /// Known already, so that the first request is the one under test.
  let serverTime: SalesforceDate? = SalesforceDate(milliseconds: 1_700_000_000_000)

  func response(to request: RestRequest) async throws -> RestResponse { throw failure }
}
