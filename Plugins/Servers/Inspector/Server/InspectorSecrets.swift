import SalesforceSDKCommon
import Synchronization

/// What a request needs: the address of this server, and the two random numbers of it.
final class InspectorSecrets: Sendable {
  static let host = "127.0.0.1"

  /// Gives the files of the page, which hold no data.
  let page = Base64URL.encode(RandomBytes.make(16))
  /// Gives the data.
  let token = Base64URL.encode(RandomBytes.make(16))
  private let port = Atomic(0)

  /// Is called before the first request.
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

  func isPage(_ text: some StringProtocol) -> Bool { Self.same(text, page) }

  /// - Parameter authorization: The header's value.
  func isAuthorized(_ authorization: String?) -> Bool {
    guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
    return Self.same(authorization.dropFirst("Bearer ".count), token)
  }

  /// Takes the same time wherever the texts differ.
  private static func same(_ text: some StringProtocol, _ secret: String) -> Bool {
    guard text.utf8.count == secret.utf8.count else { return false }
    var difference: UInt8 = 0
    for (one, other) in zip(text.utf8, secret.utf8) { difference |= one ^ other }
    return difference == 0
  }
}
