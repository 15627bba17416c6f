import Crypto
import Foundation
import SalesforceSDKCommon

/// A user as the login responses show one.
struct LoginUser: Sendable {
  var id: String
  var profileID: String
  var profile: MockOrgProfile
  var username: String
  var password: String
  var firstName: String
  var lastName: String
  var email: String
  var identityPolicy: MockOrgIdentityPolicy
}

/// The OAuth endpoints, the identity and the SOAP login: everything that works without a session or
/// tells about one.
struct LoginService {
  let sessions: Sessions
  let users: [LoginUser]
  let organizationID: String
  let options: MockOrgOptions
  let keys: SigningKeys
  /// Where the org is reached, such as `http://127.0.0.1:8080`.
  let baseURL: String
  let now: Date

  /// The user's identity URL.
  func identityURL(of userID: String) -> String { "\(baseURL)/id/\(organizationID)/\(userID)" }

  /// Handles a request of the login's, or returns nil if the path is none of them.
  func respond(to request: OrgRequest) -> OrgResponse? {
    // Nearly all requests are for data: they are recognized without a lower-case copy of the path.
    if request.path.count > 1, request.path[0] == "services", request.path[1] == "data" {
      return nil
    }
    switch request.path.map({ $0.lowercased() }).prefix(3) {
    case ["services", "oauth2", "authorize"]: return authorize(request)
    case ["services", "oauth2", "token"]: return OAuthForm.tokens(token(request), for: request)
    case ["services", "oauth2", "revoke"]: return revoke(request)
    case ["services", "oauth2", "introspect"]: return introspect(request)
    case ["services", "oauth2", "userinfo"]: return userInfo(request)
    case ["services", "oauth2", "singleaccess"]: return singleAccess(request)
    case [".well-known", "openid-configuration"]: return openIDConfiguration()
    case [".well-known", "auth-configuration"]: return authConfiguration()
    case ["id", "keys"]: return publicKeys()
    case ["setup", "connect"]: return connectDevice(request)
    case ["secur", "frontdoor.jsp"], ["secur", "logout.jsp"],
      ["services", "auth", "rp"]:
      return session(after: request)
    case let path where path.first == "id" && path.count == 3: return identity(request)
    default: return nil
    }
  }

  func user(_ id: String) -> LoginUser? { users.first { $0.id == id } }

  func user(named username: String) -> LoginUser? {
    let name = username.trimmingBlanks().lowercased()
    return users.first { $0.username.lowercased() == name }
  }

  func user(named username: String, password: String) -> LoginUser? {
    user(named: username).flatMap { $0.password == password ? $0 : nil }
  }

  /// The session that a request's `Authorization` header names.
  func session(of request: OrgRequest) -> Session? {
    Self.bearerToken(of: request).flatMap { sessions.session($0, now: now) }
  }

  static func bearerToken(of request: OrgRequest) -> String? {
    guard let header = request.headers["authorization"] else { return nil }
    let words = header.split(separator: " ", maxSplits: 1)
    guard words.count == 2, ["bearer", "oauth"].contains(words[0].lowercased()) else { return nil }
    return String(words[1])
  }

  // MARK: Token endpoint

