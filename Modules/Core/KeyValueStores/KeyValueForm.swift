import Crypto
import Foundation
import SalesforceSDKCommon

/// Where the parts of a key-value store lie and how they are named.
///
/// `version` holds, sealed with the caller's key, the number 2 and the store's own data key:
///
/// | bytes | |
/// | --- | --- |
/// | 8 | `FFKVSTOR` |
/// | 1 | 2 |
/// | 32 | salt |
/// | 61 | nonce 12, sealed version and data key 33, tag 16; bound to the bytes above |
///
/// Everything else is sealed with keys derived from the data key, so that another key for the store is one
/// small file written anew. Each value has a file `<name>_value` and one `<name>_key` with its key, both
/// sealed streams that are bound to their name. The name is an HMAC of the key: who sees the folder cannot
/// even try keys.
///
/// In version 1 there is no file `version`; the caller's key seals the values themselves, each in a file
/// named by the plain SHA-256 of its key, and no file holds the keys.
struct KeyValueForm: Sendable {
  static let versionFile = "version"
  static let valueEnd = "_value"
  static let keyEnd = "_key"
  private static let magic = Array("FFKVSTOR".utf8)
  private static let saltLength = 32

  /// 1 or 2.
  let version: Int
  /// Seals values and keys.
  let contentKey: EncryptionKey
  private let nameKey: SymmetricKey?

  /// A store of version 1.
  init(firstVersion key: EncryptionKey) {
    version = 1
    contentKey = key
    nameKey = nil
  }

  private init(dataKey: EncryptionKey) {
    version = 2
    contentKey = dataKey.derived(for: "fieldforce key-value content")
    nameKey = dataKey.derived(for: "fieldforce key-value names").key
  }

  /// A new store: the form, and the content of its file `version`.
  static func make(key: EncryptionKey) throws(EncryptionError) -> (form: Self, bytes: [UInt8]) {
    let dataKey = EncryptionKey.random()
    return (Self(dataKey: dataKey), try wrap(dataKey, with: key))
  }

  /// Reads a file `version`.
  ///
  /// - Throws: ``EncryptionError`` `unknownFormat`, `truncated` or `wrongKey`.
  init(_ bytes: [UInt8], key: EncryptionKey) throws(EncryptionError) {
    self.init(dataKey: try Self.unwrap(bytes, with: key))
  }

  /// The content of a file `version`, sealed with another key.
  static func rewrap(
    _ bytes: [UInt8], from old: EncryptionKey, to new: EncryptionKey
  ) throws(EncryptionError) -> [UInt8] {
    try wrap(try unwrap(bytes, with: old), with: new)
  }

  /// The part of the file names that stands for a key.
  func name(of key: String) -> String {
    guard let nameKey else { return Digests.sha256Hex(key) }
    return Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(key.utf8), using: nameKey))
  }

  /// The name of the file that holds a value.
  func valueFile(_ name: String) -> String { version == 1 ? name : name + Self.valueEnd }

  /// What a value, or a key, is bound to.
  func context(_ file: String) -> [UInt8] { Array(file.utf8) }

  private static func wrap(
    _ dataKey: EncryptionKey, with key: EncryptionKey
  ) throws(EncryptionError) -> [UInt8] {
    let head = magic + [2] + RandomBytes.make(saltLength)
    return head
      + (try Encryptor.encrypt(
        [UInt8(ascii: "2")] + dataKey.bytes, using: wrappingKey(key, head), context: head))
  }

  private static func unwrap(
    _ bytes: [UInt8], with key: EncryptionKey
  ) throws(EncryptionError) -> EncryptionKey {
    guard bytes.starts(with: magic), bytes.count > magic.count, bytes[magic.count] == 2 else {
      throw EncryptionError(
        .unknownFormat, "The key-value store was written by a newer version, or is damaged.")
    }
    let headLength = magic.count + 1 + saltLength
    guard bytes.count == headLength + Encryptor.overhead + 1 + EncryptionKey.size else {
      throw EncryptionError(.truncated, "The version file of the key-value store is damaged.")
    }
    let head = Array(bytes.prefix(headLength))
    do throws(EncryptionError) {
      let plain = try Encryptor.decrypt(
        Array(bytes.dropFirst(headLength)), using: wrappingKey(key, head), context: head)
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
