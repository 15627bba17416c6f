import Crypto
import Foundation

/// An encryptor of the files of externally stored entries, with the store's data-encryption key.
///
/// ```
/// offset  bytes
///      0      8  "FFSTELT\0"
///      8      4  epoch of the key, big endian
///     12     12  nonce
///     24      …  ciphertext
///      …     16  tag
/// ```
///
/// The associated data are the first 12 bytes, the store, the table and the entry id. So a file is
/// valid only for its own entry.
struct ExternalFileEncryptor: Sendable {
  let store: EncryptedStore

  private static let magic = Array("FFSTELT\0".utf8)
  static let headerSize = 12

  /// The bytes are not such a file, or are one of another store, entry or key.
  struct Unreadable: Error {}

  /// Encrypts a content to the bytes of a file.
  func encrypt(_ content: [UInt8], table: String, entryId: Int64) throws -> [UInt8] {
    let epoch = store.keys.current
    let header = Self.magic + Self.bytes(of: epoch.number)
    let box = try AES.GCM.seal(
      content, using: epoch.fileKey,
      authenticating: authenticated(header, table: table, entryId: entryId))
    guard let combined = box.combined else { throw Unreadable() }
    return header + combined
  }

  /// Decrypts the content of a file.
  func decrypt(_ file: [UInt8], table: String, entryId: Int64) throws -> [UInt8] {
    let header = Array(file.prefix(Self.headerSize))
    guard let number = Self.epoch(of: header), let epoch = store.keys.epoch(number) else {
      throw Unreadable()
    }
    let box = try AES.GCM.SealedBox(combined: file[Self.headerSize...])
    return Array(
      try AES.GCM.open(
        box, using: epoch.fileKey,
        authenticating: authenticated(header, table: table, entryId: entryId)))
  }

  /// Whether a file with these first bytes is encrypted, with any key.
  static func isSealed(_ start: [UInt8]) -> Bool { start.starts(with: magic) }

  /// Whether a file with these first bytes is encrypted with the newest key.
  func isCurrent(_ start: [UInt8]) -> Bool {
    Self.epoch(of: Array(start.prefix(Self.headerSize))) == store.keys.current.number
  }

  private static func epoch(of header: [UInt8]) -> UInt32? {
    guard header.count == headerSize, header.starts(with: magic) else { return nil }
    return header.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func authenticated(_ header: [UInt8], table: String, entryId: Int64) -> [UInt8] {
    header + store.keys.storeID.bytes + Self.bytes(of: entryId) + table.utf8
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}
