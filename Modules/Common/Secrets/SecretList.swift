/// The authenticated list of the records in a secret store's file. Without the key, no record can be
/// removed or exchanged so that the list agrees.
///
/// | bytes | content, encrypted |
/// | --- | --- |
/// | 1 | 1 if an earlier list was lost, so that there may have been other records; otherwise 0 |
/// | 32 each | tag of a record, start of the SHA-256 of its sealed bytes |
struct SecretList: Equatable {
  static let tagLength = 16
  private static let digestLength = 16

  /// Whether every secret that exists is in the list.
  var isComplete = true
  /// The digests of the records by their tags.
  var digests: [[UInt8]: [UInt8]] = [:]

  init() {}

  /// Reads the decrypted form; nil if it is not one.
  init?(_ bytes: [UInt8]) {
    let length = Self.tagLength + Self.digestLength
    guard let first = bytes.first, first <= 1, (bytes.count - 1) % length == 0 else { return nil }
    isComplete = first == 0
    for start in stride(from: 1, to: bytes.count, by: length) {
      let middle = start + Self.tagLength
      digests[Array(bytes[start..<middle])] = Array(bytes[middle..<(start + length)])
    }
  }

  /// The form to encrypt.
  var bytes: [UInt8] {
    digests.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .reduce(into: [isComplete ? 0 : 1]) { $0 += $1.key + $1.value }
  }

  /// The digest of a record's sealed bytes.
  static func digest(of sealed: [UInt8]) -> [UInt8] {
    Array(Digests.sha256(sealed).prefix(digestLength))
  }
}
