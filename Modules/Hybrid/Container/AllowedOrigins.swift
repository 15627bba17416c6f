public import Foundation

/// The origins whose pages a container shows, and from which its bridge accepts calls (HT-4).
public struct AllowedOrigins: Sendable, Hashable {
  /// `https://localhost`, which is the app's own folder, and the domains of the platform.
  public static let standard = AllowedOrigins(
    entries: [
      "https://localhost", "https://*.force.com", "https://*.salesforce.com",
      "https://*.visualforce.com", "https://*.documentforce.com",
      "https://*.salesforce-communities.com",
    ].compactMap(Entry.init))

  private var entries: [Entry]

  private init(entries: [Entry]) { self.entries = entries }

  /// Adds an origin: `https://host`, `https://host:port`, or `https://*.domain` for all hosts below
  /// a domain. A text without a scheme means https. http is accepted only for addresses of this
  /// machine.
  ///
  /// - Returns: False if the text is not such an origin, for example `*`, which would admit every
  ///   page. Nothing is added then.
  @discardableResult
  public mutating func add(_ text: String) -> Bool {
    guard let entry = Entry(text) else { return false }
    entries.append(entry)
    return true
  }

  /// Whether the page at an address is shown and may call the bridge.
  public func admits(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false),
      url.user == nil, url.password == nil
    else { return false }
    let port = url.port ?? (scheme == "https" ? 443 : 80)
    return entries.contains { $0.matches(scheme, host.lowercased(), port) }
  }

  /// Whether an `Origin` header names an allowed origin.
  public func admits(origin: String) -> Bool {
    guard let url = URL(string: origin), url.path().isEmpty, url.query() == nil else {
      return false
    }
    return admits(url)
  }

  private struct Entry: Sendable, Hashable {
    let scheme: String
    let host: String
    let port: Int
    let isWildcard: Bool

    init?(_ text: String) {
      let address = text.contains("://") ? text : "https://\(text)"
      let isWildcard = address.contains("://*.")
      guard
        let url = URL(string: isWildcard ? address.replacing("://*.", with: "://") : address),
        let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false),
        !host.contains("*"), url.user == nil,
        scheme == "https" || (scheme == "http" && Self.isLoopback(host) && !isWildcard),
        !isWildcard || host.contains(".")
      else { return nil }
      self.scheme = scheme
      self.host = host.lowercased()
      self.port = url.port ?? (scheme == "https" ? 443 : 80)
      self.isWildcard = isWildcard
    }

    func matches(_ scheme: String, _ host: String, _ port: Int) -> Bool {
      guard scheme == self.scheme, port == self.port else { return false }
      return isWildcard ? host.hasSuffix("." + self.host) : host == self.host
    }

    private static func isLoopback(_ host: String) -> Bool {
      ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host.lowercased())
    }
  }
}
