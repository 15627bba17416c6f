import Crypto
import CryptoExtras
import Foundation
import SalesforceSDKCommon

/// The encrypted form of a bundle.
///
/// ```
/// "FFRESCUE" | version, 1 byte | length of the header, 2 bytes | header, JSON | key check, 32 bytes
///   | SHA-256 of all that, 32 bytes | chunks: length, 4 bytes | AES-256-GCM ciphertext and tag
/// ```
///
/// Numbers are big-endian. The key comes from the passphrase by scrypt, or from the recipient's public key by HPKE
/// (X25519, HKDF-SHA256); it is used for one bundle. A chunk's nonce is its number, and its authenticated data are
/// the digest, the number, and whether it is the last, so that none can be changed, moved, left out or cut off.
enum RescueSeal {
  /// The rounds of scrypt, with blocks of 8: 64 MB.
  static let rounds = 1 << 16
  private static let blockSize = 8
  private static let mostRounds = 1 << 18
  private static let magic = Array("FFRESCUE".utf8)
  private static let version: UInt8 = 1
  private static let chunkSize = 64 << 10
  private static let info = Data("fieldforce rescue 1".utf8)
  private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly

  // MARK: Writing

  static func encrypt(_ content: [UInt8], for recipient: RescueRecipient) throws -> [UInt8] {
    let (header, secret) = try header(for: recipient)
    let keys = Keys(secret)
    let text = Array(JSONValue.object(header).text.utf8)
    var bytes = magic + [version] + integer(text.count, 2) + text
    bytes += keys.check(of: bytes)
    let digest = Array(SHA256.hash(data: bytes))
    bytes += digest
    var number = 0
    var start = 0
    repeat {
      let end = min(start + chunkSize, content.count)
      let box = try AES.GCM.seal(
        content[start..<end], using: keys.content, nonce: nonce(number),
        authenticating: associated(digest, number, isLast: end == content.count))
      bytes += integer(box.ciphertext.count + box.tag.count, 4)
      bytes += box.ciphertext
      bytes += box.tag
      number += 1
      start = end
    } while start < content.count
    return bytes
  }

