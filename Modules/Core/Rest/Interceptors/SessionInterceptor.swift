import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// Gives a call its address and the account's token, and sends it once more after a refresh of a token that the
/// server refused.
struct SessionInterceptor: RestInterceptor {
  let session: ClientSession
  let writer: RequestWriter

  func intercept(_ call: RestCall, next: Next) async throws -> RestResponse {
    let exchange = call.exchange
    let request = call.request
    // Read for each attempt, because another call may have refreshed the token since.
    var account = try await exchange.withFinalErrors { try await session.account(for: request) }
    let hasToken =
      account != nil && request.requiresAuthentication && request.headers[.authorization] == nil
    var call = call
    while true {
      let wire = try writer.wire(request, as: account, progress: call.progress)
      call.wire = wire
      call.redirects = writer.redirects(of: account)
      exchange.begin(wire)
      let response = try await next(call)
      exchange.end(response)
      guard hasToken, response.asksForRefresh(of: request), exchange.takeRefresh() else {
        return response
      }
      account = try await exchange.withFinalErrors { [account] in
        try await session.refreshedAccount(for: request, replacing: account)
      }
    }
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
