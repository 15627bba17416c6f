/// What the first bytes of a file say it is.
struct DatabaseHeader {
  enum Kind: Sendable {
    /// A database whose pages keep room for tags.
    case store
    /// A SQLite database without that room.
    case plaintext
    /// No SQLite database at all.
    case foreign
  }

  let kind: Kind

  /// Judges the first 100 bytes of a file, as stored or as SQLite sees them.
  init(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= PageFormat.headerSize else {
      kind = .foreign
      return
    }
    let magic = bytes.prefix(PageFormat.magicSize)
    let isStore = PageFormat.storeMagic.withUTF8Buffer { magic.elementsEqual($0) }
    let isSQLite = PageFormat.sqliteMagic.withUTF8Buffer { magic.elementsEqual($0) }
    guard isStore || isSQLite else {
      kind = .foreign
      return
    }
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    let hasRoom = pageSize == PageFormat.pageSize && bytes[20] == PageFormat.reservedSize
    kind = hasRoom ? .store : isSQLite ? .plaintext : .foreign
  }
}
