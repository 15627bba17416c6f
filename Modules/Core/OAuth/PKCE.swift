import SalesforceSDKCommon

/// The PKCE pair, which proves that the program that redeems a code is the one that requested it
/// (CO-27).
///
/// A pair is used for one login.
struct PKCE: Sendable, Equatable {
  /// The verifier, sent with the code: 128 random bytes in base64url.
  let verifier: String

  /// Creates a new pair.
  init() {
    self.verifier = Base64URL.encode(RandomBytes.make(128))
  }

  /// Creates the pair for the verifier of a program that requested the code for this program
  /// (CO-49).
  init(verifier: String) {
    self.verifier = verifier
  }

  /// The challenge, sent with the request for a code: the SHA-256 of the verifier's text, in
  /// base64url.
  var challenge: String {
    Base64URL.encode(Digests.sha256(Array(verifier.utf8)))
  }
}