  private func token(_ request: OrgRequest) -> OrgResponse {
    guard request.method == "POST" else {
      return oauthError("invalid_request", "must use HTTP POST")
    }
    let form = Form(request)
    let (clientID, secret) = form.client(request)
    if let clientID, !options.knows(client: clientID) {
      return oauthError("invalid_client_id", "client identifier invalid")
    }
    if let secret, clientID == options.clientId, secret != options.clientSecret {
      return oauthError("invalid_client", "invalid client credentials")
    }
    if form["response_type"] == "device_code" { return deviceCode(form, clientID) }
    guard let grantType = form["grant_type"] else {
      return oauthError("unsupported_grant_type", "grant type not supported")
    }
    switch grantType {
    case "authorization_code", "hybrid_auth_code": return codeGrant(form, clientID)
    case "refresh_token", "hybrid_refresh": return refreshGrant(form, clientID)
    case "password":
      guard let clientID else { return missingParameter("client_id") }
      guard let user = user(named: form["username"] ?? ""),
        Self.isPassword(form["password"] ?? "", of: user)
      else { return oauthError("invalid_grant", "authentication failure") }
      return tokens(of: user.id, TokenRequest(clientID: clientID, scope: "api id"))
    case "client_credentials":
      guard let clientID, secret != nil, let user = users.first else {
        return oauthError("invalid_client", "invalid client credentials")
      }
      guard let scope = Self.clientCredentialsScope(form["scope"]) else {
        return oauthError("invalid_grant", "no valid scopes defined")
      }
      return tokens(of: user.id, TokenRequest(clientID: clientID, scope: scope))
    case "urn:ietf:params:oauth:grant-type:jwt-bearer":
      return assertionGrant(form)
    case "device", "urn:ietf:params:oauth:grant-type:device_code":
      return deviceGrant(form, clientID)
    default:
      return oauthError("unsupported_grant_type", "grant type not supported")
    }
  }

  /// Clients put the security token behind the password.
  static func isPassword(_ given: String, of user: LoginUser) -> Bool {
    given.hasPrefix(user.password)
  }

  private func codeGrant(_ form: Form, _ clientID: String?) -> OrgResponse {
    guard let clientID else { return missingParameter("client_id") }
    guard let code = form["code"] else { return missingParameter("code") }
    guard let grant = sessions.takeGrant(code) else {
      return oauthError("invalid_grant", "invalid authorization code")
    }
    guard grant.expires > now else {
      return oauthError("invalid_grant", "expired authorization code")
    }
    guard grant.clientID == clientID else {
      return oauthError("invalid_client_id", "client identifier invalid")
    }
    guard form["redirect_uri"] == grant.redirectURI else {
      return oauthError(
        "redirect_uri_mismatch", "redirect_uri must match configuration")
    }
    if let challenge = grant.challenge {
      guard let verifier = form["code_verifier"], Self.challenge(of: verifier) == challenge else {
        return oauthError("invalid_grant", "invalid code verifier")
      }
    }
    var request = TokenRequest(clientID: clientID, scope: grant.scope)
    request.nonce = grant.nonce
    request.isHybrid = form["grant_type"] == "hybrid_auth_code"
    request.showsRefreshToken = true
    if Self.grantsRefresh(grant.scope) {
      request.refreshToken = sessions.makeRefreshToken(
        userID: grant.userID, clientID: clientID, scope: grant.scope)
    }
    return tokens(of: grant.userID, request)
  }

  private func refreshGrant(_ form: Form, _ clientID: String?) -> OrgResponse {
    guard let clientID else { return missingParameter("client_id") }
    guard let token = form["refresh_token"] else { return missingParameter("refresh_token") }
    let rotating = options.rotatesRefreshTokens
    guard let refresh = sessions.refresh(token, clientID: clientID, rotating: rotating) else {
      return oauthError("invalid_grant", "expired access/refresh token")
    }
    var request = TokenRequest(clientID: clientID, scope: refresh.scope)
    request.refreshToken = refresh.token
    request.showsRefreshToken = rotating
    request.isHybrid = form["grant_type"] == "hybrid_refresh"
    return tokens(of: refresh.userID, request)
  }

  /// The base64url SHA-256 of a PKCE verifier.
  static func challenge(of verifier: String) -> String {
    Base64URL.encode(Digests.sha256(Array(verifier.utf8)))
  }

  // MARK: Tokens

  /// What a client gets tokens for.
  struct TokenRequest {
    var clientID: String
    var scope: String
    var refreshToken: String?
    var showsRefreshToken = false
    var nonce: String?
    /// Whether it also gets sessions for web pages (BX-13).
    var isHybrid = false
  }

