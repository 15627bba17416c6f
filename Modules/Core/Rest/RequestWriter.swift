import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// Turns requests into what is sent: address, token and header fields (CO-117).
struct RequestWriter: Sendable {
  let apiVersion: String
  let userAgent: UserAgent
  /// The hosts that may receive the token in addition to the account's servers.
  let redirects: RedirectRule

  /// The rule for redirects of a request of `account`, which trusts the account's servers.
  func redirects(of account: UserAccount?) -> RedirectRule {
    var rule = redirects
    rule.trustedOrigins.formUnion(account?.credentials.servers.map(\.origin) ?? [])
    return rule
  }

  /// The request as it is sent.
  func wire(
    _ request: RestRequest, as account: UserAccount?, progress: TransferProgress? = nil
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
    SecretsInUse.note(authorization: headers[.authorization])
    if headers[.userAgent] == nil {
      headers[.userAgent] = userAgent.text(qualifier: request.userAgentQualifier)
    }
    return TransportRequest(
      method: request.method, url: url, headers: headers, body: request.body,
      upload: request.upload, timeout: request.timeout,
      maxResponseBytes: request.maxResponseBytes, progress: progress)
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
