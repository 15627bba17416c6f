import Foundation
import SalesforceSDKCommon
public import SalesforceSDKCore

/// A cookie that gives a web page of the org the session of an account (HT-15).
///
/// Use the cookies only in the memory of an engine or a client: they contain tokens, so never write
/// them to disk unencrypted.
public struct SessionCookie: Sendable, Hashable {
  /// The cookie's name.
  public let name: String
  /// The cookie's value: a token or an id.
  public let value: String
  /// The host that receives the cookie.
  public let host: String
  /// Whether hosts below ``host`` receive it too: the cookie has a `Domain` attribute. True for communities.
  public let includesSubdomains: Bool
  /// Whether the cookie is sent over https only, with `SameSite=None`. False only for an org at an http address of this
  /// machine; such a cookie is `SameSite=Lax`.
  public let isSecure: Bool

  /// The cookie as a `Set-Cookie` header has it.
  public var header: String {
    let domain = includesSubdomains ? "; Domain=\(host)" : ""
    return "\(name)=\(value)\(domain); Path=/"
      + (isSecure ? "; Secure; SameSite=None" : "; SameSite=Lax")
  }

  /// Returns the cookies of an account for the pages of its org: for the instance or community, and
  /// for the domains of Lightning, content and Visualforce if the login was a hybrid grant (BX-13).
  /// Cookies with an unknown domain or value are omitted. If the granted scopes lack one that web
  /// content needs, a warning is logged.
  public static func all(of account: UserAccount) -> [SessionCookie] {
    all(of: account.credentials, organizationId: account.organizationId)
  }

  static func all(
    of credentials: OAuthCredentials, organizationId: String
  ) -> [SessionCookie] {
    let session = credentials.webSession
    warn(about: credentials.scopes)
    let community = credentials.communityURL
    let csrf = ("eikoocnekotMob", session["csrf_token"])
    let client = [
      ("clientSrc", session["cookie-clientSrc"]), ("sid_Client", session["cookie-sid_Client"]),
      ("oid", Optional(organizationId)),
    ]
    let token =
      credentials.tokenFormat == "jwt" ? session["parent_sid"] : credentials.accessToken
    let name = session["sidCookieName"].flatMap { $0.isEmpty ? nil : $0 } ?? "sid"
    var cookies: [SessionCookie] = []
    func add(
      _ host: Host?, _ values: [(name: String, value: String?)], includesSubdomains: Bool = false
    ) {
      guard let host else { return }
      for (name, value) in values {
        guard let value, isCookieText(name), isCookieText(value) else { continue }
        cookies.append(
          SessionCookie(
            name: name, value: value, host: host.name, includesSubdomains: includesSubdomains,
            isSecure: host.isSecure))
      }
    }
    let main = (community ?? credentials.instanceURL).flatMap { Host($0) }
    let isSecure = main?.isSecure ?? true
    func host(_ key: String) -> Host? { session[key].flatMap { Host($0, isSecure: isSecure) } }
    add(main, [(name, token)] + client + [csrf], includesSubdomains: community != nil)
    add(host("lightning_domain"), [("sid", session["lightning_sid"]), csrf])
    add(host("content_domain"), [("sid", session["content_sid"])])
    add(host("visualforce_domain"), [("sid", session["visualforce_sid"])] + client)
    return cookies
  }

  private struct Host {
    let name: String
    let isSecure: Bool

    init?(_ url: URL) {
      guard let name = url.host(percentEncoded: false), !name.isEmpty else { return nil }
      self.name = name
      isSecure = url.scheme?.lowercased() == "https"
    }

    /// Reads a domain as a token response has it: a host, with or without a port.
    init?(_ domain: String, isSecure: Bool) {
      let address = domain.contains("://") ? domain : "https://\(domain)"
      guard let name = URL(string: address)?.host(percentEncoded: false), !name.isEmpty else {
        return nil
      }
      self.name = name
      self.isSecure = isSecure
    }
  }

  /// Whether a text can be a part of a cookie: another one would end it, or begin another header.
  private static func isCookieText(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ";") }
  }

  private static func warn(about scopes: [String]) {
    guard !scopes.isEmpty, !scopes.contains("full") else { return }
    let missing = ["web", "visualforce", "lightning", "content"].filter { !scopes.contains($0) }
    guard !missing.isEmpty else { return }
    HybridLogger.log.warning(
      "The login has no scope \(missing.joined(separator: ", ")): pages that need it ask for a login. Add it to the connected app."
    )
  }
}