  private static func header(
    for recipient: RescueRecipient
  ) throws -> (JSONObject, SymmetricKey) {
    switch recipient.kind {
    case .passphrase(let passphrase):
      var generator = SystemRandomNumberGenerator()
      let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      return (
        [
          "kdf": "scrypt", "salt": .string(Data(salt).base64EncodedString()),
          "rounds": .integer(Int64(recipient.rounds)),
        ], try derive(passphrase, salt: salt, rounds: recipient.rounds)
      )
    case .publicKey(let key):
      let sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: info)
      return (
        ["kdf": "hpke", "key": .string(sender.encapsulatedKey.base64EncodedString())],
        try sender.exportSecret(context: info, outputByteCount: 32)
      )
    }
  }

  // MARK: Reading

  /// - Throws: ``RescueError`` `damaged`, `unsupportedVersion`, `wrongKey`.
  static func decrypt(_ bytes: [UInt8], with key: RescueKey) throws(RescueError) -> [UInt8] {
    var reader = Reader(bytes)
    guard try reader.take(magic.count) == magic else {
      throw RescueError.damaged("it does not begin as one")
    }
    let found = try reader.take(1)[0]
    let text = try reader.take(reader.integer(2))
    let signed = reader.read
    let check = try reader.take(32)
    let digested = reader.read
    let digest = try reader.take(32)
    guard digest == Array(SHA256.hash(data: digested)) else {
      throw RescueError.damaged("its header does not fit its checksum")
    }
    guard found == version else {
      throw RescueError(
        .unsupportedVersion,
        "The rescue bundle has version \(found), which this program does not know. Update it.")
    }
    guard let header = try? JSONSlice(parsing: text) else {
      throw RescueError.damaged("its header is no JSON")
    }
    let keys = Keys(try secret(header, key))
    guard keys.check(of: signed) == check else { throw wrongKey }
    var content: [UInt8] = []
    var number = 0
    repeat {
      let box = try reader.take(reader.integer(4))
      guard box.count >= 16,
        let sealed = try? AES.GCM.SealedBox(
          nonce: nonce(number), ciphertext: box.dropLast(16), tag: box.suffix(16)),
        let plain = try? AES.GCM.open(
          sealed, using: keys.content,
          authenticating: associated(digest, number, isLast: reader.isAtEnd))
      else { throw RescueError.damaged("chunk \(number) was changed, or others are missing") }
      content += plain
      number += 1
    } while !reader.isAtEnd
    return content
  }

  private static var wrongKey: RescueError {
    RescueError(
      .wrongKey,
      "The rescue bundle was not encrypted for this passphrase or key. Give the one that it was written with."
    )
  }

  private static func secret(
    _ header: JSONSlice, _ key: RescueKey
  ) throws(RescueError) -> SymmetricKey {
    switch (header["kdf"]?.string, key.kind) {
    case ("scrypt", .passphrase(let passphrase)):
      guard let salt = header["salt"]?.string.flatMap({ Data(base64Encoded: $0) }),
        let rounds = header["rounds"]?.int64, (2...Int64(mostRounds)).contains(rounds),
        rounds & (rounds - 1) == 0,
        let secret = try? derive(passphrase, salt: Array(salt), rounds: Int(rounds))
      else { throw RescueError.damaged("its header names no key that can be derived") }
      return secret
    case ("hpke", .privateKey(let key)):
      guard let encapsulated = header["key"]?.string.flatMap({ Data(base64Encoded: $0) }) else {
        throw RescueError.damaged("its header has no key")
      }
      guard
        let recipient = try? HPKE.Recipient(
          privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: encapsulated),
        let secret = try? recipient.exportSecret(context: info, outputByteCount: 32)
      else { throw wrongKey }
      return secret
    case ("scrypt", .privateKey), ("hpke", .passphrase): throw wrongKey
    default: throw RescueError.damaged("its header names no kind of key")
    }
  }

  // MARK: Parts

  private struct Keys {
    let content: SymmetricKey
    private let checking: SymmetricKey

    init(_ secret: SymmetricKey) {
      func key(_ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: secret, info: Data(purpose.utf8), outputByteCount: 32)
      }
      content = key("content")
      checking = key("check")
    }

    /// The check that distinguishes a wrong key from damaged content.
    func check(of header: [UInt8]) -> [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: header, using: checking))
    }
  }

  private static func derive(
    _ passphrase: [UInt8], salt: [UInt8], rounds: Int
  ) throws -> SymmetricKey {
    try KDF.Scrypt.deriveKey(
      from: passphrase, salt: salt, outputByteCount: 32, rounds: rounds, blockSize: blockSize,
      parallelism: 1)
  }

  private static func nonce(_ number: Int) throws -> AES.GCM.Nonce {
    try AES.GCM.Nonce(data: integer(number, 12))
  }

  private static func associated(_ digest: [UInt8], _ number: Int, isLast: Bool) -> [UInt8] {
    digest + integer(number, 8) + [isLast ? 1 : 0]
  }

  private static func integer(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> ($0 * 8)) : 0 }
  }

  /// A reader of consecutive parts, which refuses to read beyond the end.
  private struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    /// The position up to which bytes were read.
    var read: [UInt8] { Array(bytes[..<position]) }

    mutating func take(_ count: Int) throws(RescueError) -> [UInt8] {
      guard count <= bytes.count - position else { throw RescueError.damaged("it is cut off") }
      defer { position += count }
      return Array(bytes[position..<(position + count)])
    }

    mutating func integer(_ count: Int) throws(RescueError) -> Int {
      try take(count).reduce(0) { $0 << 8 | Int($1) }
    }
  }
}
