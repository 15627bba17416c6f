import Foundation
import SalesforceSDKCommon

/// Decides by a request's `Host` and `Origin` headers whether a client of this machine sent it.
///
/// A web page can make a browser on this machine send requests here. A name of the page's own that resolves
/// to a loopback address (DNS rebinding) shows in `Host`, a request from the page's own address in `Origin`.
struct RequestOrigin {
  let options: MockOrgOptions

  /// The refusal of a request; nil if it may pass.
  ///
  /// - Parameter authority: The `Host` header; nil if the request has none, as no browser's has.
  func refusal(authority: String?, origin: String?) -> ServerError? {
    if let authority, !isOurs(authority) {
      return ServerError(
        status: 421, "MISDIRECTED_REQUEST",
        "The mock org does not serve the host '\(authority)'. Call it by a loopback address, or name "
          + "the host with --allow-host.")
    }
    if let origin, !isOurs(origin: origin, authority: authority) {
      return ServerError(
        status: 403, "FORBIDDEN",
        "The mock org does not serve requests of the web page '\(origin)'. Send them from a program."
      )
    }
    return nil
  }

  /// Whether a `Host` header names this machine, the org's public address or a host of the options.
  private func isOurs(_ authority: String) -> Bool {
    // A URL takes other forms of digits and dots for the ASCII ones.
    guard authority.utf8.allSatisfy({ $0 < 0x80 }),
      let url = URL(string: "http://\(authority)"), url.user == nil, url.path.isEmpty,
      url.query == nil, url.fragment == nil, let host = url.host()?.lowercased()
    else { return false }
    return url.isLoopback || host == options.instanceURL?.host()?.lowercased()
      || Self.isPlatform(host) || options.otherHosts.contains { $0.lowercased() == host }
  }

  /// Whether a host is one at which the platform's clients log in or find an org: transports that lead
  /// such a client here keep the name. No page can make these names lead to this machine.
  private static func isPlatform(_ host: String) -> Bool {
    ["login.salesforce.com", "test.salesforce.com"].contains(host)
      || host.hasSuffix(".my.salesforce.com")
  }

  /// Whether a page is the org's own.
  private func isOurs(origin: String, authority: String?) -> Bool {
    let origin = origin.lowercased()
    if let authority = authority?.lowercased(),
      ["http://\(authority)", "https://\(authority)"].contains(origin)
    {
      return true
    }
    return origin == options.instanceAddress?.lowercased()
  }
}
