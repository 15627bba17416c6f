import CryptoExtras
import Foundation
public import SalesforceSDKCommon

/// The RSA key pair of an installation. Servers encrypt notifications with its public key (CO-141).
///
/// It has 2,048 bits, is created on first use, is a secret of the installation, and survives
/// logouts.
public struct PushKey: Sendable {
  /// The name of the secret.
  public static let secretName = SecretName(service: "com.salesforce.mobilesdk.notificationKey")

  private let secrets: any SecretStore

  /// Names the secret store of the key pair.
  public init(in secrets: some SecretStore) { self.secrets = secrets }

  /// Returns the public key in base64 of the X.509 form (SubjectPublicKeyInfo); the key pair is
  /// created if there is none.
  ///
  /// - Throws: ``PushError`` `keyUnavailable`.
  public func publicKey() throws(PushError) -> String {
    let bytes: [UInt8]
    do throws(SecretStoreError) {
      bytes = try secrets.readOrCreate(Self.secretName) { () throws(SecretStoreError) in
        guard let key = try? _RSA.Encryption.PrivateKey(keySize: .bits2048) else {
          throw SecretStoreError(.inputOutput, "An RSA key pair cannot be made. Try again.")
        }
        return Array(key.derRepresentation)
      }
    } catch {
      throw Self.unavailable(error)
    }
    return try Self.key(bytes).publicKey.derRepresentation.base64EncodedString()
  }

  /// The private key; nil if the pair was never made.
  func privateKey() throws(PushError) -> _RSA.Encryption.PrivateKey? {
    let bytes: [UInt8]?
    do throws(SecretStoreError) {
      bytes = try secrets.read(Self.secretName)
    } catch {
      throw Self.unavailable(error)
    }
    return try bytes.map { bytes throws(PushError) in try Self.key(bytes) }
  }

  private static func key(_ bytes: [UInt8]) throws(PushError) -> _RSA.Encryption.PrivateKey {
    do {
      return try _RSA.Encryption.PrivateKey(derRepresentation: bytes)
    } catch {
      throw PushError(
        .keyUnavailable,
        "The key pair for notifications is damaged. Restore the secret store from a backup.",
        cause: error)
    }
  }

  private static func unavailable(_ error: SecretStoreError) -> PushError {
    PushError(
      .keyUnavailable, "The key pair for notifications cannot be read or made: \(error)",
      cause: error)
  }
}