  /// What a client that asks for no scope gets.
  static let usualScope = "refresh_token api id web"

  /// The scopes that a client gets for its own credentials: `api` if it names none; nil if all that it names are for
  /// users.
  private static func clientCredentialsScope(_ asked: String?) -> String? {
    let asked = asked?.split(separator: " ").map(String.init) ?? []
    if asked.isEmpty { return "api" }
    let granted = asked.filter { !["full", "refresh_token", "offline_access"].contains($0) }
    return granted.isEmpty ? nil : granted.joined(separator: " ")
  }

  static func grantsRefresh(_ scope: String) -> Bool {
    let scopes = scope.split(separator: " ")
    return scopes.contains("refresh_token") || scopes.contains("offline_access")
      || scopes.contains("full")
  }

  /// The members of a token response, in order; the user agent flow puts them into a URL.
  func tokenMembers(of userID: String, _ request: TokenRequest) -> [(key: String, value: String)] {
    let access = sessions.open(
      userID: userID, clientID: request.clientID, refreshToken: request.refreshToken,
      scope: request.scope, now: now)
    let id = identityURL(of: userID)
    let issued = String(Int(now.timeIntervalSince1970 * 1000))
    let signature = HMAC<SHA256>.authenticationCode(
      for: Data((id + issued).utf8), using: SymmetricKey(data: Data(options.clientSecret.utf8)))
    var members = [(key: "access_token", value: access)]
    if request.showsRefreshToken, let token = request.refreshToken {
      members.append(("refresh_token", token))
    }
    if request.scope.split(separator: " ").contains("openid"), let user = user(userID),
      let token = idToken(of: user, request)
    {
      members.append(("id_token", token))
    }
    members += [
      ("signature", Data(signature).base64EncodedString()), ("scope", request.scope),
      ("instance_url", baseURL), ("id", id), ("token_type", "Bearer"), ("issued_at", issued),
    ]
    if request.isHybrid { members += webSessionMembers(of: access) }
    return members
  }

  /// The sessions of web pages. The org has one host for all kinds of them, and one token.
  private func webSessionMembers(of access: String) -> [(key: String, value: String)] {
    let host = baseURL.split(separator: "/").last.map(String.init) ?? baseURL
    return ["lightning", "visualforce", "content"].flatMap {
      [(key: "\($0)_domain", value: host), (key: "\($0)_sid", value: access)]
    } + [
      ("csrf_token", Sessions.randomText(24)), ("sidCookieName", "sid"),
      ("cookie-clientSrc", "127.0.0.1"), ("cookie-sid_Client", Sessions.randomText(12)),
    ]
  }

  func tokens(of userID: String, _ request: TokenRequest) -> OrgResponse {
    let members = tokenMembers(of: userID, request)
    return Self.noStore(.json(.object(members.map { ($0.key, .string($0.value)) })))
  }

  static func noStore(_ response: OrgResponse) -> OrgResponse {
    var response = response
    response.headers.append(("Cache-Control", "no-cache, no-store"))
    return response
  }

  func missingParameter(_ name: String) -> OrgResponse {
    oauthError("invalid_request", "missing required parameter: \(name)")
  }

  func oauthError(_ code: String, _ description: String, status: Int = 400) -> OrgResponse {
    Self.noStore(
      .json(
        ["error": .string(code), "error_description": .string(description)], status: status))
  }

  // MARK: Revoke and introspect

  private func revoke(_ request: OrgRequest) -> OrgResponse {
    guard let token = Form(request)["token"] else { return missingParameter("token") }
    guard sessions.revoke(token) else {
      return oauthError("unsupported_token_type", "this token type is not supported")
    }
    return .empty(200)
  }

