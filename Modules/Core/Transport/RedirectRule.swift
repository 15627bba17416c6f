import Foundation
import HTTPTypes

/// The rule for following redirects.
///
/// A token follows a redirect to the servers of its account, and to hosts that the app names, and never from
/// https to http; any other redirect is handed to the caller as the response (CO-128). Most hosts of the
/// platform belong to other orgs, so they are not trusted by default.
public struct RedirectRule: Sendable, Equatable {
  /// Ends of the host names that may receive a token, each with its leading dot.
  public var trustedHostSuffixes: [String]
  /// The longest chain of redirects followed for one request.
  public var maxRedirects: Int
  /// Additional origins that may receive a token: the servers of its account.
  var trustedOrigins: Set<String> = []

  /// Makes a rule.
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
    after response: TransportResponse, to request: TransportRequest
  ) -> TransportRequest? {
    self.request(after: response.status, response.headers, to: request)
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
      try request.url.checkIsSecure()
      let response = try await send(request)
      guard redirects < rule.maxRedirects, let next = rule.request(after: response, to: request)
      else { return response }
      redirects += 1
      request = next
    }
  }

  /// Sends `request`, follows the redirects that `rule` allows and lends the response behind them.
  ///
  /// - Throws: As ``send(_:following:)``; what `body` throws.
  package func withStream<Result: Sendable>(
    to request: TransportRequest, following rule: RedirectRule,
    _ body: @Sendable (TransportStream) async throws -> Result
  ) async throws -> Result {
    var request = request
    var redirects = 0
    while true {
      try request.url.checkIsSecure()
      let sent = request
      let mayFollow = redirects < rule.maxRedirects
      let step: RedirectStep<Result> = try await withStream(to: sent) { stream in
        if mayFollow, let next = rule.request(after: stream.status, stream.headers, to: sent) {
          return .follow(next)
        }
        return .response(try await body(stream))
      }
      switch step {
      case .response(let result): return result
      case .follow(let next):
        redirects += 1
        request = next
      }
    }
  }
}

/// What a response means while redirects are followed.
private enum RedirectStep<Result: Sendable>: Sendable {
  case response(Result)
  case follow(TransportRequest)
}
