import Foundation
import HTTPTypes
public import SalesforceSDKCommon
import Synchronization

/// A client that sends REST requests for one account.
///
/// A client belongs to the account that it was created for, not to the current user. Any number of tasks may
/// use it at once. When the account's token has expired, one refresh serves all requests that the server
/// refused, and each of them is sent once more. A repeatable request without a response, or with a response
/// 503, is sent again by the rules of ``RetryPolicy``; no other request is. After a logout of the account,
/// requests throw `notAuthenticated`.
public final class RestClient: Sendable {
  /// The API version of requests that name none.
  public let apiVersion: String
  /// The account whose token is sent; `nil` for a client without one.
  public let identity: UserAccountIdentity?

  let accounts: UserAccountManager?
  let transport: any HTTPTransport
  let redirects: RedirectRule
  let options: Options
  let budget: RetryBudget
  let inFlight = InFlightRequests()
  /// The field `Date` of the last successful response.
  private let lastDate = Mutex<String?>(nil)
  private let userAgent: UserAgent

  /// How a client behaves.
  public struct Options: Sendable {
    /// When requests are sent again. Default: up to three attempts.
    public var retries: RetryPolicy
    /// Measures the waits between attempts. Default: the continuous clock.
    public var clock: any Clock<Duration> & Sendable
    /// Draws the random part of a wait, 0..<1. Default: the system's generator.
    public var chance: @Sendable () -> Double
    /// Called with the metrics of each finished call. It must return quickly. Default: none.
    public var observer: (@Sendable (TransferMetrics) -> Void)?

    /// Creates options; each default is described at its property.
    public init(
      retries: RetryPolicy = RetryPolicy(),
      clock: any Clock<Duration> & Sendable = ContinuousClock(),
      chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
      observer: (@Sendable (TransferMetrics) -> Void)? = nil
    ) {
      self.retries = retries
      self.clock = clock
      self.chance = chance
      self.observer = observer
    }
  }

  /// Creates a client for `account`.
  ///
  /// - Parameter accounts: The manager that has the account's tokens and refreshes them.
  /// - Parameter apiVersion: Default: `v66.0`.
  /// - Parameter userAgent: Default: the names of this process and its machine.
  /// - Parameter redirects: The hosts that may receive the token in addition to the account's own servers, in
  ///   requests with an absolute URL and in redirects. Default: none; five redirects in a row.
  /// - Parameter options: Default: up to three attempts, no observer.
  public init(
    account: UserAccount, accounts: UserAccountManager, transport: any HTTPTransport,
    apiVersion: String = RestRequest.defaultAPIVersion, userAgent: UserAgent = UserAgent(),
    redirects: RedirectRule = RedirectRule(), options: Options = Options()
  ) {
    self.identity = account.identity
    self.accounts = accounts
    self.transport = transport
    self.apiVersion = apiVersion
    self.userAgent = userAgent
    self.redirects = redirects
    self.options = options
    self.budget = RetryBudget(options.retries.budget)
  }

  /// Creates a client without an account, for requests with a whole address that need no token
  /// (CO-114, CO-127). Its parameters have the same defaults.
  public init(
    transport: any HTTPTransport, apiVersion: String = RestRequest.defaultAPIVersion,
    userAgent: UserAgent = UserAgent(), redirects: RedirectRule = RedirectRule(),
    options: Options = Options()
  ) {
    self.identity = nil
    self.accounts = nil
    self.transport = transport
    self.apiVersion = apiVersion
    self.userAgent = userAgent
    self.redirects = redirects
    self.options = options
    self.budget = RetryBudget(options.retries.budget)
  }

  /// Sends `request` and returns a successful response.
  ///
  /// - Throws: ``RestError`` `server` with the status and what the server said, for a response
  ///   outside 200...299; besides those what ``response(to:progress:)`` throws.
  public func send(_ request: RestRequest) async throws -> RestResponse {
    try await send(request, progress: nil)
  }

  /// Sends `request` and returns a successful response.
  ///
  /// - Parameter progress: Receives the progress of request and response.
  /// - Throws: As ``send(_:)``.
  public func send(
    _ request: RestRequest, progress: TransferProgress?
  ) async throws -> RestResponse {
    let response = try await response(to: request, progress: progress)
    guard response.isSuccess else { throw RestError(response: response, to: request) }
    return response
  }

  /// Sends `request` and returns the response, whatever its status.
  ///
  /// - Throws: As ``response(to:progress:)``.
  public func response(to request: RestRequest) async throws -> RestResponse {
    try await response(to: request, progress: nil)
  }

