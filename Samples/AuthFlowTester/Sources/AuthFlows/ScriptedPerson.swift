import Foundation
import HTTPTypes
import SalesforceMockOrg
import SalesforceSDKCore
import Synchronization

/// Stands for a person with a browser: opens pages of the mock org, fills in the login form, follows redirects and
/// keeps cookies.
public final class ScriptedPerson: Sendable {
  private let info: ConnectionInfo
  private let transport = URLSessionTransport()
  private let cookies = Mutex<[String: String]>([:])

  public init(_ info: ConnectionInfo) { self.info = info }

  /// Opens a page, and follows it up to an address that begins with `end`, or to the last page.
  ///
  /// - Returns: The last address.
  @discardableResult
  public func open(_ page: URL, upTo end: String? = nil) async throws -> String {
    var url = page
    for _ in 0..<10 {
      if let end, url.absoluteString.hasPrefix(end) { break }
      var response = try await transport.send(request(.get, url))
      remember(response.headers)
      if response.status == 200, isLoginPage(url) {
        var login = request(
          .post, URL(string: "/services/oauth2/authorize", relativeTo: url) ?? url)
        let form = [("username", info.username), ("password", info.password)]
          .map { "\($0)=\(Self.encoded($1))" }
        login.body = Array(
          ([url.query(percentEncoded: true) ?? ""] + form).joined(separator: "&").utf8)
        login.headers[.contentType] = "application/x-www-form-urlencoded"
        response = try await transport.send(login)
        remember(response.headers)
      }
      guard (300...399).contains(response.status), let location = response.headers[.location],
        let next = URL(string: location, relativeTo: url)?.absoluteURL
      else { break }
      url = next
    }
    return url.absoluteString
  }

  /// Approves the code of a device.
  public func approve(_ code: DeviceCode) async throws {
    var approval = request(.post, code.verificationURL)
    approval.headers[.contentType] = "application/x-www-form-urlencoded"
    let form = [
      ("user_code", code.userCode), ("username", info.username), ("password", info.password),
    ]
    approval.body = Array(form.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&").utf8)
    _ = try await transport.send(approval)
  }

  private func isLoginPage(_ url: URL) -> Bool {
    url.path().hasPrefix("/services/oauth2/authorize")
  }

  private func request(_ method: HTTPRequest.Method, _ url: URL) -> TransportRequest {
    var request = TransportRequest(method: method, url: url.absoluteURL)
    let pairs = cookies.withLock { $0.map { "\($0)=\($1)" } }
    if !pairs.isEmpty, url.absoluteString.hasPrefix(info.url) {
      request.headers[.cookie] = pairs.sorted().joined(separator: "; ")
    }
    return request
  }

  private func remember(_ headers: HTTPFields) {
    for value in headers[values: .setCookie] {
      let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { cookies.withLock { $0[String(pair[0])] = String(pair[1]) } }
    }
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
