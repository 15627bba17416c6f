package import Crypto
package import Foundation

/// An authenticated cipher for the pages of a store, which another engine can replace.
///
/// It receives only bytes. `PageEncryptor` decides the layout of a page, its key and its associated
/// data, so that every engine keeps the same file format. One database connection makes one call at
/// a time, but several connections call concurrently.
package protocol StoreCipher: Sendable {
  /// The algorithm and the library that provides it, for `cipherProviderVersion`.
  var provider: String { get }

  /// Encrypts `plaintext` and writes the ciphertext, followed by its tag of 16 bytes, to `sealed`.
  ///
  /// - Throws: Any error; the page is then not written.
  func encrypt(
    _ plaintext: UnsafeRawBufferPointer, using key: SymmetricKey, nonce: UnsafeRawBufferPointer,
    authenticating header: UnsafeRawBufferPointer, to sealed: UnsafeMutableRawBufferPointer
  ) throws

  /// Returns the plaintext of `sealed`, which contains a nonce of 12 bytes, the ciphertext and its
  /// tag of 16 bytes, contiguously.
  ///
  /// - Throws: Any error if the tag does not match the bytes, the key and `header`.
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
    // `combined` is the box's own storage; `ciphertext` and `tag` would create slices.
    combined.withUnsafeBytes { bytes in
      sealed.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[PageFormat.nonceSize...]))
    }
  }

  package func decrypt(
    _ sealed: UnsafeRawBufferPointer, using key: SymmetricKey,
    authenticating header: UnsafeRawBufferPointer
  ) throws -> Data {
    guard let start = sealed.baseAddress else { throw CryptoKitError.incorrectParameterSize }
    // A box over the caller's bytes saves a copy of the page; it is not used after this call.
    let bytes = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: sealed.count,
      deallocator: .none)
    return try AES.GCM.open(
      AES.GCM.SealedBox(combined: bytes), using: key, authenticating: header)
  }
}
