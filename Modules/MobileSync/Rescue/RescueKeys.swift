import Crypto
import CryptoExtras
import Foundation

/// A recipient that a bundle is encrypted for.
public struct RescueRecipient: Sendable {
  enum Kind: Sendable {
    case passphrase([UInt8])
    case publicKey(Curve25519.KeyAgreement.PublicKey)
  }
  let kind: Kind
  /// The cost of the passphrase's key; tests lower it.
  var rounds = RescueSeal.rounds

  /// The minimum number of characters of a passphrase.
  public static let shortestPassphrase = 8

  /// Everyone who knows a passphrase. The key is derived with scrypt, which takes 64 MB of memory.
  ///
  /// - Throws: ``RescueError`` `invalidKey` if it has fewer than ``shortestPassphrase`` characters.
  public static func passphrase(_ text: String) throws(RescueError) -> RescueRecipient {
    guard text.count >= shortestPassphrase else {
      throw RescueError(
        .invalidKey,
        "The passphrase has fewer than \(shortestPassphrase) characters. Choose a longer one.")
    }
    return RescueRecipient(
      kind: .passphrase(Array(text.precomposedStringWithCanonicalMapping.utf8)))
  }

  /// The owner of the private key that belongs to a public one, such as an administrator.
  ///
  /// The device that writes the bundle cannot open it. The bundle does not prove who wrote it.
  ///
  /// - Parameter text: ``RescueKeyPair/publicKey``.
  /// - Throws: ``RescueError`` `invalidKey`.
  public static func publicKey(_ text: String) throws(RescueError) -> RescueRecipient {
    guard let bytes = Data(base64Encoded: text),
      let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
    else {
      throw RescueError(.invalidKey, "The text is no public key of a rescue. Copy it as a whole.")
    }
    return RescueRecipient(kind: .publicKey(key))
  }
}

/// A key that decrypts a bundle.
public struct RescueKey: Sendable {
  enum Kind: Sendable {
    case passphrase([UInt8])
    case privateKey(Curve25519.KeyAgreement.PrivateKey)
  }
  let kind: Kind

  /// The passphrase that the bundle was written with.
  public static func passphrase(_ text: String) -> RescueKey {
    RescueKey(kind: .passphrase(Array(text.precomposedStringWithCanonicalMapping.utf8)))
  }

  /// The private key that belongs to the public one that the bundle was written for.
  ///
  /// - Parameter text: ``RescueKeyPair/privateKey``.
  /// - Throws: ``RescueError`` `invalidKey`.
  public static func privateKey(_ text: String) throws(RescueError) -> RescueKey {
    guard let bytes = Data(base64Encoded: text),
      let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
    else {
      throw RescueError(.invalidKey, "The text is no private key of a rescue. Copy it as a whole.")
    }
    return RescueKey(kind: .privateKey(key))
  }
}

/// A pair of keys of the curve X25519: devices get the public key, and the private key decrypts
/// their bundles.
public struct RescueKeyPair: Sendable {
  /// In base64, 44 characters.
  public let publicKey: String
  /// In base64, 44 characters. Keep it secret.
  public let privateKey: String

  /// Creates a random pair.
  public init() {
    let key = Curve25519.KeyAgreement.PrivateKey()
    publicKey = key.publicKey.rawRepresentation.base64EncodedString()
    privateKey = key.rawRepresentation.base64EncodedString()
  }
}