  /// Sends `request` and returns the response, whatever its status.
  ///
  /// - Parameter progress: Receives the progress of request and response.
  /// - Throws: ``RestError`` if there is no response; ``OAuthError`` if the token had expired and
  ///   could not be refreshed; ``AccountError`` if new tokens could not be written;
  ///   `CancellationError` if the task was cancelled, which closes the request's connection and
  ///   leaves a refresh that others wait for running.
  public func response(
    to request: RestRequest, progress: TransferProgress?
  ) async throws -> RestResponse {
    defer { progress?.finish() }
    return try await inFlight.run(request) {
      let attempt: Attempt<RestResponse> = try await self.perform(request, progress) {
        wired, redirects in
        .response(RestResponse(try await self.transport.send(wired, following: redirects)))
      }
      switch attempt {
      case .response(let response), .consumed(let response, _):
        if response.isSuccess, let date = response.headers[.date] {
          self.lastDate.withLock { $0 = date }
        }
        return response
      }
    }
  }

  /// The server's time at the last successful response of this client, to the second; nil before the first, or if
  /// it has no date.
  public var serverTime: SalesforceDate? {
    lastDate.withLock { $0 }.flatMap(SalesforceDate.parseHTTP)
  }

  /// Sends `request` and calls `body` with a successful response as soon as its header fields have arrived;
  /// `body` reads the content while it arrives. If `body` returns before the end of the response, the
  /// connection is closed.
  ///
  /// Once `body` has been called, the request is not sent again.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: As ``send(_:)``; what `body` throws passes through.
  public func withStream<Result: Sendable>(
    to request: RestRequest, progress: TransferProgress? = nil,
    _ body: @escaping @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    defer { progress?.finish() }
    return try await inFlight.run(request) {
      try await self.stream(request, progress, body)
    }
  }

  /// Ends all requests of this client that have no response yet; their callers get `CancellationError`.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func cancelAll() -> Int { cancel { _ in true } }

  /// Cancels the pending requests that `isChosen` accepts; their callers receive `CancellationError`. A token
  /// refresh that they wait for continues.
  ///
  /// - Parameter isChosen: Called once for each request, before this returns.
  /// - Returns: The number of cancelled requests.
  @discardableResult
  public func cancel(where isChosen: (RestRequest) -> Bool) -> Int {
    inFlight.cancel(where: isChosen)
  }

  /// The request as it is sent: address, token and header fields (CO-117).
  package func wire(
    _ request: RestRequest, as account: UserAccount?
  ) throws(RestError) -> TransportRequest {
    try check(request)
    let url = try request.url(
      base: account?.credentials.base(for: request.host) ?? request.host.base,
      apiVersion: apiVersion)
    guard url.isAllowedForTransport else {
      throw RestError(
        .insecureURL,
        "\(url.withoutQuery) is not https. Plain http is for this machine alone.")
    }
    var headers = request.headers
    if request.requiresAuthentication, headers[.authorization] == nil, let account {
      guard let token = account.credentials.accessToken else {
        throw RestError(.notAuthenticated, "\(account) has no session. Log in again.")
      }
      guard account.credentials.owns(url) || redirects.trusts(url) else {
        throw RestError(
          .invalidRequest,
          "\(url.withoutQuery) is no server of \(account), so it must not see the token. "
            + "Send the request without authentication.")
      }
      headers[.authorization] = "Bearer \(token)"
    }
    if headers[.userAgent] == nil {
      headers[.userAgent] = userAgent.text(qualifier: request.userAgentQualifier)
    }
    return TransportRequest(
      method: request.method, url: url, headers: headers, body: request.body,
      upload: request.upload, timeout: request.timeout,
      maxResponseBytes: request.maxResponseBytes)
  }

  /// - Throws: ``RestError`` `invalidRequest` if the request needs a later version of the API than it
  ///   would be sent to.
  private func check(_ request: RestRequest) throws(RestError) {
    guard let needed = request.minimumVersion,
      let version = APIVersion(inPath: request.target(apiVersion: apiVersion)), version < needed
    else { return }
    throw RestError(
      .invalidRequest, "\(request) needs version \(needed) of the API, and \(version) is used.")
  }
}

extension RestRequest.Host {
  /// The server, if the request itself names one.
  var base: URL? {
    if case .base(let url) = kind { url } else { nil }
  }
}

extension RestResponse {
  /// Whether the response says that the token is not accepted (CO-120).
  func asksForRefresh(of request: RestRequest) -> Bool {
    if status == 401 { return true }
    return status == 403 && request.isOfOAuth && body.elementsEqual("Bad_OAuth_Token".utf8)
  }
}

extension RestRequest {
  /// Whether the request goes to one of the OAuth endpoints. In a whole address their path may follow
  /// that of a community.
  fileprivate var isOfOAuth: Bool {
    let endpoints = "/services/oauth2"
    guard isAbsolute else { return target().hasPrefix(endpoints) }
    let path = URL(string: path)?.path(percentEncoded: true) ?? ""
    return path.hasPrefix(endpoints) || path.contains("\(endpoints)/")
  }
}
