import Crypto
import CryptoExtras

/// The parts of SQLite's write-ahead log that are no pages.
///
/// SQLite's checksums are sums over the plaintext of the pages: who knows most of a page could
/// compute the rest from them. So the salts and the checksum of a frame header, 16 bytes, are
/// enciphered as one AES block. The log's own header names a version that SQLite does not know, so
/// that another program that opens the database by mistake gives up instead of judging the log
/// empty and deleting it.
enum LogFormat {
  /// The version in the header as SQLite writes it, and as it is stored.
  private static let sqliteVersion: UInt32 = 3_007_000
  private static let storedVersion: UInt32 = 0x4646_0001
  private static let checkedSize = 24

  /// Turns a log header of SQLite's into the stored form, in place.
  static func hideHeader(_ header: UnsafeMutableRawPointer) {
    setVersion(storedVersion, of: header)
  }

  /// Turns a stored log header back. One that is damaged stays as it is: SQLite rejects it.
  static func restoreHeader(_ header: UnsafeMutableRawPointer) {
    guard loadVersion(header) == storedVersion else { return }
    let stored = (
      (header + checkedSize).loadUnaligned(as: UInt32.self),
      (header + checkedSize + 4).loadUnaligned(as: UInt32.self)
    )
    let expected = checksum(header)
    guard stored.0 == expected.0.bigEndian, stored.1 == expected.1.bigEndian else { return }
    setVersion(sqliteVersion, of: header)
  }

  /// Enciphers salts and checksum of a frame header, in place; false if the cipher fails.
  static func hideFrame(_ header: UnsafeMutableRawPointer, key: SymmetricKey) -> Bool {
    var block = frameBlock(header)
    return (try? AES.permute(&block, key: key)) != nil
  }

  /// Deciphers salts and checksum of a frame header, in place; false if the cipher fails.
  static func restoreFrame(_ header: UnsafeMutableRawPointer, key: SymmetricKey) -> Bool {
    var block = frameBlock(header)
    return (try? AES.inversePermute(&block, key: key)) != nil
  }

  /// The page number in a frame header.
  static func pageNumber(_ frame: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self))
  }

  /// Whether a frame header is that of the last frame of a transaction: it tells the size of the
  /// database afterwards.
  static func commits(_ frame: UnsafeRawPointer) -> Bool {
    frame.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
  }

  /// Bytes 8 to 23: two salts, two halves of the checksum.
  private static func frameBlock(
    _ header: UnsafeMutableRawPointer
  ) -> UnsafeMutableBufferPointer<UInt8> {
    UnsafeMutableRawBufferPointer(start: header + 8, count: 16).assumingMemoryBound(to: UInt8.self)
  }

  private static func loadVersion(_ header: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: (header + 4).loadUnaligned(as: UInt32.self))
  }

  private static func setVersion(_ version: UInt32, of header: UnsafeMutableRawPointer) {
    (header + 4).storeBytes(of: version.bigEndian, as: UInt32.self)
    let sum = checksum(header)
    (header + checkedSize).storeBytes(of: sum.0.bigEndian, as: UInt32.self)
    (header + checkedSize + 4).storeBytes(of: sum.1.bigEndian, as: UInt32.self)
  }

  /// SQLite's checksum of the log header: over words in the byte order that the magic number names.
  private static func checksum(_ header: UnsafeRawPointer) -> (UInt32, UInt32) {
    let isBigEndian = header.load(fromByteOffset: 3, as: UInt8.self) & 1 == 1
    var sums: (UInt32, UInt32) = (0, 0)
    for offset in stride(from: 0, to: checkedSize, by: 8) {
      sums.0 &+= word(at: offset) &+ sums.1
      sums.1 &+= word(at: offset + 4) &+ sums.0
    }
    return sums

    func word(at offset: Int) -> UInt32 {
      let raw = (header + offset).loadUnaligned(as: UInt32.self)
      return isBigEndian ? UInt32(bigEndian: raw) : UInt32(littleEndian: raw)
    }
  }
}
