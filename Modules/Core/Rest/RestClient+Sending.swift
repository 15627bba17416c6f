import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// What came of sending a request.
enum Attempt<Result: Sendable>: Sendable {
  /// A response that the caller of the attempt has not seen.
  case response(RestResponse)
  /// A response that its receiver has dealt with.
  case consumed(Result, status: Int)
}

extension RestClient {
  /// Sends a request until there is a final response: once more after a refresh of the token, and
  /// again by the policy of the client after a failure that may pass.
  ///
  /// - Parameter attempt: Sends the request once.
  func perform<Result: Sendable>(
    _ request: RestRequest, _ progress: TransferProgress?,
    _ attempt: (TransportRequest, RedirectRule) async throws -> Attempt<Result>
  ) async throws -> Attempt<Result> {
    try await Telemetry.measure(.request) { recording in
      let observer = options.observer
      let isLogged = CoreLogger.log.isEnabled(.debug)
      guard observer != nil || isLogged || recording != nil else {
        var log = SendingLog()
        return try await attempts(request, progress, &log, attempt)
      }
      let progress = progress ?? TransferProgress()
      let start = ContinuousClock.now
      var log = SendingLog()
      defer {
        let metrics = log.metrics(of: request, progress.amounts, start.duration(to: .now))
        observer?(metrics)
        recording?.describe(metrics, path: safePath(of: request))
        if isLogged { CoreLogger.log.debug("\(line(of: request, metrics))") }
      }
      let result = try await attempts(request, progress, &log, attempt)
      if case .consumed(_, let status) = result { log.status = status }
      return result
    }
  }

  private func line(of request: RestRequest, _ metrics: TransferMetrics) -> RequestLine {
    RequestLine(
      method: metrics.method, path: safePath(of: request), status: metrics.status,
      duration: metrics.duration, sentBytes: metrics.sentBytes, receivedBytes: metrics.receivedBytes
    )
  }

  private func safePath(of request: RestRequest) -> String {
    RequestLine.safePath(
      request.isAbsolute ? request.path : request.target(apiVersion: apiVersion))
  }

  private func attempts<Result: Sendable>(
    _ request: RestRequest, _ progress: TransferProgress?, _ log: inout SendingLog,
    _ attempt: (TransportRequest, RedirectRule) async throws -> Attempt<Result>
  ) async throws -> Attempt<Result> {
    var machine = RetryMachine(policy: options.retries, isRepeatable: request.isRepeatable)
    var account = try await session(for: request)
    var mayRefresh =
      account != nil && request.requiresAuthentication && request.headers[.authorization] == nil
    budget.earn()
    while true {
      var wired = try wire(request, as: account)
      wired.progress = progress
      var redirects = redirects
      redirects.trustedOrigins.formUnion(account?.credentials.servers.map(\.origin) ?? [])
      log.begin(wired)
      let outcome: RetryMachine.Outcome
      do {
        let result = try await attempt(wired, redirects)
        guard case .response(let response) = result else { return result }
        log.status = response.status
        log.receivedBytes = Int64(response.body.count)
        if mayRefresh, response.asksForRefresh(of: request) {
          mayRefresh = false
          account = try await refreshedSession(for: request, replacing: account)
          continue
        }
        outcome = .response(
          status: response.status,
          retryAfter: response.headers.retryAfter(now: SalesforceDate(Date())))
        guard let wait = wait(after: outcome, &machine) else { return result }
        try await pause(wait, request)
      } catch let error as TransportError {
        guard let wait = wait(after: .failure(error.code), &machine) else {
          throw RestError(error)
        }
        try await pause(wait, request)
      }
      // Another request may have refreshed the token since.
      account = try await session(for: request)
    }
  }

  /// Sends a request and lends a successful response while it arrives.
  func stream<Result: Sendable>(
    _ request: RestRequest, _ progress: TransferProgress?,
    _ body: @escaping @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    let attempt: Attempt<Result> = try await perform(request, progress) { wired, redirects in
      do {
        return try await transport.withStream(to: wired, following: redirects) { stream in
          guard (200...299).contains(stream.status) else {
            return .response(try await RestResponse(refusal: stream))
          }
          do {
            let result = try await body(
              RestStream(
                status: stream.status, headers: stream.headers, body: RestBody(body: stream.body)))
            return .consumed(result, status: stream.status)
          } catch {
            throw ReceiverFailure(cause: error)
          }
        }
      } catch let error as ReceiverFailure {
        // It has seen a part of the response, so the request is not sent again.
        throw error.cause
      }
    }
    switch attempt {
    case .response(let response): throw RestError(response: response, to: request)
    case .consumed(let result, _): return result
    }
  }

