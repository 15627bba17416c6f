/// The kind and properties of a file by its first bytes.
struct DatabaseHeader {
  enum Kind: Sendable {
    /// A database whose pages are encrypted.
    case store
    /// A plain SQLite database, which any program can read.
    case plaintext
    /// Not a SQLite database.
    case foreign
  }

  let kind: Kind
  /// Whether its pages have space for tags. This also applies to a plaintext database that was a
  /// store's.
  let hasRoom: Bool
  /// Whether the database is in WAL mode.
  let hasLog: Bool
  /// The generation of the WAL in the first page; 0 for a plaintext database, and for a store of an
  /// earlier version without anchors.
  let generation: UInt64

  /// Parses the first 100 bytes of a file in their stored form.
  init(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= PageFormat.headerSize else {
      kind = .foreign
      hasRoom = false
      hasLog = false
      generation = 0
      return
    }
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    hasRoom = pageSize == PageFormat.pageSize && bytes[20] == PageFormat.reservedSize
    hasLog = bytes[18] == 2 && bytes[19] == 2
    let isSQLite = Self.holds(PageFormat.sqliteMagic, bytes, at: 0)
    let isSealed =
      Self.holds(PageFormat.storeMagic, bytes, at: 0)
      || (isSQLite && Self.holds(PageFormat.sealMark, bytes, at: PageFormat.sealMarkOffset))
    kind = isSealed && hasRoom ? .store : isSQLite ? .plaintext : .foreign
    let number = bytes.loadUnaligned(fromByteOffset: PageFormat.generationOffset, as: UInt64.self)
    generation = kind == .store ? UInt64(bigEndian: number) : 0
  }

  /// Writes the generation of the WAL into a header, in place.
  static func set(generation: UInt64, at header: UnsafeMutableRawPointer) {
    header.storeBytes(
      of: generation.bigEndian, toByteOffset: PageFormat.generationOffset, as: UInt64.self)
  }

  /// Removes the generation of the WAL from a header, in place, because SQLite does not know it.
  static func takeGeneration(at header: UnsafeMutableRawPointer) -> UInt64 {
    let number = header.loadUnaligned(
      fromByteOffset: PageFormat.generationOffset, as: UInt64.self)
    set(generation: 0, at: header)
    return UInt64(bigEndian: number)
  }

  /// Converts a header of SQLite to its stored form in an encrypted store, in place.
  static func hide(at header: UnsafeMutableRawPointer) {
    if PageFormat.hidesMagic {
      set(PageFormat.storeMagic, at: header)
    } else {
      set(PageFormat.sealMark, at: header + PageFormat.sealMarkOffset)
    }
  }

  /// Converts a stored header back to SQLite's, in place. Leaves other headers unchanged.
  static func restore(at header: UnsafeMutableRawPointer) {
    let bytes = UnsafeRawBufferPointer(start: header, count: PageFormat.headerSize)
    if holds(PageFormat.storeMagic, bytes, at: 0) {
      set(PageFormat.sqliteMagic, at: header)
    } else if holds(PageFormat.sealMark, bytes, at: PageFormat.sealMarkOffset) {
      UnsafeMutableRawBufferPointer(
        start: header + PageFormat.sealMarkOffset, count: PageFormat.sealMark.utf8CodeUnitCount
      ).initializeMemory(as: UInt8.self, repeating: 0)
    }
  }

  private static func holds(
    _ words: StaticString, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) -> Bool {
    words.withUTF8Buffer { bytes[offset..<offset + $0.count].elementsEqual($0) }
  }

  private static func set(_ words: StaticString, at place: UnsafeMutableRawPointer) {
    words.withUTF8Buffer { words in
      UnsafeMutableRawBufferPointer(start: place, count: words.count).copyBytes(from: words)
    }
  }
}
