import Foundation
import HTTPTypes

/// The rule for following redirects.
///
/// A redirect is followed with the token only to the servers of its account and to hosts that the
/// app names, and never from https to http. Any other redirect is returned to the caller as the
/// response (CO-128). Most hosts of the platform belong to other orgs, so they are not trusted by
/// default.
public struct RedirectRule: Sendable, Equatable {
  /// The suffixes of host names that may receive a token, each with a leading dot.
  public var trustedHostSuffixes: [String]
  /// The maximum number of consecutive redirects for one request.
  public var maxRedirects: Int
  /// Additional origins that may receive a token: the servers of its account.
  var trustedOrigins: Set<String> = []

  /// Creates a rule.
  ///
  /// - Parameter trustedHostSuffixes: Default: none. ``platformHostSuffixes`` trusts every org's hosts.
  /// - Parameter maxRedirects: Default: 5.
  public init(
    trustedHostSuffixes: [String] = [], maxRedirects: Int = 5
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
    return Self.isHostName(host) && trustedHostSuffixes.contains { host.hasSuffix($0) }
  }

  /// Whether `url` is https on the usual port of one of ``platformHostSuffixes``.
  static func isPlatform(_ url: URL) -> Bool {
    RedirectRule(trustedHostSuffixes: platformHostSuffixes).trusts(url)
  }

  /// Whether `host` is made of labels of letters, digits and hyphens. A suffix proves nothing about any other
  /// text: `evil.example%2f.salesforce.com` ends with a host of the platform too.
  private static func isHostName(_ host: String) -> Bool {
    host.utf8.count <= 253
      && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
          }
      }
  }

  /// Whether a token may go to `url`: the platform's own hosts speak https on its usual port, anything
  /// else is an untrusted host.
  func trusts(_ url: URL) -> Bool {
    if trustedOrigins.contains(url.origin) { return true }
    let host = url.host()?.lowercased() ?? ""
    return url.origin == "https://\(host):443" && trusts(host: host)
  }

  /// The request that follows `response`, or `nil` if the response is the final one.
  ///
  /// The next request keeps method, headers and body; after a 303 it is a GET without a body, which
  /// is what that status says.
  func request(
    after status: Int, _ headers: HTTPFields, to request: TransportRequest
  ) -> TransportRequest? {
    guard [301, 302, 303, 307, 308].contains(status),
      let location = headers[.location],
      let target = URL(string: location, relativeTo: request.url)?.absoluteURL,
      target.isAllowedForTransport
    else { return nil }
    if request.url.scheme?.lowercased() == "https", target.scheme?.lowercased() != "https" {
      return nil
    }
    if request.headers[.authorization] != nil, target.origin != request.url.origin {
      guard trusts(target) else { return nil }
    }
    var next = request
    next.url = target
    if status == 303, request.method != .head {
      next.method = .get
      next.body = nil
      next.upload = nil
      next.headers[.contentType] = nil
    }
    return next
  }
}

extension RedirectRule {
  /// The request that follows a complete response, or `nil` if it is the final one.
  package func request(
    after response: RestResponse, to request: TransportRequest
  ) -> TransportRequest? {
    self.request(after: response.status, response.headers, to: request)
  }
}
