import Foundation

/// A navigation by which the server says that the session of a web page has expired (HT-17).
struct ExpiredSession: Equatable {
  /// The page to return to once the session is renewed; nil for the app's start page.
  let returnURL: URL?

  /// - Parameters:
  ///   - loginPages: The org's login page and single sign-on addresses.
  ///   - base: Against which a relative return address is resolved.
  ///   - admits: Whether a page may be returned to.
  /// - Returns: Nil if the navigation says nothing of the kind.
  init?(
    _ url: URL, loginPages: [URL], base: URL?, admits: (URL) -> Bool
  ) {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    func value(_ name: String) -> String? {
      items.first { $0.name == name }?.value.flatMap { $0.isEmpty ? nil : $0 }
    }
    let page = Self.withoutQuery(url)
    guard
      url.path().contains("/services/identity/mobileauthredirect")
        || loginPages.contains(where: { page.hasPrefix(Self.withoutQuery($0)) })
        || ["301", "302"].contains(value("ec"))
    else { return nil }
    guard let target = value("retURL") ?? value("startURL"), !target.contains("frontdoor"),
      let resolved = URL(string: target, relativeTo: base)?.absoluteURL, admits(resolved)
    else {
      returnURL = nil
      return
    }
    returnURL = resolved
  }

  private static func withoutQuery(_ url: URL) -> String {
    let text = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    return text.hasSuffix("/") ? String(text.dropLast()) : String(text)
  }
}