  // MARK: - Sessions

  /// The account with its tokens; `nil` if the request goes out without one.
  private func session(for request: RestRequest) async throws -> UserAccount? {
    guard let accounts, let identity else {
      guard !request.requiresAuthentication else {
        throw RestError(
          .notAuthenticated, "\(request) needs an account and this client has none. Log in first.")
      }
      return nil
    }
    return try await explaining(request) { try await accounts.session(of: identity) }
  }

  private func refreshedSession(
    for request: RestRequest, replacing account: UserAccount?
  ) async throws -> UserAccount? {
    guard let accounts, let identity else { return nil }
    return try await explaining(request) {
      try await accounts.refreshedSession(
        of: identity, replacing: account?.credentials.accessToken)
    }
  }

  /// The account with its tokens, or the reason why it has none in the form of this module.
  private func explaining(
    _ request: RestRequest, _ get: () async throws -> UserAccount
  ) async throws -> UserAccount {
    do {
      return try await get()
    } catch let error as AccountError
      where [.unknownAccount, .notLoggedIn, .closed].contains(error.code)
    {
      throw RestError(
        .notAuthenticated, "\(request) cannot be sent: \(error.message)", cause: error)
    }
  }

  // MARK: - Waiting

  private func wait(
    after outcome: RetryMachine.Outcome, _ machine: inout RetryMachine
  ) -> Duration? {
    guard let wait = machine.wait(after: outcome, chance: options.chance()), budget.spend() else {
      return nil
    }
    return wait
  }

  private func pause(_ wait: Duration, _ request: RestRequest) async throws {
    CoreLogger.log.info("\(request) is sent again in \(wait)")
    Telemetry.count("\(Telemetry.Work.request.rawValue).retries")
    try await options.clock.sleep(for: wait)
  }
}

extension Telemetry.Recording {
  /// Records a request: method, host, path without query and values, status, sizes.
  fileprivate func describe(_ metrics: TransferMetrics, path: String) {
    setDimension("http.request.method", metrics.method.rawValue)
    setDimension("http.response.status_code", metrics.status.map(String.init) ?? "none")
    set("server.address", metrics.host)
    set("url.path", path)
    set("http.request.body.size", Int(metrics.sentBytes))
    set("http.response.body.size", Int(metrics.receivedBytes))
    set("http.request.resend_count", metrics.repetitions)
    if let status = metrics.status, status >= 400 { setOutcome("refused") }
  }
}

/// What the receiver of a streamed response threw, as opposed to what the transport threw.
private struct ReceiverFailure: Error {
  let cause: any Error
}

/// Notes what a call costs, for the observer and the log.
private struct SendingLog {
  private var host = ""
  private var sentBytes: Int64 = 0
  private var attempts = 0
  /// The status of the last response.
  var status: Int?
  /// The size of its body.
  var receivedBytes: Int64 = 0

  /// An attempt begins.
  mutating func begin(_ request: TransportRequest) {
    attempts += 1
    host = request.url.host() ?? ""
    sentBytes = request.upload?.length ?? Int64(request.body?.count ?? 0)
  }

  /// - Parameter amounts: What a transport that counts has counted.
  func metrics(
    of request: RestRequest, _ amounts: TransferProgress.Amounts, _ duration: Duration
  ) -> TransferMetrics {
    TransferMetrics(
      method: request.method, host: host, status: status, duration: duration,
      sentBytes: sentBytes, receivedBytes: max(receivedBytes, amounts.received),
      repetitions: max(0, attempts - 1))
  }
}

extension RestResponse {
  init(_ response: TransportResponse) {
    self.init(status: response.status, headers: response.headers, body: response.body)
  }

  /// Reads a response that is not streamed, since it is a refusal: as much of it as a refusal may have.
  fileprivate init(refusal stream: TransportStream) async throws {
    self.init(
      status: stream.status, headers: stream.headers,
      body: try await stream.body.prefix(upTo: 1 << 20))
  }
}
