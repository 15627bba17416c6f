import SalesforceSDKCommon
import Synchronization

/// The requirements for a request: the address of this server, and its two random numbers.
final class InspectorSecrets: Sendable {
  static let host = "127.0.0.1"

  /// The secret for the files of the page, which contain no data.
  let page = Base64URL.encode(RandomBytes.make(16))
  /// The secret for the data.
  let token = Base64URL.encode(RandomBytes.make(16))
  private let port = Atomic(0)

  /// Stores the port. Must be called before the first request.
  func listens(on port: Int) { self.port.store(port, ordering: .releasing) }

  private var authority: String { "\(Self.host):\(port.load(ordering: .acquiring))" }

  func address(port: Int) -> String { "http://\(Self.host):\(port)/\(page)/#token=\(token)" }

  /// Whether a request comes from this server's own page, or from a program, and not from another site: the host
  /// name of another address may lead here.
  func admits(host: String?, origin: String?, site: String?) -> Bool {
    guard host == authority else { return false }
    if let origin, origin != "http://\(authority)" { return false }
    return site == nil || site == "same-origin" || site == "none"
  }

  func isPage(_ text: some StringProtocol) -> Bool { text.isEqual(toSecret: page) }

  /// - Parameter authorization: The header's value.
  func isAuthorized(_ authorization: String?) -> Bool {
    guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
    return authorization.dropFirst("Bearer ".count).isEqual(toSecret: token)
  }
}
