import Crypto
import CryptoExtras

/// The parts of SQLite's write-ahead log that are not pages.
///
/// SQLite's checksums are sums over the plaintext of the pages: an attacker who knows most of a
/// page could compute the rest from them. So the salts and the checksum of a frame header, 16
/// bytes, are encrypted as one AES block. The log's own header has a version that SQLite does not
/// know, so that another program that opens the database by mistake fails, and does not read the
/// WAL as empty and delete it.
enum WALFormat {
  /// The version in SQLite's header, and in the stored header.
  private static let sqliteVersion: UInt32 = 3_007_000
  private static let storedVersion: UInt32 = 0x4646_0001
  private static let checkedSize = 24

  /// Converts a log header of SQLite to the stored form, in place.
  static func hideHeader(_ header: UnsafeMutableRawPointer) {
    setVersion(storedVersion, of: header)
  }

  /// Converts a stored log header back, in place. Leaves a damaged header unchanged: SQLite rejects
  /// it.
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

  /// Encrypts salts and checksum of a frame header, in place; returns false if the cipher fails.
  static func hideFrame(_ header: UnsafeMutableRawPointer, key: SymmetricKey) -> Bool {
    var block = frameBlock(header)
    return (try? AES.permute(&block, key: key)) != nil
  }

  /// Decrypts salts and checksum of a frame header, in place; returns false if the cipher fails.
  static func restoreFrame(_ header: UnsafeMutableRawPointer, key: SymmetricKey) -> Bool {
    var block = frameBlock(header)
    return (try? AES.inversePermute(&block, key: key)) != nil
  }

  /// SQLite's checksum: two sums that continue from one frame to the next.
  struct Sums: Equatable {
    let first: UInt32
    let second: UInt32
  }

  /// Returns the salts and sums from which the first frame after a stored log header continues; nil
  /// if the header is damaged.
  static func header(
    _ header: UnsafeMutableRawPointer
  ) -> (salts: UInt64, sums: Sums, isBigEndian: Bool)? {
    restoreHeader(header)
    let isBigEndian = header.load(fromByteOffset: 3, as: UInt8.self) & 1 == 1
    guard loadVersion(header) == sqliteVersion else { return nil }
    return (
      (header + 16).loadUnaligned(as: UInt64.self), sums(header + checkedSize - 16), isBigEndian
    )
  }

  /// Returns the salts in a restored frame header.
  static func salts(_ frame: UnsafeRawPointer) -> UInt64 {
    (frame + 8).loadUnaligned(as: UInt64.self)
  }

  /// Returns the checksum in a restored frame header.
  static func sums(_ frame: UnsafeRawPointer) -> Sums {
    Sums(
      first: UInt32(bigEndian: (frame + 16).loadUnaligned(as: UInt32.self)),
      second: UInt32(bigEndian: (frame + 20).loadUnaligned(as: UInt32.self)))
  }

  /// Whether a frame ends a transaction: then its header contains the size of the database
  /// afterwards.
  static func isCommit(_ frame: UnsafeRawPointer) -> Bool {
    (frame + 4).loadUnaligned(as: UInt32.self) != 0
  }

  /// Returns the checksum that continues from `sums` over `bytes`, a whole number of pairs of
  /// words.
  static func continued(
    _ sums: Sums, over bytes: Slice<UnsafeRawBufferPointer>, isBigEndian: Bool
  ) -> Sums {
    var (first, second) = (sums.first, sums.second)
    UnsafeRawBufferPointer(rebasing: bytes).withMemoryRebound(to: UInt32.self) { words in
      var position = 0
      while position &+ 1 < words.count {
        let (even, odd) = (words[position], words[position &+ 1])
        first &+= (isBigEndian ? even.bigEndian : even.littleEndian) &+ second
        second &+= (isBigEndian ? odd.bigEndian : odd.littleEndian) &+ first
        position &+= 2
      }
    }
    return Sums(first: first, second: second)
  }

  /// Returns the page number in a frame header.
  static func pageNumber(_ frame: UnsafeRawPointer) -> UInt32 {
    UInt32(bigEndian: frame.loadUnaligned(as: UInt32.self))
  }

  /// Returns bytes 8 to 23: two salts, two halves of the checksum.
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

  /// Returns SQLite's checksum of the WAL header, over words in the byte order of the magic number.
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
