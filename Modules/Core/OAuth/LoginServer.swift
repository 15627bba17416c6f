import SalesforceSDKCommon
public import Foundation

/// The server where users log in: a host, and the path of a community.
public struct LoginServer: Sendable, Hashable, CustomStringConvertible {
  /// The address, without a slash at its end.
  public let url: URL

  /// Parses an address with or without `https://`. Whitespace and a slash at its ends are removed,
  /// and the host is converted to lower case.
  ///
  /// - Throws: ``OAuthError`` `invalidLoginURL` for any scheme except https; http is accepted only
  ///   for this machine.
  public init(_ address: String) throws(OAuthError) {
    var text = address.trimmed
    if !text.contains("://") { text = "https://\(text)" }
    if !text.hasSuffix("://") { text = text.trimmingSlashes(atEnd: true) }
    guard let url = URL(string: text), url.isAllowedForTransport, url.query() == nil,
      url.fragment() == nil, url.user() == nil
    else {
      throw OAuthError(
        .invalidLoginURL,
        "The login server's address must be an https address without user, query and fragment. Plain "
          + "http is accepted for this machine alone (127.0.0.1, ::1, localhost).")
    }
    // Scheme and host are case-insensitive, so two spellings are one server.
    let site = url.site
    self.url = URL(string: site.lowercased() + url.absoluteString.dropFirst(site.count)) ?? url
  }

  init(known host: StaticString) {
    guard let url = URL(string: "https://\(host)") else {
      preconditionFailure("\(host) is no host")
    }
    self.url = url
  }

  /// The login server of production and developer orgs.
  public static let production = LoginServer(known: "login.salesforce.com")
  /// The login server of sandboxes.
  public static let sandbox = LoginServer(known: "test.salesforce.com")

  /// Host and path without the scheme.
  public var domain: String {
    let text = url.absoluteString
    return text.range(of: "://").map { String(text[$0.upperBound...]) } ?? text
  }

  public var description: String { url.absoluteString }
}

/// The paths of CO-23, relative to a login server or a community.
enum OAuthPath {
  static let authorize = "/services/oauth2/authorize"
  static let token = "/services/oauth2/token"
  static let revoke = "/services/oauth2/revoke"
  static let userInfo = "/services/oauth2/userinfo"
  static let singleAccess = "/services/oauth2/singleaccess"
  static let authConfiguration = "/.well-known/auth-configuration"
  static let headless = "/services/auth/headless"
}

extension URL {
  /// The address up to its path, in its original spelling.
  var site: String {
    let text = absoluteString
    let start = text.range(of: "://")?.upperBound ?? text.startIndex
    let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    return String(text[..<end])
  }

  /// Returns the address followed by `path`, and by `query`, which is already encoded.
  ///
  /// - Precondition: Both contain only characters that are allowed in an address.
  func appending(rawPath path: String, query: String? = nil) -> URL {
    let text =
      absoluteString.trimmingSlashes(atEnd: true) + path + (query.map { "?\($0)" } ?? "")
    guard let url = URL(string: text) else { preconditionFailure("\(path) is no path") }
    return url
  }
}
