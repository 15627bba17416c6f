import Foundation
import SalesforceSDKCommon

/// The org's own endpoint, `/mock-org`, by which tests in any language and the start page look into it
/// and tell it what to do. Nothing of it exists on the platform.
///
/// It opens to the access token of the connection document, even after the org has ended that token's
/// session, and to a browser that has loaded the start page with the key of the connection document.
struct ControlService {
  static let root = "mock-org"

  let org: MockOrg
  let baseURL: String

  func respond(to request: OrgRequest) async -> OrgResponse {
    if request.path.isEmpty { return startPage(request) }
    if request.path.count == 3, request.path[1] == "page",
      let file = StartPage.file(named: request.path[2])
    {
      return pageFile(file, request)
    }
    guard isAdmitted(request) else {
      return OrgResponse(
        ServerError(
          status: 401, "INVALID_SESSION_ID",
          "The control endpoint opens to the access token of the connection document, and to a browser "
            + "at its pageUrl."))
    }
    do {
      let match = try ControlRoutes.table.match(
        request.method, Array(request.path.dropFirst()), in: self)
      return try await match.handler(
        ControlCall(service: self, request: request, values: match.values))
    } catch let error as ServerError {
      return OrgResponse(error)
    } catch let error as MockOrgError {
      return OrgResponse(ServerError("INVALID_INPUT", error.message))
    } catch let error as JSONError {
      return OrgResponse(.jsonParser(error.message))
    } catch {
      return OrgResponse(
        ServerError(status: 500, "UNKNOWN_EXCEPTION", "The org's database failed."))
    }
  }

  // MARK: Who may

  /// Whether a request comes from the holder of the connection document.
  func isAdmitted(_ request: OrgRequest) -> Bool {
    if let token = LoginService.bearerToken(of: request) { return org.control.isAdmitted(token) }
    let cookies = (request.headers["cookie"] ?? "").split(separator: ";")
    return cookies.contains {
      String($0).trimmingBlanks().isEqual(toSecret: "\(cookieName)=\(org.control.cookie)")
    }
  }

  /// A browser sends its cookies to every port of a host: those of several orgs need names of their own.
  private var cookieName: String {
    "\(Self.root)-\(URL(string: baseURL)?.port ?? 80)"
  }

  /// The page, or, for the key of the connection document, the cookie that lets the page work.
  ///
  /// Any user of this machine can load the page, which holds nothing of the org.
  private func startPage(_ request: OrgRequest) -> OrgResponse {
    if request[query: "key"]?.isEqual(toSecret: org.control.pageKey) == true {
      return OrgResponse(
        status: 303,
        headers: [
          (
            "Set-Cookie",
            "\(cookieName)=\(org.control.cookie); Path=/\(Self.root); HttpOnly; SameSite=Strict"
          ), ("Location", "/"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
        ])
    }
    guard let file = StartPage.file(named: "index.html") else { return OrgResponse(.notFound()) }
    return pageFile(file, request)
  }

  private func pageFile(_ file: StartPage.File, _ request: OrgRequest) -> OrgResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return OrgResponse(.methodNotAllowed(request.method, allowed: "GET,HEAD"))
    }
    let headers = [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
          + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
    ]
    return OrgResponse(
      status: 200, headers: headers, body: file.bytes, contentType: file.contentType)
  }
}
