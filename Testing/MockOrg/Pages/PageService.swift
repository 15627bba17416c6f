import Foundation
import SalesforceSDKCommon

/// The pages of the org at `/apex/<name>`, as Visualforce has them: HTML in which `{!$User.FirstName}` and a few others
/// are replaced, for users with a session in their cookies.
///
/// A request without a session leads to the login with `ec=302` and the page's address, as on the platform.
struct PageService {
  let login: LoginService
  /// The folder of the pages of a test's own; they come before those of the org.
  let folder: URL?

  /// Handles a request, or returns nil if its path is none of the pages'.
  func respond(to request: OrgRequest) -> OrgResponse? {
    guard request.path.count == 2, request.path[0].lowercased() == "apex" else { return nil }
    guard request.method == "GET" || request.method == "HEAD" else {
      return OrgResponse(.methodNotAllowed(request.method, allowed: "GET,HEAD"))
    }
    let name = request.path[1]
    guard let user = user(of: request) else { return Self.expired(request, login.baseURL) }
    guard let text = text(of: name) else {
      return page(
        404, "<!DOCTYPE html><title>URL No Longer Exists</title><h1>URL No Longer Exists</h1>")
    }
    var html = text
    for (field, value) in [
      ("$User.FirstName", user.firstName), ("$User.LastName", user.lastName),
      ("$User.Username", user.username), ("$User.Id", user.id),
      ("$Organization.Id", login.organizationID), ("$Site.BaseUrl", login.baseURL),
    ] {
      html = html.replacing("{!\(field)}", with: Self.escaped(value))
    }
    var response = page(200, html)
    // As with cache="true" expires="600" of a page: the container may show it offline.
    response.headers = [
      ("Cache-Control", "private, max-age=600"),
      ("ETag", "\"\(Base64URL.encode(Digests.sha256(response.body)))\""),
    ]
    return response
  }

  /// The user of the session in the cookie `sid`.
  private func user(of request: OrgRequest) -> LoginUser? {
    login.browserSession(of: request).flatMap { login.user($0.userID) }
  }

  private static func expired(_ request: OrgRequest, _ baseURL: String) -> OrgResponse {
    let path = "/" + request.path.map { PercentEncoding.encode($0) }.joined(separator: "/")
    let target = "\(baseURL)/?ec=302&startURL=\(PercentEncoding.encode(path))"
    return OrgResponse(
      status: 302, headers: [("Location", target), ("Cache-Control", "no-store")])
  }

  private func page(_ status: Int, _ html: String) -> OrgResponse {
    OrgResponse(
      status: status, headers: [("Cache-Control", "no-store")], body: Array(html.utf8),
      contentType: "text/html; charset=utf-8")
  }

  private func text(of name: String) -> String? {
    // The name is a part of a file's name.
    guard name.utf8.allSatisfy({ $0 < 128 }),
      name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    let builtIn = Bundle.module.url(forResource: "Resources/Pages", withExtension: nil)
    for place in [folder, builtIn].compactMap(\.self) {
      if let bytes = try? NamedFile.read(place.appending(path: "\(name).html")) {
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    return nil
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }
}
