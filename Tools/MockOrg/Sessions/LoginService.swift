import Crypto
import Foundation
import SalesforceSDKCommon

/// A user as the login answers show one.
struct LoginUser: Sendable {
  var id: String
  var username: String
  var password: String
  var firstName: String
  var lastName: String
  var email: String
}

/// The OAuth endpoints, the identity and the SOAP login: everything that works without a session or
/// tells about one.
struct LoginService {
  let sessions: Sessions
  let users: [LoginUser]
  let organizationID: String
  let options: MockOrgOptions
  /// Where the org is reached, such as `http://127.0.0.1:8080`.
  let baseURL: String
  let now: Date

  /// The user's identity URL.
  func identityURL(of userID: String) -> String { "\(baseURL)/id/\(organizationID)/\(userID)" }

  /// Answers a request of the login's, or nil if the path is none of them.
  func answer(_ request: OrgRequest) -> OrgAnswer? {
    switch request.path.map({ $0.lowercased() }).prefix(3) {
    case ["services", "oauth2", "authorize"]: authorize(request)
    case ["services", "oauth2", "token"]: token(request)
    case ["services", "oauth2", "revoke"]: revoke(request)
    case ["services", "oauth2", "introspect"]: introspect(request)
    case ["services", "oauth2", "userinfo"]: userInfo(request)
    case [".well-known", "openid-configuration"]: openIDConfiguration()
    case ["services", "soap", "u"], ["services", "soap", "c"]: soapLogin(request)
    case let path where path.first == "id" && path.count == 3: identity(request)
    default: nil
    }
  }

