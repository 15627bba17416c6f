import Crypto
import Foundation

/// The minimum content of the write-ahead log (WAL) of an encrypted store.
///
/// The tag of a page does not protect against missing pages: an attacker who can write to the
/// folder could remove the WAL, truncate it or replace it with an older one. The anchor, in a file
/// of its own, identifies the WAL that belongs to the database and its last transaction that was on
/// disk.
/// `Docs/Decisions/0029` explains it.
struct WALAnchor: Equatable {
  /// The end of a transaction in a WAL.
  struct Commit: Equatable {
    /// SQLite's identifier of the WAL, in its header and in each frame.
    var salts: UInt64
    /// The number of frames up to and including the end of the transaction.
    var frames: Int
    /// SQLite's checksum of all these frames.
    var sums: WALFormat.Sums
  }

  /// The number of WALs and checkpoints of the store so far.
  var generation: UInt64
  /// The generation in the first page of the database, or an earlier one, that is on disk.
  var databaseGeneration: UInt64 = 0
  /// The number of writes to the anchor's file.
  var sequence: UInt64 = 0
  /// The last transaction that is known to be on disk.
  var last: Commit?
  /// Whether the database lacks ``last``, so that its WAL must exist. Otherwise the WAL may be
  /// missing, but an existing one must be complete: parts of it would restore older pages.
  var isRequired = false
  /// The salts of a WAL that was about to begin.
  var next: UInt64?
  /// The number of pages that were encrypted with the newest data-encryption key.
  var encryptions: UInt64 = 0
}

/// The stored form: two equal slots in separate sectors, so that a torn write damages only one.
enum AnchorFormat {
  private static let magic = Array("FFANCHOR".utf8)
  private static let version: UInt32 = 1
  /// The size of magic, version and epoch.
  private static let headerSize = 16
  /// The size of integers of 8 bytes: generation, sequence, flags, salts, frames, checksum, next
  /// salts, encryptions, generation of the database.
  private static let contentSize = 72
  private static let sealedSize =
    headerSize + PageFormat.nonceSize + contentSize + PageFormat.tagSize
  private static let slotSize = 512
  /// The size of the file.
  static let size = slotSize + sealedSize

  private enum Flag {
    static let hasLast: UInt64 = 1
    static let isRequired: UInt64 = 2
    static let hasNext: UInt64 = 4
  }

  /// Returns the bytes of the file; nil if the cipher fails.
  static func bytes(
    of anchor: WALAnchor, keys: StoreKeys, cipher: any StoreCipher, nonces: inout NoncePool
  ) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    let isSealed = bytes.withUnsafeMutableBytes { slot in
      seal(anchor, keys: keys, cipher: cipher, nonces: &nonces, to: slot)
    }
    guard isSealed else { return nil }
    for index in 0..<sealedSize { bytes[slotSize + index] = bytes[index] }
    return bytes
  }

  /// Returns the newest anchor in the bytes of a file; nil if it contains none of this store.
  static func anchor(
    in bytes: [UInt8], keys: StoreKeys, cipher: any StoreCipher
  ) -> WALAnchor? {
    [0, slotSize].compactMap { start -> WALAnchor? in
      guard bytes.count >= start + sealedSize else { return nil }
      return open(Array(bytes[start..<start + sealedSize]), keys: keys, cipher: cipher)
    }.max { $0.sequence < $1.sequence }
  }

  private static func seal(
    _ anchor: WALAnchor, keys: StoreKeys, cipher: any StoreCipher, nonces: inout NoncePool,
    to slot: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let start = slot.baseAddress else { return false }
    let epoch = keys.current
    let header = authenticated(keys.storeID, epoch: epoch.number)
    slot.copyBytes(from: header.prefix(headerSize))
    let nonce = start + headerSize
    guard nonces.take(into: nonce) else { return false }
    let content = content(of: anchor)
    do {
      try content.withUnsafeBytes { content in
        try header.withUnsafeBytes { header in
          try cipher.encrypt(
            content, using: epoch.anchorKey,
            nonce: UnsafeRawBufferPointer(start: nonce, count: PageFormat.nonceSize),
            authenticating: header,
            to: UnsafeMutableRawBufferPointer(
              start: nonce + PageFormat.nonceSize, count: contentSize + PageFormat.tagSize))
        }
      }
    } catch {
      return false
    }
    return true
  }

  private static func open(
    _ slot: [UInt8], keys: StoreKeys, cipher: any StoreCipher
  ) -> WALAnchor? {
    let number = slot.withUnsafeBytes {
      UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    }
    guard let epoch = keys.epoch(number) else { return nil }
    let header = authenticated(keys.storeID, epoch: number)
    guard slot.prefix(headerSize).elementsEqual(header.prefix(headerSize)) else { return nil }
    let content = slot.withUnsafeBytes { slot in
      header.withUnsafeBytes { header in
        try? cipher.decrypt(
          UnsafeRawBufferPointer(rebasing: slot[headerSize...]), using: epoch.anchorKey,
          authenticating: header)
      }
    }
    guard let content, content.count == contentSize else { return nil }
    return anchor(of: Array(content))
  }

  /// Returns the associated data: the header of a slot, and the store's identifier.
  private static func authenticated(_ storeID: UUID, epoch: UInt32) -> [UInt8] {
    var bytes = magic
    for number in [version, epoch] {
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes + storeID.bytes
  }

  private static func content(of anchor: WALAnchor) -> [UInt64] {
    var flags: UInt64 = 0
    if anchor.last != nil { flags |= Flag.hasLast }
    if anchor.isRequired { flags |= Flag.isRequired }
    if anchor.next != nil { flags |= Flag.hasNext }
    let sums = anchor.last.map { UInt64($0.sums.first) << 32 | UInt64($0.sums.second) }
    return [
      anchor.generation, anchor.sequence, flags, anchor.last?.salts ?? 0,
      UInt64(anchor.last?.frames ?? 0), sums ?? 0, anchor.next ?? 0, anchor.encryptions,
      anchor.databaseGeneration,
    ].map(\.bigEndian)
  }

  private static func anchor(of content: [UInt8]) -> WALAnchor? {
    let numbers = content.withUnsafeBytes { bytes in
      stride(from: 0, to: contentSize, by: 8).map {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
      }
    }
    guard let frames = Int(exactly: numbers[4]) else { return nil }
    var anchor = WALAnchor(
      generation: numbers[0], databaseGeneration: numbers[8], sequence: numbers[1])
    if numbers[2] & Flag.hasLast != 0 {
      let sums = WALFormat.Sums(
        first: UInt32(truncatingIfNeeded: numbers[5] >> 32),
        second: UInt32(truncatingIfNeeded: numbers[5]))
      anchor.last = WALAnchor.Commit(salts: numbers[3], frames: frames, sums: sums)
    }
    anchor.isRequired = numbers[2] & Flag.isRequired != 0
    if numbers[2] & Flag.hasNext != 0 { anchor.next = numbers[6] }
    anchor.encryptions = numbers[7]
    return anchor
  }
}
