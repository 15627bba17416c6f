import Crypto
import CryptoExtras
import Foundation
import SalesforceSDKCommon
import Synchronization

/// The key with which the org signs the tokens that identify a user; made when it is first needed,
/// since few tests need it and making it takes a while.
final class SigningKeys: Sendable {
  /// What the key is called in tokens.
  static let name = "mock1"
  private let key = Mutex<_RSA.Signing.PrivateKey?>(nil)

  private func privateKey() throws -> _RSA.Signing.PrivateKey {
    try key.withLock { key in
      if let key { return key }
      let made = try _RSA.Signing.PrivateKey(keySize: .bits2048)
      key = made
      return made
    }
  }

  /// The signature of a text by RS256.
  func signature(of text: String) throws -> Data {
    try privateKey().signature(
      for: SHA256.hash(data: Data(text.utf8)), padding: .insecurePKCS1v1_5
    ).rawRepresentation
  }

  /// Modulus and exponent.
  func publicNumbers() throws -> (modulus: Data, exponent: Data) {
    let primitives = try privateKey().publicKey.getKeyPrimitives()
    return (primitives.modulus, primitives.publicExponent)
  }
}

extension LoginService {
  /// A signed token that says who the user is, or nil if no key can be made.
  func idToken(of user: LoginUser, _ request: TokenRequest) -> String? {
    var claims: ResponseJSON = [
      "iss": .string(baseURL), "sub": .string(identityURL(of: user.id)),
      "aud": .string(request.clientID), "preferred_username": .string(user.username),
      "name": "\(user.firstName) \(user.lastName)", "email": .string(user.email),
    ]
    if let nonce = request.nonce { claims.append(["nonce": .string(nonce)]) }
    let seconds = Int(now.timeIntervalSince1970)
    claims.append(["iat": .integer(seconds), "exp": .integer(seconds + 120)])
    let header = #"{"alg":"RS256","kid":"\#(SigningKeys.name)","typ":"JWT"}"#
    let text = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(claims.bytes)
    guard let signature = try? keys.signature(of: text) else { return nil }
    return text + "." + Base64URL.encode(signature)
  }

  /// `/id/keys`: the public keys for the tokens' signatures.
  func publicKeys() -> OrgResponse {
    guard let (modulus, exponent) = try? keys.publicNumbers() else {
      return OrgResponse(
        ServerError(status: 500, "UNKNOWN_EXCEPTION", "The org cannot make a key."))
    }
    let key: ResponseJSON = [
      "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(SigningKeys.name),
      "n": .string(Base64URL.encode(modulus)), "e": .string(Base64URL.encode(exponent)),
    ]
    return .json(["keys": [key]])
  }

  /// `/.well-known/auth-configuration`: what an org's own domain tells mobile apps about logging in.
  func authConfiguration() -> OrgResponse {
    .json([
      "OrganizationId": .string(organizationID), "LoginPage": ["LoginPageUrl": nil],
      "SamlProviders": [], "AuthProviders": [],
      "MobileSDK": [
        "UseiOSNativeBrowserForAuthentication": false,
        "UseAndroidNativeBrowserForAuthentication": false, "shareBrowserSessionIOS": false,
        "shareBrowserSessionAndroid": false,
      ],
    ])
  }

  /// `/.well-known/openid-configuration`.
  func openIDConfiguration() -> OrgResponse {
    .json([
      "issuer": .string(baseURL),
      "authorization_endpoint": "\(baseURL)/services/oauth2/authorize",
      "token_endpoint": "\(baseURL)/services/oauth2/token",
      "revocation_endpoint": "\(baseURL)/services/oauth2/revoke",
      "introspection_endpoint": "\(baseURL)/services/oauth2/introspect",
      "userinfo_endpoint": "\(baseURL)/services/oauth2/userinfo",
      "jwks_uri": "\(baseURL)/id/keys",
      "end_session_endpoint": "\(baseURL)/services/auth/rp/oidc/logout",
      "device_authorization_endpoint": "\(baseURL)/services/oauth2/token",
      "scopes_supported": [
        "api", "full", "id", "offline_access", "openid", "refresh_token", "web",
      ],
      "response_types_supported": ["code", "token", "token id_token"],
      "subject_types_supported": ["public"],
      "id_token_signing_alg_values_supported": ["RS256"],
      "display_values_supported": ["page", "popup", "touch"],
      "token_endpoint_auth_methods_supported": [
        "client_secret_post", "client_secret_basic", "private_key_jwt",
      ],
      "code_challenge_methods_supported": ["S256"],
      "claims_supported": [
        "active", "email", "email_verified", "family_name", "given_name", "is_app_installed",
        "language", "locale", "name", "nickname", "organization_id", "photos", "picture",
        "preferred_username", "profile", "sub", "updated_at", "urls", "user_id", "user_type",
        "utcOffset", "zoneinfo",
      ],
    ])
  }

  // MARK: JWT bearer

  /// Tokens for who can sign an assertion about a user.
  ///
  /// The signature is checked where the org's options know the client's key; a test's client is
  /// believed without.
  func assertionGrant(_ form: Form) -> OrgResponse {
    guard let assertion = form["assertion"] else { return missingParameter("assertion") }
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let body = Base64URL.decode(String(parts[1])),
      let claims = try? JSONSlice(parsing: body), let issuer = claims["iss"]?.string
    else { return oauthError("invalid_grant", "invalid assertion") }
    if !options.knows(client: issuer) {
      return oauthError("invalid_client_id", "client identifier invalid")
    }
    guard isSigned(parts.map(String.init), by: options.clientKeys[issuer]) else {
      return oauthError("invalid_grant", "invalid assertion")
    }
    // Some clients write the number as a text.
    let expires = claims["exp"]?.double ?? claims["exp"]?.string.flatMap { Double($0) }
    guard let expires, expires > now.timeIntervalSince1970 else {
      return oauthError("invalid_grant", "expired assertion")
    }
    let audience = claims["aud"]?.string ?? claims["aud"]?[0]?.string ?? ""
    guard
      audience.hasPrefix(baseURL)
        || URL(string: audience)?.host?.hasSuffix(".salesforce.com") == true
    else { return oauthError("invalid_grant", "audience is invalid") }
    guard let user = user(named: claims["sub"]?.string ?? claims["prn"]?.string ?? "") else {
      return oauthError("invalid_grant", "user hasn't approved this consumer")
    }
    return tokens(
      of: user.id, TokenRequest(clientID: issuer, scope: form["scope"] ?? "api id web"))
  }

  private func isSigned(_ parts: [String], by key: String?) -> Bool {
    guard let key else { return options.acceptsUncheckedAssertions }
    guard let signature = Base64URL.decode(parts[2]),
      let publicKey = try? _RSA.Signing.PublicKey(pemRepresentation: key)
    else { return false }
    return publicKey.isValidSignature(
      _RSA.Signing.RSASignature(rawRepresentation: signature),
      for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5)
  }
}