  func user(named username: String, password: String) -> LoginUser? {
    users.first {
      $0.username.lowercased() == username.trimmingBlanks().lowercased() && $0.password == password
    }
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

  private func token(_ request: OrgRequest) -> OrgAnswer {
    guard request.method == "POST" || request.method == "GET" else {
      return OrgAnswer(.methodNotAllowed(request.method, allowed: "GET,POST"))
    }
    let form = Form(request)
    guard let grantType = form["grant_type"] else {
      return oauthError("unsupported_grant_type", "grant type not supported")
    }
    let (clientID, secret) = form.client(request)
    if let clientID, !options.acceptsUnknownClients, clientID != options.clientId {
      return oauthError("invalid_client_id", "client identifier invalid")
    }
    if let secret, clientID == options.clientId, secret != options.clientSecret {
      return oauthError("invalid_client", "invalid client credentials")
    }
    switch grantType {
    case "authorization_code", "hybrid_auth_code":
      return codeGrant(form, clientID)
    case "refresh_token", "hybrid_refresh":
      return refreshGrant(form, clientID)
    case "password":
      guard let clientID else { return missingParameter("client_id") }
      guard let user = user(named: form["username"] ?? "", password: form["password"] ?? "") else {
        return oauthError("invalid_grant", "authentication failure")
      }
      return tokens(of: user.id, clientID: clientID)
    case "client_credentials":
      guard let clientID, secret != nil, let user = users.first else {
        return oauthError("invalid_client", "invalid client credentials")
      }
      return tokens(of: user.id, clientID: clientID)
    default:
      return oauthError("unsupported_grant_type", "grant type not supported")
    }
  }

  private func codeGrant(_ form: Form, _ clientID: String?) -> OrgAnswer {
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
    let refresh = sessions.makeRefreshToken(userID: grant.userID, clientID: clientID)
    return tokens(of: grant.userID, clientID: clientID, refreshToken: refresh, shown: true)
  }

  private func refreshGrant(_ form: Form, _ clientID: String?) -> OrgAnswer {
    guard let clientID else { return missingParameter("client_id") }
    guard let token = form["refresh_token"] else { return missingParameter("refresh_token") }
    let rotating = options.rotatesRefreshTokens
    guard let refresh = sessions.refresh(token, clientID: clientID, rotating: rotating) else {
      return oauthError("invalid_grant", "expired access/refresh token")
    }
    return tokens(
      of: refresh.userID, clientID: clientID, refreshToken: refresh.token, shown: rotating)
  }

  /// The base64url SHA-256 of a PKCE verifier.
  static func challenge(of verifier: String) -> String {
    Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private func tokens(
    of userID: String, clientID: String, refreshToken: String? = nil, shown: Bool = false
  ) -> OrgAnswer {
    let access = sessions.open(
      userID: userID, clientID: clientID, refreshToken: refreshToken, now: now)
    let id = identityURL(of: userID)
    let issued = String(Int(now.timeIntervalSince1970 * 1000))
    let signature = HMAC<SHA256>.authenticationCode(
      for: Data((id + issued).utf8), using: SymmetricKey(data: Data(options.clientSecret.utf8)))
    return Self.noStore(
      .json { writer in
        writer.beginObject()
        func member(_ key: String, _ value: String) {
          writer.key(key)
          writer.string(value)
        }
        member("access_token", access)
        if shown, let refreshToken { member("refresh_token", refreshToken) }
        member("signature", Data(signature).base64EncodedString())
        member("scope", refreshToken == nil ? "api id web" : "refresh_token api id web")
        member("instance_url", baseURL)
        member("id", id)
        member("token_type", "Bearer")
        member("issued_at", issued)
        writer.endObject()
      })
  }

  private static func noStore(_ answer: OrgAnswer) -> OrgAnswer {
    var answer = answer
    answer.headers.append(("Cache-Control", "no-cache, no-store"))
    return answer
  }

  private func missingParameter(_ name: String) -> OrgAnswer {
    oauthError("invalid_request", "missing required parameter: \(name)")
  }

  private func oauthError(_ code: String, _ description: String, status: Int = 400) -> OrgAnswer {
    Self.noStore(
      .json(status) { writer in
        writer.beginObject()
        writer.key("error")
        writer.string(code)
        writer.key("error_description")
        writer.string(description)
        writer.endObject()
      })
  }

  // MARK: Revoke and introspect

  private func revoke(_ request: OrgRequest) -> OrgAnswer {
    guard let token = Form(request)["token"] else { return missingParameter("token") }
    guard sessions.revoke(token) else {
      return oauthError("unsupported_token_type", "this token type is not supported")
    }
    return .empty(200)
  }

  private func introspect(_ request: OrgRequest) -> OrgAnswer {
    guard let token = Form(request)["token"] else { return missingParameter("token") }
    let session = sessions.session(token, now: now)
    return .json { writer in
      writer.beginObject()
      writer.key("active")
      writer.bool(session != nil)
      if let session {
        writer.key("client_id")
        writer.string(session.clientID)
        writer.key("exp")
        writer.integer(Int(session.expires.timeIntervalSince1970))
        writer.key("sub")
        writer.string(identityURL(of: session.userID))
        writer.key("token_type")
        writer.string("access_token")
      }
      writer.endObject()
    }
  }

  private func openIDConfiguration() -> OrgAnswer {
    .json { writer in
      writer.beginObject()
      writer.key("issuer")
      writer.string(baseURL)
      for (key, path) in [
        ("authorization_endpoint", "authorize"), ("token_endpoint", "token"),
        ("revocation_endpoint", "revoke"), ("introspection_endpoint", "introspect"),
        ("userinfo_endpoint", "userinfo"),
      ] {
        writer.key(key)
        writer.string("\(baseURL)/services/oauth2/\(path)")
      }
      writer.key("response_types_supported")
      writer.strings(["code"])
      writer.key("scopes_supported")
      writer.strings(["api", "id", "refresh_token", "web"])
      writer.key("token_endpoint_auth_methods_supported")
      writer.strings(["client_secret_post", "client_secret_basic"])
      writer.endObject()
    }
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
        return (
          PercentEncoding.decode(parts[0]),
          PercentEncoding.decode(parts[1])
        )
      }
    }
    return (self["client_id"], self["client_secret"])
  }
}
