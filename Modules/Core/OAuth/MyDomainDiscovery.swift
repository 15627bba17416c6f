public import Foundation
import SalesforceSDKCommon

/// A login that finds the user's org first: a page asks the user for a mail address and leads to
/// the org's own domain (CO-46).
public struct MyDomainDiscovery: Sendable {
  /// The result of the discovery page.
  public struct Result: Sendable, Equatable {
    /// The server that the user logs in to.
    public let server: LoginServer
    /// The user name that the login page shows.
    public let loginHint: String
  }

  /// The address that the page requests at its end.
  public static let callbackURL = "sfdc://discocallback"
  /// The page to show.
  public let url: URL

  /// Creates the page for the app with `clientId` at a server whose path contains `/discovery`.
  ///
  /// - Parameter clientVersion: Default: this package's version.
  public init(
    server: LoginServer, clientId: String, clientVersion: String = SDKVersion.current
  ) {
    let query = PercentEncoding.form([
      (name: "client_id", value: clientId), ("client_version", clientVersion),
      ("callback_url", Self.callbackURL),
    ])
    var path = server.url.path(percentEncoded: true).trimmingSlashes(atEnd: true)
    if path.isEmpty { path = LoginServer.discoveryPath }
    let base = server.url.site
    guard let url = URL(string: base + path + "?" + query) else {
      preconditionFailure("\(base)\(path) is no address")
    }
    self.url = url
  }

  /// Returns the result of the page, if `address` is its callback with both parts of the response;
  /// `nil` for any other address, which the caller ignores.
  public func result(of address: String) -> Result? {
    guard AuthorizationSession.isRedirect(address, to: Self.callbackURL),
      let query = address.split(separator: "?", maxSplits: 1).dropFirst().first
    else { return nil }
    let pairs = PercentEncoding.pairs(ofForm: query.prefix { $0 != "#" })
    func value(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
    guard let domain = value("my_domain"), let hint = value("login_hint"), !hint.isEmpty,
      let server = try? LoginServer(domain)
    else { return nil }
    return Result(server: server, loginHint: hint)
  }
}

/// A presenter that can also show the discovery page.
public protocol DiscoveryPresenter: LoginPresenter {
  /// Shows the page of `discovery` and returns the first result that it creates from an address.
  ///
  /// - Throws: As ``LoginPresenter/redirect(of:)``.
  func discover(_ discovery: MyDomainDiscovery) async throws -> MyDomainDiscovery.Result
}

extension LoginServer {
  static let discoveryPath = "/discovery"

  /// The server with the page that asks the user for a mail address and leads to the org's own
  /// domain.
  public static let welcome = LoginServer(known: "welcome.salesforce.com/discovery")

  /// Whether this is not a login server but the page that finds one.
  public var isDiscovery: Bool {
    url.path(percentEncoded: true).lowercased().contains(Self.discoveryPath)
  }
}
