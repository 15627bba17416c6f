public import Foundation
import SalesforceSDKCommon

/// The content of an access token whose `token_format` is `jwt` (CO-54).
///
/// It is for display and for renewal before the token expires. The signature is not checked,
/// because only the server relies on it.
public struct JWTAccessToken: Sendable, Equatable {
  /// The reason why a text is not such a token.
  public enum Failure: Error, Sendable, Equatable {
    /// The text does not have the parts of a token.
    case invalidFormat
    /// A part is not base64url.
    case invalidBase64
  }

  /// The signature's algorithm, such as `RS256`.
  public let algorithm: String?
  /// The type, `JWT`.
  public let type: String?
  /// The id of the key.
  public let keyId: String?
  /// The token type.
  public let tokenType: String?
  /// The tenant key.
  public let tenantKey: String?
  /// The version of the token's format.
  public let version: String?
  /// The audience of the token.
  public let audience: [String]
  /// The time at which the token expires.
  public let expires: Date?
  /// The server that issued the token.
  public let issuer: String?
  /// The time from which the token is valid.
  public let notBefore: Date?
  /// The user that the token represents.
  public let subject: String?
  /// The scopes of the token.
  public let scopes: [String]
  /// The consumer key of the connected app.
  public let clientId: String?

  /// Parses a token; missing members are `nil` or empty.
  public init(_ token: String) throws(Failure) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2 else { throw .invalidFormat }
    let header = try Self.object(parts[0]), payload = try Self.object(parts[1])
    algorithm = header["alg"]?.string
    type = header["typ"]?.string
    keyId = header["kid"]?.string
    tokenType = header["tty"]?.string
    tenantKey = header["tnk"]?.string
    version = header["ver"]?.string ?? header["ver"]?.numberText
    audience = Self.texts(payload["aud"])
    expires = Self.date(payload["exp"])
    issuer = payload["iss"]?.string
    notBefore = Self.date(payload["nbf"])
    subject = payload["sub"]?.string
    scopes = Self.texts(payload["scp"]).flatMap { $0.split(separator: " ").map(String.init) }
    clientId = payload["client_id"]?.string
  }

  private static func object(_ part: Substring) throws(Failure) -> JSONSlice {
    // Padding is accepted, although base64url has none.
    guard let bytes = Base64URL.decode(String(part.prefix { $0 != "=" })) else {
      throw .invalidBase64
    }
    guard let json = try? JSONSlice(parsing: bytes), json.kind == .object else {
      throw .invalidFormat
    }
    return json
  }

  private static func texts(_ value: JSONSlice?) -> [String] {
    guard let value else { return [] }
    return value.string.map { [$0] } ?? value.elements.compactMap(\.string)
  }

  private static func date(_ value: JSONSlice?) -> Date? {
    value?.double.map { Date(timeIntervalSince1970: $0) }
  }
}
