import CryptoExtras

/// A signing key for tests; the mock org believes it, since no key of the client is registered there.
enum TestSigningKey {
  static func pem() throws -> String {
    try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
  }
}
