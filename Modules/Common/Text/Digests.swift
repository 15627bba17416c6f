import Crypto

/// SHA-256 and HMAC-SHA256 of bytes.
public enum Digests: Sendable {
  /// Returns the 32 bytes of the SHA-256.
  public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
    return Array(hash.finalize())
  }

  /// Returns the SHA-256 of a text's UTF-8, in 64 lower-case digits.
  public static func sha256Hex(_ text: String) -> String { Hex.encode(sha256(Array(text.utf8))) }

  /// Returns the 32 bytes of the HMAC-SHA256 under `key`.
  public static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
  }
}

/// Cryptographically secure random bytes.
public enum RandomBytes: Sendable {
  /// `count` bytes from the system's cryptographic generator.
  public static func make(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max) }
  }
}
