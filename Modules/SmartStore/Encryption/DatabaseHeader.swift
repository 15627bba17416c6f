/// What the first bytes of a file say it is.
struct DatabaseHeader {
  enum Kind: Sendable {
    /// A database whose pages are encrypted.
    case store
    /// A SQLite database as any program reads it.
    case plaintext
    /// No SQLite database at all.
    case foreign
  }

  let kind: Kind
  /// Whether its pages keep room for tags. A plaintext database may too, if it was a store's.
  let hasRoom: Bool
  /// Whether the database keeps a write-ahead log (WAL) already.
  let hasLog: Bool
  /// The generation of the WAL that the first page was written in; 0 for a plaintext database, and for a
  /// store from before there were anchors.
  let generation: UInt64

  /// Judges the first 100 bytes of a file as stored.
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

  /// Takes the generation of the WAL out of a header, in place: SQLite knows nothing of it.
  static func takeGeneration(at header: UnsafeMutableRawPointer) -> UInt64 {
    let number = header.loadUnaligned(
      fromByteOffset: PageFormat.generationOffset, as: UInt64.self)
    set(generation: 0, at: header)
    return UInt64(bigEndian: number)
  }

  /// Turns a header as SQLite writes it into the stored form of an encrypted one, in place.
  static func hide(at header: UnsafeMutableRawPointer) {
    if PageFormat.hidesMagic {
      set(PageFormat.storeMagic, at: header)
    } else {
      set(PageFormat.sealMark, at: header + PageFormat.sealMarkOffset)
    }
  }

  /// Turns a stored header back into what SQLite wrote, in place. Others stay as they are.
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
