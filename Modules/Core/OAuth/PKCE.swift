import SalesforceSDKCommon

/// The PKCE pair, which proves that the program that redeems a code is the one that requested it (CO-27).
///
/// One serves one login and is dropped with it.
struct PKCE: Sendable, Equatable {
  /// Sent with the code: 128 random bytes in base64url.
  let verifier: String

  /// Makes a new proof.
  init() {
    self.verifier = Base64URL.encode(RandomBytes.make(128))
  }

  /// Takes the verifier of the program that requested the code on this program's behalf (CO-49).
  init(verifier: String) {
    self.verifier = verifier
  }

  /// Sent with the user: the SHA-256 of the verifier's text, in base64url.
  var challenge: String {
    Base64URL.encode(Digests.sha256(Array(verifier.utf8)))
  }
}
