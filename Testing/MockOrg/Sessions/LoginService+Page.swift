import Foundation
import SalesforceSDKCommon

/// The web server flow: a login page, on wish a page that asks for approval, a redirect with a code.
extension LoginService {
  func authorize(_ request: OrgRequest) -> OrgResponse {
    let form = Form(request)
    guard let clientID = form["client_id"], !clientID.isEmpty else {
      return page(
        "Error", LoginPage.problem("error=invalid_client_id", "client identifier invalid"),
        status: 400)
    }
    if !options.knows(client: clientID) {
      return page(
        "Error", LoginPage.problem("error=invalid_client_id", "client identifier invalid"),
        status: 400)
    }
    let redirect = form["redirect_uri"] ?? options.redirectURI
    guard isAllowed(redirect) else {
      return page(
        "Error",
        LoginPage.problem("error=redirect_uri_mismatch", "redirect_uri must match configuration"),
        status: 400)
    }
    let types = Set((form["response_type"] ?? "").split(separator: " ").map(String.init))
    let isUserAgent = types.contains("token") || types.contains("hybrid_token")
    guard types == ["code"] || types == ["hybrid_auth_code"] || isUserAgent else {
      return redirected(
        redirect,
        [
          ("error", "unsupported_response_type"),
          ("error_description", "response type not supported"),
        ],
        state: form["state"])
    }
    if let method = form["code_challenge_method"], method != "S256" {
      return redirected(
        redirect,
        [
          ("error", "invalid_request"),
          ("error_description", "code challenge method not supported"),
        ],
        state: form["state"])
    }
    guard request.method == "POST" else {
      guard let user = userOfBrowser(request, form) else { return loginPage(form, problem: nil) }
      if options.asksForApproval { return page("Allow access?", LoginPage.approval(form)) }
      return granted(user, form, clientID, redirect, isUserAgent: isUserAgent)
    }
    guard
      let user = user(named: form["username"] ?? "", password: form["password"] ?? "")
        ?? userOfBrowser(request, form)
    else {
      return loginPage(
        form,
        problem: "Please check your username and password. If you still can't log in, contact your "
          + "Salesforce administrator.")
    }
    if form["decision"] == "deny" {
      return redirected(
        redirect,
        [("error", "access_denied"), ("error_description", "end-user denied authorization")],
        state: form["state"])
    }
    if options.asksForApproval, form["decision"] != "allow" {
      return page("Allow access?", LoginPage.approval(form))
    }
    return granted(user, form, clientID, redirect, isUserAgent: isUserAgent)
  }

  /// The session in the cookie `sid`, which a browser has after a one-time login.
  func browserSession(of request: OrgRequest) -> Session? {
    let cookies = (request.headers["cookie"] ?? "").split(separator: ";")
    for cookie in cookies {
      let parts = cookie.split(separator: "=", maxSplits: 1).map { String($0).trimmingBlanks() }
      guard parts.count == 2, parts[0] == "sid" else { continue }
      if let session = sessions.session(parts[1], now: now) { return session }
    }
    return nil
  }

  /// The user of a browser that has a session. A page that demands a login ignores it, and a session without the scope
  /// `web` is none for browsers.
  private func userOfBrowser(_ request: OrgRequest, _ form: Form) -> LoginUser? {
    guard form["prompt"] != "login", form["username"] == nil,
      let session = browserSession(of: request),
      !Set(["web", "full"]).isDisjoint(with: session.scope.split(separator: " ").map(String.init))
    else { return nil }
    return user(session.userID)
  }

  /// The redirect of an app that the user lets in.
  private func granted(
    _ user: LoginUser, _ form: Form, _ clientID: String, _ redirect: String, isUserAgent: Bool
  ) -> OrgResponse {
    let scope = form["scope"].flatMap { $0.trimmingBlanks().isEmpty ? nil : $0 } ?? Self.usualScope
    if isUserAgent { return userAgent(user, form, clientID, redirect, scope) }
    let code = sessions.makeCode(
      AuthorizationGrant(
        userID: user.id, clientID: clientID, redirectURI: redirect,
        challenge: form["code_challenge"], scope: scope, nonce: form["nonce"],
        expires: now.addingTimeInterval(900)))
    return redirected(redirect, [("code", code)], state: form["state"])
  }

  /// The user agent flow: the tokens stand behind the redirect's `#`.
  private func userAgent(
    _ user: LoginUser, _ form: Form, _ clientID: String, _ redirect: String, _ scope: String
  ) -> OrgResponse {
    var request = TokenRequest(clientID: clientID, scope: scope)
    request.nonce = form["nonce"]
    request.isHybrid = (form["response_type"] ?? "").contains("hybrid_token")
    // A refresh token goes to an app's own address alone, never to a page.
    if Self.grantsRefresh(scope), !redirect.lowercased().hasPrefix("http") {
      request.refreshToken = sessions.makeRefreshToken(
        userID: user.id, clientID: clientID, scope: scope)
      request.showsRefreshToken = true
    }
    var members = tokenMembers(of: user.id, request)
    if let state = form["state"] { members.append(("state", state)) }
    let fragment = members.map { "\($0.key)=\(PercentEncoding.encode($0.value))" }
    return OrgResponse(
      status: 302,
      headers: [
        ("Location", "\(redirect.filter { !$0.isNewline })#\(fragment.joined(separator: "&"))")
      ])
  }

