import Foundation
import HTTPTypes

/// Sends REST requests for one account.
///
/// A client belongs to the account it was made for and never asks who the current user is. It may
/// be used from any number of tasks at once. When the account's token has expired, one refresh
/// serves all requests that noticed, and each of them is sent once more; no other request is ever
/// repeated. After the account was logged out its requests fail with `notAuthenticated`.
public final class RestClient: Sendable {
  /// The API version of requests that name none.
  public let apiVersion: String
  /// The account whose token is sent; `nil` for a client without one.
  public let identity: UserAccountIdentity?

  private let accounts: UserAccountManager?
  private let transport: any HTTPTransport
  private let userAgent: UserAgent
  private let redirects: RedirectRule

  /// Makes a client for `account`.
  ///
  /// - Parameter accounts: Holds the account's tokens and refreshes them.
  /// - Parameter apiVersion: Default: `v66.0`.
  public init(
    account: UserAccount, accounts: UserAccountManager, transport: any HTTPTransport,
    apiVersion: String = RestRequest.defaultAPIVersion, userAgent: UserAgent = UserAgent(),
    redirects: RedirectRule = RedirectRule()
  ) {
    self.identity = account.identity
    self.accounts = accounts
    self.transport = transport
    self.apiVersion = apiVersion
    self.userAgent = userAgent
    self.redirects = redirects
  }

  /// Makes a client without an account, for requests with a whole address that need no token
  /// (CO-114, CO-127).
  public init(
    transport: any HTTPTransport, apiVersion: String = RestRequest.defaultAPIVersion,
    userAgent: UserAgent = UserAgent(), redirects: RedirectRule = RedirectRule()
  ) {
    self.identity = nil
    self.accounts = nil
    self.transport = transport
    self.apiVersion = apiVersion
    self.userAgent = userAgent
    self.redirects = redirects
  }

  /// Sends `request` and returns a successful answer.
  ///
  /// - Throws: ``RestError`` `server` with the status and what the server said, for an answer
  ///   outside 200...299; besides those what ``response(to:)`` throws.
  public func send(_ request: RestRequest) async throws -> RestResponse {
    let response = try await response(to: request)
    guard response.isSuccess else { throw RestError(answer: response, to: request) }
    return response
  }

  /// Sends `request` and returns the answer, whatever its status.
  ///
  /// - Throws: ``RestError`` if there is no answer; ``OAuthError`` if the token had expired and
  ///   could not be refreshed; ``AccountError`` if new tokens could not be written;
  ///   `CancellationError` if the task was cancelled, which closes the request's connection and
  ///   leaves a refresh that others wait for running.
  public func response(to request: RestRequest) async throws -> RestResponse {
    guard request.requiresAuthentication || accounts != nil else {
      return try await exchange(request, as: nil)
    }
    guard let accounts, let identity else {
      throw RestError(
        .notAuthenticated, "\(request) needs an account and this client has none; log in first")
    }
    let account = try await session(for: request) { try await accounts.session(of: identity) }
    let response = try await exchange(request, as: account)
    guard request.requiresAuthentication, request.headers[.authorization] == nil,
      response.asksForRefresh(of: request)
    else { return response }
    let refreshed = try await session(for: request) {
      try await accounts.refreshedSession(
        of: identity, replacing: account.credentials.accessToken)
    }
    return try await exchange(request, as: refreshed)
  }

  /// The account with its tokens, or the reason why it has none in the form of this module.
  private func session(
    for request: RestRequest, _ get: () async throws -> UserAccount
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

  /// One exchange, with the tokens and hosts that `account` has now.
  private func exchange(
    _ request: RestRequest, as account: UserAccount?
  ) async throws -> RestResponse {
    let wired = try wire(request, as: account)
    do {
      let response = try await transport.send(wired, following: redirects)
      return RestResponse(
        status: response.status, headers: response.headers, body: response.body)
    } catch let error as TransportError {
      throw RestError(error)
    }
  }

  /// The request as it is sent: address, token and header fields (CO-117).
  package func wire(
    _ request: RestRequest, as account: UserAccount?
  ) throws(RestError) -> TransportRequest {
    let url = try request.url(
      base: account?.credentials.base(for: request.host) ?? request.host.base,
      apiVersion: apiVersion)
    guard url.isAllowedForTransport else {
      throw RestError(
        .insecureURL,
        "\(url.withoutQuery) is not https; plain http is for this machine alone")
    }
    var headers = request.headers
    if request.requiresAuthentication, headers[.authorization] == nil, let account {
      guard let token = account.credentials.accessToken else {
        throw RestError(.notAuthenticated, "\(account) has no session; log in again")
      }
      guard account.credentials.owns(url) || url.isPlatformHost(by: redirects) else {
        throw RestError(
          .invalidRequest,
          "\(url.withoutQuery) is no server of \(account), so it must not see the token; "
            + "send the request without authentication")
      }
      headers[.authorization] = "Bearer \(token)"
    }
    if headers[.userAgent] == nil {
      headers[.userAgent] = userAgent.text(qualifier: request.userAgentQualifier)
    }
    return TransportRequest(
      method: request.method, url: url, headers: headers, body: request.body,
      timeout: request.timeout, maxResponseBytes: request.maxResponseBytes)
  }
}

extension RestRequest.Host {
  /// The server, if the request itself names one.
  var base: URL? {
    if case .base(let url) = kind { url } else { nil }
  }
}

extension URL {
  /// Whether this is an https address of the platform.
  func isPlatformHost(by rule: RedirectRule) -> Bool {
    scheme?.lowercased() == "https" && rule.trusts(host: host() ?? "")
  }
}

extension RestResponse {
  /// Whether the answer says that the token is not accepted (CO-120).
  func asksForRefresh(of request: RestRequest) -> Bool {
    if status == 401 { return true }
    return status == 403 && request.target().hasPrefix("/services/oauth2")
      && body.elementsEqual("Bad_OAuth_Token".utf8)
  }
}
