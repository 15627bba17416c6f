/// The layout of the files of an encrypted store. `Docs/Decisions/0001` explains each choice.
enum PageFormat {
  /// The format version. It is increased if older versions can no longer read a store of this
  /// version.
  static let version: UInt32 = 1
  static let pageSize = 4096
  /// The reserved bytes at the end of every page: tag, nonce and key epoch. The tag follows the
  /// ciphertext directly and the nonce can be put before it, so that a page is decrypted in place.
  static let reservedSize = tagSize + nonceSize + epochSize
  static let usableSize = pageSize - reservedSize
  static let tagSize = 16
  static let nonceSize = 12
  static let epochSize = 4
  /// The clear bytes of page 1. SQLite reads them before it knows the page size, so they are
  /// authenticated, not encrypted.
  static let headerSize = 100

  /// The size of the log's header. Frames with a header and a page follow it.
  static let logHeaderSize = 32
  static let frameHeaderSize = 24
  static let frameSize = frameHeaderSize + pageSize

  /// The first bytes of every SQLite file.
  static let sqliteMagic: StaticString = "SQLite format 3\0"
  /// The first bytes of a store on disk, unless the system requires SQLite's.
  static let storeMagic: StaticString = "Fieldforce seal\0"
  static let magicSize = 16
  /// A mark that distinguishes an encrypted file with SQLite's first bytes from a plaintext one, in
  /// bytes that SQLite keeps zero.
  static let sealMark: StaticString = "FFSEALED"
  static let sealMarkOffset = 72
  /// The offset of the WAL's generation in the first page, in bytes that SQLite keeps zero. Zero in
  /// a store of an earlier version without anchors.
  static let generationOffset = 80

  /// The page that contains SQLite's locks; it is never written.
  static let lockPage: UInt32 = 0x4000_0000 / UInt32(pageSize) + 1

  /// Whether the file begins with the store's own bytes. iOS ends an app that has a lock in a
  /// shared container while suspended, except on files that it recognizes as SQLite's; there the
  /// file keeps SQLite's first bytes.
  static var hidesMagic: Bool {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      false
    #else
      true
    #endif
  }

  /// Returns the number of the page at `offset` of the database file, or nil if no page starts
  /// there.
  static func pageNumber(atOffset offset: Int64) -> UInt32? {
    guard offset >= 0, offset % Int64(pageSize) == 0 else { return nil }
    return UInt32(exactly: offset / Int64(pageSize) + 1)
  }

  /// Whether a frame of the WAL starts at `offset`.
  static func isFrame(atOffset offset: Int64) -> Bool {
    offset >= Int64(logHeaderSize)
      && (offset - Int64(logHeaderSize)) % Int64(frameSize) == 0
  }

  /// Returns the number of the frame that starts at `offset`, counted from 1.
  static func frameNumber(atOffset offset: Int64) -> Int {
    (Int(offset) - logHeaderSize) / frameSize + 1
  }

  /// Returns the first 100 bytes and the empty root of a database in WAL mode: the content that
  /// SQLite writes for `PRAGMA journal_mode=WAL` on a new file, with the last 32 bytes of a page
  /// reserved.
  static func emptyDatabase() -> [UInt8] {
    var page = [UInt8](repeating: 0, count: pageSize)
    sqliteMagic.withUTF8Buffer { page.replaceSubrange(0..<magicSize, with: $0) }
    page[16] = UInt8(pageSize >> 8)
    page[18] = 2  // written in WAL mode
    page[19] = 2  // read in WAL mode
    page[20] = UInt8(reservedSize)
    page[21] = 64  // the payload fractions have these values in every file
    page[22] = 32
    page[23] = 32
    page[31] = 1  // size in pages
    page[headerSize] = 0x0D  // an empty leaf of a table
    page[headerSize + 5] = UInt8(usableSize >> 8)
    page[headerSize + 6] = UInt8(usableSize & 0xFF)
    return page
  }
}
