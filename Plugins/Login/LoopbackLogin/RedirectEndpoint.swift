import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// Where the redirect is awaited: the parts of a redirect URI on this machine.
struct RedirectEndpoint: Sendable, Equatable {
  /// As it is written in the redirect URI.
  let host: String
  /// The port to listen on; 0 takes any free one.
  let port: Int
  /// The path that is served.
  let path: String

  /// Reads a redirect URI.
  ///
  /// - Throws: `OAuthError` `invalidRequest` for anything but http on this machine.
  init(_ redirectURI: String) throws(OAuthError) {
    guard let url = URL(string: redirectURI), url.scheme?.lowercased() == "http",
      let host = url.host(), url.isLoopback
    else {
      throw OAuthError(
        .invalidRequest,
        "A login through the browser needs a redirect URI like http://127.0.0.1:0/callback, "
          + "not \(redirectURI).")
    }
    self.host = host
    self.port = url.port ?? 0
    let path = url.path(percentEncoded: true)
    self.path = path.isEmpty ? "/" : path
  }

  /// The addresses to listen on; the first has to be there, the others where the system has them.
  ///
  /// A browser may take `localhost` for either, and a program that listens on the other would get the code.
  var bindAddresses: [String] {
    switch host.lowercased() {
    case "localhost": ["127.0.0.1", "::1"]
    default: [host.filter { $0 != "[" && $0 != "]" }]
    }
  }

  /// The redirect URI with the port that was taken.
  func redirectURI(port: Int) -> String {
    let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    return "http://\(host):\(port)\(path)"
  }
}
