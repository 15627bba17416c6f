import Crypto
import Foundation
import SalesforceSDKCommon

/// The layout of a key-value store and the names of its files.
///
/// `version` holds, encrypted with the owner's key, the number 2 and the store's own data-encryption key:
///
/// | bytes | |
/// | --- | --- |
/// | 8 | `FFKVSTOR` |
/// | 1 | format of this file: 3 |
/// | 32 | salt |
/// | 16 | start of a SHA-256 of the salt, the owner and the store's name |
/// | 61 | nonce 12, sealed version and data key 33, tag 16; bound to the bytes above, the owner and the name |
///
/// Format 2, which older versions wrote, lacks the 16 bytes, is bound to neither owner nor name, and is
/// encrypted with a key that all stores share. It is moved to format 3 when the store is opened.
///
/// Everything else is encrypted with keys derived from the data-encryption key, so that another key for the
/// store is one small rewritten file. Each value has a file `<name>_value` and one `<name>_key` with its key,
/// both encrypted streams that are bound to their name. The name is an HMAC of the key: who sees the folder
/// cannot even try keys.
///
/// In version 1 there is no file `version`; the caller's key encrypts the values themselves, each in a file
/// named by the plain SHA-256 of its key, and no file holds the keys.
struct KeyValueFormat: Sendable {
  static let versionFile = "version"
  static let valueEnd = "_value"
  static let keyEnd = "_key"
  private static let magic = Array("FFKVSTOR".utf8)
  private static let saltLength = 32
  static let markLength = 16
  /// The format of the version file that is written.
  static let currentFormat: UInt8 = 3

  /// 1 or 2.
  let version: Int
  /// Encrypts values and keys.
  let contentKey: EncryptionKey
  private let nameKey: SymmetricKey?
  /// The identifier of the store, which does not change with the key.
  let id: [UInt8]

  /// A store of version 1.
  init(firstVersion key: EncryptionKey) {
    version = 1
    contentKey = key
    nameKey = nil
    id = []
  }

  private init(dataKey: EncryptionKey) {
    version = 2
    contentKey = dataKey.derived(for: "fieldforce key-value content")
    nameKey = dataKey.derived(for: "fieldforce key-value names").key
    id = Array(dataKey.derived(for: "fieldforce key-value identifier").bytes.prefix(16))
  }

  /// A new store: the form, and the content of its file `version`.
  static func make(
    _ binding: KeyValueBinding
  ) throws(EncryptionError) -> (form: Self, bytes: [UInt8]) {
    let dataKey = EncryptionKey.random()
    return (Self(dataKey: dataKey), try wrap(dataKey, with: binding.key, binding))
  }

  /// Reads a file `version`.
  ///
  /// - Throws: ``EncryptionError`` `unknownFormat`, `truncated` or `wrongKey`.
  init(_ bytes: [UInt8], _ binding: KeyValueBinding) throws(EncryptionError) {
    let key = Self.format(of: bytes) == 2 ? try binding.formerKey() : binding.key
    self.init(dataKey: try Self.unwrap(bytes, with: key, binding))
  }

  /// The format of a file `version`; 0 for none that is known.
  static func format(of bytes: [UInt8]) -> UInt8 {
    guard bytes.starts(with: magic), bytes.count > magic.count else { return 0 }
    let format = bytes[magic.count]
    return (2...currentFormat).contains(format) ? format : 0
  }

  /// Whether a file `version` may be that of a store: one of format 2 may be that of any.
  static func isBound(_ bytes: [UInt8], to binding: KeyValueBinding) -> Bool {
    let start = magic.count + 1
    guard format(of: bytes) > 2, bytes.count >= start + saltLength + markLength else { return true }
    let salt = Array(bytes[start..<(start + saltLength)])
    return bytes[(start + saltLength)...].prefix(markLength) == binding.mark(salt: salt)[...]
  }

  /// The content of a file `version` of format 2 in the present format.
  static func moved(
    _ bytes: [UInt8], _ binding: KeyValueBinding
  ) throws(EncryptionError) -> [UInt8] {
    try wrap(try unwrap(bytes, with: try binding.formerKey(), binding), with: binding.key, binding)
  }

  /// The content of a file `version`, encrypted with another key.
  static func rewrap(
    _ bytes: [UInt8], from old: EncryptionKey, to new: EncryptionKey, _ binding: KeyValueBinding
  ) throws(EncryptionError) -> [UInt8] {
    try wrap(try unwrap(bytes, with: old, binding), with: new, binding)
  }

  /// The part of the file names that stands for a key.
  func name(of key: String) -> String {
    guard let nameKey else { return Digests.sha256Hex(key) }
    return Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(key.utf8), using: nameKey))
  }

  /// The name of the file that holds a value.
  func valueFile(_ name: String) -> String { version == 1 ? name : name + Self.valueEnd }

  /// The context that a value or a key is bound to.
  func context(_ file: String) -> [UInt8] { Array(file.utf8) }

  private static func wrap(
    _ dataKey: EncryptionKey, with key: EncryptionKey, _ binding: KeyValueBinding
  ) throws(EncryptionError) -> [UInt8] {
    let salt = RandomBytes.make(saltLength)
    let head = magic + [currentFormat] + salt + binding.mark(salt: salt)
    return head
      + (try Encryptor.encrypt(
        [UInt8(ascii: "2")] + dataKey.bytes, using: wrappingKey(key, head),
        context: head + binding.context))
  }

  private static func unwrap(
    _ bytes: [UInt8], with key: EncryptionKey, _ binding: KeyValueBinding
  ) throws(EncryptionError) -> EncryptionKey {
    let format = format(of: bytes)
    guard format > 0 else {
      throw EncryptionError(
        .unknownFormat, "The key-value store was written by a newer version, or is damaged.")
    }
    let headLength = magic.count + 1 + saltLength + (format == 2 ? 0 : markLength)
    guard bytes.count == headLength + Encryptor.overhead + 1 + EncryptionKey.size else {
      throw EncryptionError(.truncated, "The version file of the key-value store is damaged.")
    }
    let head = Array(bytes.prefix(headLength))
    do throws(EncryptionError) {
      let plain = try Encryptor.decrypt(
        Array(bytes.dropFirst(headLength)), using: wrappingKey(key, head),
        context: format == 2 ? head : head + binding.context)
      guard plain.first == UInt8(ascii: "2"), let key = EncryptionKey(Array(plain.dropFirst()))
      else { throw EncryptionError(.unknownFormat, "The key-value store has an unknown version.") }
      return key
    } catch {
      guard error.code == .decryptionFailed else { throw error }
      throw EncryptionError(
        .wrongKey,
        "The key-value store was made with another key, or its version file was changed.",
        cause: error)
    }
  }

  private static func wrappingKey(_ key: EncryptionKey, _ head: [UInt8]) -> EncryptionKey {
    key.derived(for: "fieldforce key-value store", salt: head)
  }
}
