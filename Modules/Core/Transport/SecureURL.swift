package import Foundation
import SalesforceSDKCommon

extension URL {
  /// Whether a request may be sent to this URL: https to any host, http only to this machine.
  package var isAllowedForTransport: Bool {
    switch scheme?.lowercased() {
    case "https": !(host() ?? "").isEmpty
    case "http": isLoopback
    default: false
    }
  }

  /// - Throws: ``TransportError`` `insecureURL` unless a request may go there.
  func checkIsSecure() throws(TransportError) {
    guard isAllowedForTransport else {
      throw TransportError(
        .insecureURL,
        "\(withoutQuery) is not https. Plain http is for this machine alone.")
    }
  }

  /// Scheme, host and port, for comparing origins.
  package var origin: String {
    let scheme = scheme?.lowercased() ?? ""
    let port = port ?? (scheme == "http" ? 80 : 443)
    return "\(scheme)://\(host()?.lowercased() ?? ""):\(port)"
  }
}
