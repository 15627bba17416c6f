package import Crypto
package import Foundation

/// An authenticated cipher for the pages of a store: the one seam where another engine fits in.
///
/// It sees bytes alone. What a page is, which key it has and what is authenticated with it is
/// decided by `PageEncryptor`, so that every engine keeps the same file format. Each call comes from
/// one database connection at a time, but connections call at the same time.
package protocol StoreCipher: Sendable {
  /// The algorithm and the library that provides it, for `cipherProviderVersion`.
  var provider: String { get }

  /// Encrypts `plaintext` and writes the ciphertext, followed by its 16 byte tag, to `sealed`.
  ///
  /// - Throws: Any error; the page is then not written.
  func encrypt(
    _ plaintext: UnsafeRawBufferPointer, using key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    authenticating header: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer
  ) throws

  /// Returns the plaintext of `sealed`, which holds a 12 byte nonce, the ciphertext and its 16 byte
  /// tag in one piece.
  ///
  /// - Throws: Any error if the tag does not fit the bytes, the key and `header`.
  func decrypt(
    _ sealed: UnsafeRawBufferPointer, using key: SymmetricKey,
    authenticating header: UnsafeRawBufferPointer
  ) throws -> Data
}

/// AES-256-GCM through swift-crypto, which is CryptoKit on Apple systems.
package struct AESGCMCipher: StoreCipher {
  package init() {}

  package var provider: String {
    #if canImport(Darwin)
      "AES-256-GCM, CryptoKit"
    #else
      "AES-256-GCM, swift-crypto 4 (BoringSSL)"
    #endif
  }

  package func encrypt(
    _ plaintext: UnsafeRawBufferPointer, using key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    authenticating header: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer
  ) throws {
    let box = try AES.GCM.seal(
      plaintext, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: header)
    guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
    // `combined` is the box's own storage; `ciphertext` and `tag` would be slices to build first.
    combined.withUnsafeBytes { bytes in
      sealed.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[PageFormat.nonceSize...]))
    }
  }

  package func decrypt(
    _ sealed: UnsafeRawBufferPointer, using key: SymmetricKey,
    authenticating header: UnsafeRawBufferPointer
  ) throws -> Data {
    guard let start = sealed.baseAddress else { throw CryptoKitError.incorrectParameterSize }
    // A box over the caller's bytes saves a copy of the page; it does not outlive this call.
    let bytes = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: sealed.count,
      deallocator: .none)
    return try AES.GCM.open(
      AES.GCM.SealedBox(combined: bytes), using: key, authenticating: header)
  }
}
