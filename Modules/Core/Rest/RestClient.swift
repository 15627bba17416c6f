import Foundation
import HTTPTypes
public import SalesforceSDKCommon
import Synchronization

/// A client that sends REST requests for one account.
///
/// A client belongs to the account that it was created for, not to the current user. Any number of
/// tasks may use it at once. When the account's token has expired, one refresh serves all requests
/// that the server refused, and each of them is sent once more. If a repeatable request gets no
/// response, a 503, or a 429 with `Retry-After`, it is sent again by the rules of ``RetryPolicy``. No
/// other request is sent again. After a logout of the account, requests throw `notAuthenticated`.
public final class RestClient: Sendable {
  /// The API version of requests that name none.
  public let apiVersion: String
  /// The account whose token is sent; `nil` for a client without one, or before the first request of one that logs in on
  /// demand. It never changes afterwards.
  public var identity: UserAccountIdentity? { session.identity }

  let options: Options
  let budget: RetryBudget
  let inFlight = InFlightRequests()
  let chain: InterceptorChain
  let session: ClientSession
  let writer: RequestWriter
  /// The field `Date` of the last successful response.
  private let lastDate = Mutex<String?>(nil)

  /// The options of a client.
  public struct Options: Sendable {
    /// The rules for retries. Default: up to three attempts.
    public var retries: RetryPolicy
    /// Measures the waits between attempts. Default: the continuous clock.
    public var clock: any Clock<Duration> & Sendable
    /// Draws the random part of a wait, 0..<1. Default: the system's generator.
    public var chance: @Sendable () -> Double
    /// Called with the metrics of each finished call. It must return quickly. Default: none.
    public var observer: (@Sendable (TransferMetrics) -> Void)?
    /// The cache of responses. Default: none.
    public var cache: ResponseCache?
    /// The app's own steps of each call, the outermost first; see ``RestInterceptor`` for their place among
    /// those of the client. Default: none.
    public var interceptors: [any RestInterceptor]

    /// Creates options; each default is described at its property.
    public init(
      retries: RetryPolicy = RetryPolicy(),
      clock: any Clock<Duration> & Sendable = ContinuousClock(),
      chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
      observer: (@Sendable (TransferMetrics) -> Void)? = nil,
      interceptors: [any RestInterceptor] = []
    ) {
      self.retries = retries
      self.clock = clock
      self.chance = chance
      self.observer = observer
      self.interceptors = interceptors
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
  public convenience init(
    account: UserAccount, accounts: UserAccountManager, transport: any HTTPTransport,
    apiVersion: String = RestRequest.defaultAPIVersion, userAgent: UserAgent = UserAgent(),
    redirects: RedirectRule = RedirectRule(), options: Options = Options()
  ) {
    self.init(
      session: ClientSession(accounts: accounts, identity: account.identity), transport: transport,
      writer: RequestWriter(apiVersion: apiVersion, userAgent: userAgent, redirects: redirects),
      options: options)
  }

  /// Creates a client without an account, for requests with an absolute URL that need no token
  /// (CO-114, CO-127). Its parameters have the same defaults.
  public convenience init(
    transport: any HTTPTransport, apiVersion: String = RestRequest.defaultAPIVersion,
    userAgent: UserAgent = UserAgent(), redirects: RedirectRule = RedirectRule(),
    options: Options = Options()
  ) {
    self.init(
      session: ClientSession(accounts: nil, identity: nil), transport: transport,
      writer: RequestWriter(apiVersion: apiVersion, userAgent: userAgent, redirects: redirects),
      options: options)
  }

  /// Creates a client for the user who is there when a request needs one (CO-9): the current user of `accounts`, or the one
  /// that its ``UserAccountManager/Options/loginHandler`` logs in. From then on it is the client of that account. Its
  /// parameters have the same defaults.
  public convenience init(
    accounts: UserAccountManager, transport: any HTTPTransport,
    apiVersion: String = RestRequest.defaultAPIVersion, userAgent: UserAgent = UserAgent(),
    redirects: RedirectRule = RedirectRule(), options: Options = Options()
  ) {
    self.init(
      session: ClientSession(accounts: accounts, identity: nil), transport: transport,
      writer: RequestWriter(apiVersion: apiVersion, userAgent: userAgent, redirects: redirects),
      options: options)
  }

  private init(
    session: ClientSession, transport: any HTTPTransport, writer: RequestWriter, options: Options
  ) {
    self.apiVersion = writer.apiVersion
    self.session = session
    self.writer = writer
    self.options = options
    let budget = RetryBudget(options.retries.budget)
    self.budget = budget
    self.chain = InterceptorChain(
      interceptors: [
        MetricsInterceptor(observer: options.observer, apiVersion: writer.apiVersion)
      ] + options.interceptors + [
        RetryInterceptor(options: options, budget: budget),
        SessionInterceptor(session: session, writer: writer),
        RedirectInterceptor(),
      ], last: { try await transport.send($0) })
  }

  /// Sends `request` and returns a successful response.
  ///
  /// - Throws: ``RestError`` `server` with the status and the server's errors, for a response
  ///   outside 200...299; also the errors of ``response(to:progress:)``.
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
  ///   `CancellationError` if the task was cancelled, which closes the request's connection; a
  ///   refresh that other requests wait for continues.
  public func response(
    to request: RestRequest, progress: TransferProgress?
  ) async throws -> RestResponse {
    defer { progress?.finish() }
    guard let cache = options.cache else { return try await fetch(request, progress) }
    return try await cachedResponse(to: request, in: cache) { try await fetch($0, progress) }
  }

  /// Sends a request to the server.
  private func fetch(
    _ request: RestRequest, _ progress: TransferProgress?
  ) async throws -> RestResponse {
    return try await inFlight.run(request) {
      let response = try await self.exchange(request, progress)
      if response.isSuccess, let date = response.headers[.date] {
        self.lastDate.withLock { $0 = date }
      }
      return response
    }
  }

  /// The server's time at the last successful response of this client, in whole seconds; nil before
  /// the first response, or if that has no date.
  public var serverTime: SalesforceDate? {
    lastDate.withLock { $0 }.flatMap(SalesforceDate.parseHTTP)
  }

  /// Sends `request` and calls `body` with a successful response as soon as its header fields have arrived;
  /// `body` reads the content while it arrives. If `body` returns before the end of the response, the
  /// connection is closed.
  ///
  /// Once `body` has been called, the request is not sent again.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: As ``send(_:)``; errors of `body` are rethrown.
  public func withStream<Result: Sendable>(
    to request: RestRequest, progress: TransferProgress? = nil,
    _ body: @escaping @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    defer { progress?.finish() }
    return try await inFlight.run(request) {
      try await self.stream(request, progress, body)
    }
  }

  /// Cancels all pending requests of this client; their callers get `CancellationError`.
  ///
  /// - Returns: The number of cancelled requests.
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
    try writer.wire(request, as: account)
  }
}
