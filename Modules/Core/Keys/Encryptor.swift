import Crypto

/// Encryption of data that fits into memory, by AES-256-GCM: a random nonce of 12 bytes, the ciphertext, the
/// tag of 16 (CO-146).
public enum Encryptor: Sendable {
  /// The number of bytes that encryption adds.
  public static let overhead = 28

  /// Encrypts `bytes`, which may be empty.
  ///
  /// - Parameter context: Binds the data to its location. It is not stored: pass it again for decrypting.
  /// - Throws: ``EncryptionError`` `noEncryptionKey`.
  public static func encrypt(
    _ bytes: [UInt8], using key: EncryptionKey?, context: [UInt8] = []
  ) throws(EncryptionError) -> [UInt8] {
    let key = try present(key)
    do {
      let box = try AES.GCM.seal(bytes, using: key.key, authenticating: context)
      return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    } catch {
      throw EncryptionError(.inputOutput, "Data could not be sealed.", cause: error)
    }
  }

  /// Decrypts the result of ``encrypt(_:using:context:)``, as a whole or not at all.
  ///
  /// - Throws: ``EncryptionError`` `noEncryptionKey`, `truncated` if it is too short to be encrypted data,
  ///   `decryptionFailed` if it was changed, or the key or context is wrong.
  public static func decrypt(
    _ sealed: [UInt8], using key: EncryptionKey?, context: [UInt8] = []
  ) throws(EncryptionError) -> [UInt8] {
    let key = try present(key)
    guard sealed.count >= overhead else {
      throw EncryptionError(
        .truncated, "Sealed data has \(overhead) bytes or more, not \(sealed.count).")
    }
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: key.key, authenticating: context)
    else {
      throw EncryptionError(
        .decryptionFailed, "Data was changed, or was sealed with another key or for another place.")
    }
    return Array(bytes)
  }

  private static func present(_ key: EncryptionKey?) throws(EncryptionError) -> EncryptionKey {
    guard let key else { throw EncryptionError(.noEncryptionKey, "There is no key.") }
    return key
  }
}
