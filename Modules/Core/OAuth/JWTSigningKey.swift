import Crypto
import CryptoExtras
public import Foundation
import SalesforceSDKCommon

/// A private RSA key that signs assertions for the JWT bearer flow (BX-6).
public struct JWTSigningKey: Sendable {
  private let key: _RSA.Signing.PrivateKey

  /// The lifetime of an assertion; the server accepts at most three minutes.
  public static let lifetime: Duration = .seconds(180)

  /// Reads a key of at least 2,048 bits in PEM form.
  ///
  /// - Throws: ``OAuthError`` `jwtLaunchFailed` if the text is not such a key.
  public init(pem: String) throws(OAuthError) {
    do {
      key = try _RSA.Signing.PrivateKey(pemRepresentation: pem)
    } catch {
      // The cause is omitted, because it could contain the key.
      throw OAuthError(
        .jwtLaunchFailed,
        "The signing key is not an RSA key of at least 2048 bits in PEM form. Give the private key that "
          + "belongs to the connected app's certificate.")
    }
  }

  /// Creates an assertion that `clientId` may act for `username`, signed with RS256.
  ///
  /// - Parameter audience: The login server's address.
  /// - Parameter now: The present time. Default: the current date. The assertion expires
  ///   ``lifetime`` later.
  /// - Throws: ``OAuthError`` `jwtLaunchFailed` if the key cannot sign.
  public func assertion(
    clientId: String, username: String, audience: String, now: Date = Date()
  ) throws(OAuthError) -> String {
    var claims = JSONWriter()
    claims.beginObject()
    for (name, value) in [("iss", clientId), ("sub", username), ("aud", audience)] {
      claims.key(name)
      claims.string(value)
    }
    claims.key("exp")
    claims.integer(Int64(now.timeIntervalSince1970) + Self.lifetime.components.seconds)
    claims.endObject()
    let text =
      Base64URL.encode(#"{"alg":"RS256","typ":"JWT"}"#.utf8) + "." + Base64URL.encode(claims.bytes)
    do {
      let signature = try key.signature(
        for: SHA256.hash(data: Data(text.utf8)), padding: .insecurePKCS1v1_5)
      return text + "." + Base64URL.encode(signature.rawRepresentation)
    } catch {
      throw OAuthError(.jwtLaunchFailed, "The signing key cannot sign.", cause: error)
    }
  }
}

/// The description contains nothing of the key.
extension JWTSigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "JWTSigningKey" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
