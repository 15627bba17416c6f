import Foundation
import HTTPTypes

/// Says which redirects are followed.
///
/// A token follows a redirect to the same host, or to a host of the platform, and never from https
/// to http; any other redirect is handed to the caller as the answer (CO-128).
public struct RedirectRule: Sendable, Equatable {
  /// Ends of the host names that may receive a token, each with its leading dot.
  public var trustedHostSuffixes: [String]
  /// The longest chain of redirects followed for one request.
  public var maxRedirects: Int

  /// Makes a rule.
  public init(
    trustedHostSuffixes: [String] = RedirectRule.platformHostSuffixes, maxRedirects: Int = 5
  ) {
    self.trustedHostSuffixes = trustedHostSuffixes
    self.maxRedirects = maxRedirects
  }

  /// The hosts of the platform.
  public static let platformHostSuffixes = [
    ".salesforce.com", ".force.com", ".sfdcopens.com", ".site.com", ".lightning.com",
    ".salesforce-sites.com", ".force-user-content.com", ".salesforce-experience.com",
    ".salesforce-scrt.com",
  ]

  /// Whether `host` belongs to the platform, by the list of this rule.
  public func trusts(host: String) -> Bool {
    let host = host.lowercased()
    return trustedHostSuffixes.contains { host.hasSuffix($0) }
  }

  /// The request that follows `response`, or `nil` if the response is the answer.
  ///
  /// The next request keeps method, headers and body; after a 303 it is a GET without a body, which
  /// is what that status says.
  package func request(
    after response: TransportResponse, to request: TransportRequest
  ) -> TransportRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.headers[.location],
      let target = URL(string: location, relativeTo: request.url)?.absoluteURL,
      target.isAllowedForTransport
    else { return nil }
    if request.url.scheme?.lowercased() == "https", target.scheme?.lowercased() != "https" {
      return nil
    }
    if request.headers[.authorization] != nil, target.origin != request.url.origin {
      // The platform's own hosts speak https on its usual port; anything else is a stranger.
      guard target.scheme?.lowercased() == "https", trusts(host: target.host() ?? "") else {
        return nil
      }
    }
    var next = request
    next.url = target
    if response.status == 303, request.method != .head {
      next.method = .get
      next.body = nil
      next.headers[.contentType] = nil
    }
    return next
  }
}

extension HTTPTransport {
  /// Sends `request` and follows the redirects that `rule` allows.
  ///
  /// - Throws: ``TransportError``; `insecureURL` before anything is sent. `CancellationError`.
  package func send(
    _ request: TransportRequest, following rule: RedirectRule
  ) async throws -> TransportResponse {
    var request = request
    var redirects = 0
    while true {
      guard request.url.isAllowedForTransport else {
        throw TransportError(
          .insecureURL,
          "\(request.url.withoutQuery) is not https; plain http is for this machine alone")
      }
      let response = try await send(request)
      guard redirects < rule.maxRedirects, let next = rule.request(after: response, to: request)
      else { return response }
      redirects += 1
      request = next
    }
  }
}