  private func introspect(_ request: OrgRequest) -> OrgResponse {
    let form = Form(request)
    guard let token = form["token"] else { return missingParameter("token") }
    let (clientID, secret) = form.client(request)
    guard let clientID else { return oauthError("invalid_client_id", "client identifier invalid") }
    if clientID == options.clientId, let secret, secret != options.clientSecret {
      return oauthError("invalid_client", "invalid client credentials", status: 401)
    }
    let session = sessions.session(token, now: now)
    let refresh = session == nil ? sessions.refreshToken(token) : nil
    var json: ResponseJSON = ["active": .bool(session != nil || refresh != nil)]
    func append(_ userID: String, _ clientID: String, _ scope: String, _ type: String) {
      json.append([
        "scope": .string(scope), "client_id": .string(clientID),
        "username": .string(user(userID)?.username ?? ""), "sub": .string(identityURL(of: userID)),
        "token_type": .string(type),
      ])
    }
    func seconds(_ date: Date) -> ResponseJSON { .integer(Int(date.timeIntervalSince1970)) }
    if let session {
      append(session.userID, session.clientID, session.scope, "access_token")
      json.append([
        "exp": seconds(session.expires), "iat": seconds(session.issued),
        "nbf": seconds(session.issued),
      ])
    } else if let refresh {
      append(refresh.userID, refresh.clientID ?? options.clientId, refresh.scope, "refresh_token")
    }
    return .json(json)
  }

  /// A URL that opens the org in a browser without a login.
  private func singleAccess(_ request: OrgRequest) -> OrgResponse {
    guard let token = Self.bearerToken(of: request), let session = sessions.session(token, now: now)
    else { return OrgResponse(.invalidSession()) }
    let one = sessions.open(
      userID: session.userID, clientID: session.clientID, scope: session.scope, now: now)
    let target = Form(request)["redirect_uri"] ?? "/"
    let page = "\(baseURL)/secur/frontdoor.jsp?otp=\(PercentEncoding.encode(one))"
    return .json(["frontdoor_uri": "\(page)&startURL=\(PercentEncoding.encode(target))"])
  }

  /// What a browser sees after it came in or went out: the start page, or the login.
  private func session(after request: OrgRequest) -> OrgResponse {
    if request.path.last == "frontdoor.jsp" {
      let token = request[query: "otp"] ?? request[query: "sid"] ?? ""
      guard sessions.session(token, now: now) != nil else {
        return OrgResponse(status: 302, headers: [("Location", "\(baseURL)/")])
      }
      let cookie = "sid=\(token); Path=/; HttpOnly; SameSite=Lax"
      let target = request[query: "startURL"] ?? request[query: "retURL"] ?? "/"
      // Only within the org: anything else would lead a browser wherever a link says.
      let path = target.hasPrefix("/") && !target.hasPrefix("//") ? target : "/"
      return OrgResponse(
        status: 302,
        headers: [
          ("Location", baseURL + path.filter { !$0.isNewline }), ("Set-Cookie", cookie),
        ])
    }
    if let token = Self.bearerToken(of: request) ?? request[query: "token"] {
      _ = sessions.revoke(token)
    }
    return OrgResponse(
      status: 200, body: Array("<!DOCTYPE html><title>Logged out</title>Logged out".utf8),
      contentType: "text/html; charset=utf-8")
  }
}

/// The fields of a form, from the body and, for those that it lacks, from the URL.
struct Form {
  private let pairs: [(name: String, value: String)]

  init(_ request: OrgRequest) {
    pairs =
      PercentEncoding.pairs(ofForm: String(decoding: request.body, as: UTF8.self)) + request.query
  }

  subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  /// The client's id and secret, from the form or a Basic `Authorization` header.
  func client(_ request: OrgRequest) -> (id: String?, secret: String?) {
    if let header = request.headers["authorization"], header.lowercased().hasPrefix("basic "),
      let data = Data(base64Encoded: String(header.dropFirst(6)).trimmingBlanks())
    {
      let parts = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1)
      if parts.count == 2 {
        return (PercentEncoding.decode(parts[0]), PercentEncoding.decode(parts[1]))
      }
    }
    return (self["client_id"], self["client_secret"])
  }
}