  /// An address that the connected app has registered, or, where the options say so, one that leads to
  /// this machine: a loopback address or an app's own scheme.
  private func isAllowed(_ redirect: String) -> Bool {
    if redirect == options.redirectURI || options.redirectURIs.contains(redirect) { return true }
    guard options.acceptsLocalRedirects, let url = URL(string: redirect),
      let scheme = url.scheme?.lowercased()
    else { return false }
    switch scheme {
    case "http", "https":
      return ["localhost", "127.0.0.1", "::1", "[::1]"].contains(url.host?.lowercased() ?? "")
    // A browser runs or shows these itself instead of handing them to an app.
    case "javascript", "data", "vbscript", "file", "blob", "about": return false
    default: return true
    }
  }

  private func redirected(
    _ redirect: String, _ parameters: [(String, String)], state: String?
  ) -> OrgResponse {
    var parameters = parameters
    if let state { parameters.append(("state", state)) }
    let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    // A line end would begin a header of the caller's making.
    let target = redirect.filter { !$0.isNewline }
    return OrgResponse(
      status: 302, headers: [("Location", target + (target.contains("?") ? "&" : "?") + query)])
  }

  private func loginPage(_ form: Form, problem: String?) -> OrgResponse {
    page("Login", LoginPage.login(form, problem: problem))
  }

  func page(_ title: String, _ content: String, status: Int = 200) -> OrgResponse {
    OrgResponse(
      status: status, headers: [("Cache-Control", "no-store")],
      body: Array(LoginPage.document(title: title, content: content).utf8),
      contentType: "text/html; charset=utf-8")
  }
}

/// The HTML of the login.
enum LoginPage {
  private static let carried = [
    "response_type", "client_id", "redirect_uri", "state", "code_challenge",
    "code_challenge_method", "scope", "display", "prompt", "nonce",
  ]

  static func login(_ form: Form, problem: String?) -> String {
    """
    <form method="post" action="/services/oauth2/authorize">
    \(problem.map { "<p class=\"problem\" role=\"alert\">\(escaped($0))</p>" } ?? "")
    \(hidden(form, carried))
    <label for="username">Username</label>
    <input id="username" name="username" type="email" autocomplete="username" required autofocus \
    value="\(escaped(form["username"] ?? form["login_hint"] ?? ""))">
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <button id="Login" type="submit">Log In</button>
    </form>
    """
  }

  static func device(_ form: Form, problem: String?) -> String {
    """
    <form method="post" action="/setup/connect">
    \(problem.map { "<p class=\"problem\" role=\"alert\">\(escaped($0))</p>" } ?? "")
    <label for="user_code">Code on the device</label>
    <input id="user_code" name="user_code" autocomplete="off" required autofocus \
    value="\(escaped(form["user_code"] ?? ""))">
    <label for="username">Username</label>
    <input id="username" name="username" type="email" autocomplete="username" required \
    value="\(escaped(form["username"] ?? ""))">
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    <button name="decision" value="allow">Connect</button>
    <button name="decision" value="deny" class="second">Deny</button>
    </form>
    """
  }

  static func approval(_ form: Form) -> String {
    """
    <form method="post" action="/services/oauth2/authorize">
    <p>The app <b>\(escaped(form["client_id"] ?? ""))</b> asks to read and change this org's records
    for \(escaped(form["username"] ?? "")).</p>
    \(hidden(form, carried + ["username", "password"]))
    <button id="oaapprove" name="decision" value="allow">Allow</button>
    <button id="oadeny" name="decision" value="deny" class="second">Deny</button>
    </form>
    """
  }

  static func problem(_ code: String, _ description: String) -> String {
    "<p class=\"problem\" role=\"alert\">\(escaped(code))&amp;error_description="
      + "\(escaped(description))</p>"
  }

  static func document(title: String, content: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>\(escaped(title)) | Mock Org</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <style>
    body { font: 16px/1.5 system-ui, sans-serif; background: #f3f5f8; color: #16325c; margin: 0;
      display: grid; place-items: center; min-height: 100vh }
    main { background: #fff; border-radius: 8px; box-shadow: 0 2px 12px #16325c22; padding: 32px;
      width: 320px }
    h1 { font-size: 20px; margin: 0 0 16px }
    label { display: block; margin: 12px 0 4px; font-size: 14px }
    input { box-sizing: border-box; width: 100%; padding: 10px; border: 1px solid #b8c3d1;
      border-radius: 4px; font: inherit }
    button { width: 100%; margin-top: 20px; padding: 11px; border: 0; border-radius: 4px;
      background: #0b6bd3; color: #fff; font: inherit; cursor: pointer }
    button.second { background: #e6ebf2; color: #16325c; margin-top: 8px }
    .problem { background: #fdecea; color: #8a1f11; border-radius: 4px; padding: 10px;
      font-size: 14px; overflow-wrap: anywhere }
    </style></head>
    <body><main><h1>\(escaped(title))</h1>\(content)</main></body></html>
    """
  }

  private static func hidden(_ form: Form, _ names: [String]) -> String {
    names.compactMap { name in
      form[name].map {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(escaped($0))\">"
      }
    }.joined(separator: "\n")
  }

  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }
}
