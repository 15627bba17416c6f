import Foundation
import HTTPTypes
import IdentityProviderURLs
import SalesforceSDKCommon
import SalesforceSDKCore

/// Exchanges the session of an account for a code of another app: opens the authorization page with the session, as a
/// browser would, and reads the code from the redirect (CO-42, CO-162).
struct CodeRequest: Sendable {
  let accounts: UserAccountManager
  let transport: any HTTPTransport

  private static let maxRedirects = 6
  private static let maxPageBytes = 1 << 20

  /// - Throws: ``IdentityLoginError`` `refused` with the server's reason, `interactionRequired`, `malformed`; what
  ///   ``UserAccountManager/oneTimeLoginURL(to:for:)`` throws; `TransportError`.
  func code(
    for request: IdentityCommand.AuthRequest, of account: UserAccount
  ) async throws -> String {
    let page =
      "/services/oauth2/authorize?"
      + PercentEncoding.form(
        [
          (name: "response_type", value: "code"), ("client_id", request.clientId),
          ("redirect_uri", request.redirectURI), ("display", "touch"),
          ("code_challenge", request.codeChallenge), ("code_challenge_method", "S256"),
          ("scope", request.scopes.sorted().joined(separator: " ")),
        ])
    var url = try await accounts.oneTimeLoginURL(to: page, for: account.identity)
    let origins = Self.origins(of: account).union([url.origin])
    var cookies = Cookies()
    for _ in 0..<Self.maxRedirects {
      var step = TransportRequest(
        method: .get, url: url, timeout: .seconds(30), maxResponseBytes: Self.maxPageBytes)
      step.headers[.cookie] = cookies.header(for: url)
      let response = try await transport.send(step)
      cookies.take(from: response.headers, of: url)
      guard (300...399).contains(response.status), let location = response.headers[.location] else {
        throw IdentityLoginError(
          .interactionRequired,
          "The org shows a page (\(response.status)) instead of returning a code. Approve the app for its users in the org.",
          reason: "interaction_required")
      }
      if let code = try code(in: location, redirectURI: request.redirectURI) { return code }
      guard let next = URL(string: location, relativeTo: url)?.absoluteURL,
        origins.contains(next.origin), next.user() == nil
      else {
        throw IdentityLoginError(
          .malformed, "The org leads away from its own servers instead of returning a code.")
      }
      url = next
    }
    throw IdentityLoginError(
      .malformed, "The org redirects without end instead of returning a code.")
  }

  /// The code, if the redirect is that of the app.
  private func code(
    in location: String, redirectURI: String
  ) throws(IdentityLoginError) -> String? {
    let items = QueryItems(location)
    // The one-time URL was not accepted: the session is not good for pages.
    if let number = items["ec"], ["301", "302"].contains(number) {
      throw IdentityLoginError(
        .refused, "The org does not open pages with this session (\(number)). Log in again.",
        reason: IdentityRefusal.Code.denied)
    }
    guard Self.bare(location) == Self.bare(redirectURI) else { return nil }
    if let error = items["error"] {
      throw IdentityLoginError(
        .refused, "The org refused a code with \(error.filter { !$0.isNewline }).", reason: error)
    }
    guard let code = items["code"] else {
      throw IdentityLoginError(.malformed, "The org's redirect holds neither a code nor an error.")
    }
    return code
  }

  private static func bare(_ address: String) -> Substring {
    var text = address.prefix { $0 != "?" && $0 != "#" }
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }

  private static func origins(of account: UserAccount) -> Set<String> {
    let credentials = account.credentials
    return Set(
      [
        credentials.loginServer.url, credentials.instanceURL, credentials.apiInstanceURL,
        credentials.communityURL,
      ].compactMap { $0 }.filter(\.isAllowedForTransport).map(\.origin))
  }
}

/// The cookies of one exchange. A cookie goes back to the origin that set it, and nowhere else.
private struct Cookies {
  private var values: [String: [String: String]] = [:]

  mutating func take(from headers: HTTPFields, of url: URL) {
    for field in headers[values: .setCookie] {
      let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { continue }
      values[url.origin, default: [:]][String(pair[0])] = String(pair[1])
    }
  }

  func header(for url: URL) -> String? {
    let pairs = (values[url.origin] ?? [:]).sorted { $0.key < $1.key }
    return pairs.isEmpty ? nil : pairs.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
  }
}
