import Synchronization

/// The secrets that this process has sent to servers last: access and refresh tokens, codes, assertions, passwords.
///
/// A server may repeat them anywhere in the words of an error, where no name marks them. ``Redaction`` masks them
/// wherever they stand. Only the last ones are kept: a server repeats what it has just received.
package enum SecretsInUse {
  /// The maximum number of secrets.
  static let capacity = 64
  /// Shorter ones would be found in words that say something else.
  static let minBytes = 8
  /// The text in place of a secret.
  static let mask = Array("[redacted]".utf8)

  private static let known = Mutex<[[UInt8]]>([])

  /// Adds a secret, also in the form that it has in an address.
  package static func note(_ secret: some StringProtocol) {
    let plain = String(secret)
    guard plain.utf8.count >= minBytes else { return }
    let encoded = PercentEncoding.encode(plain)
    let forms = encoded == plain ? [plain] : [plain, encoded]
    known.withLock { known in
      for form in forms.map({ Array($0.utf8) }) where known.last != form {
        if let index = known.firstIndex(of: form) { known.remove(at: index) }
        known.append(form)
      }
      if known.count > capacity { known.removeFirst(known.count - capacity) }
    }
  }

  /// Adds the secret in the value of an `Authorization` header, such as `Bearer 00D…`.
  package static func note(authorization value: String?) {
    guard let value else { return }
    note(value.firstIndex(of: " ").map { value[value.index(after: $0)...] } ?? value[...])
  }

  /// Returns the bytes with ``mask`` in place of each known secret.
  static func masking(_ bytes: [UInt8]) -> [UInt8] {
    // A secret may be part of another, so the longest comes first.
    known.withLock { $0 }.sorted { $0.count > $1.count }.reduce(bytes) { masking($1, in: $0) }
  }

  private static func masking(_ secret: [UInt8], in bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var copied = 0
    var at = 0
    while at + secret.count <= bytes.count {
      if bytes[at] == secret[0], bytes[at..<at + secret.count].elementsEqual(secret) {
        result += bytes[copied..<at] + mask
        at += secret.count
        copied = at
      } else {
        at += 1
      }
    }
    return copied == 0 ? bytes : result + bytes[copied...]
  }
}
