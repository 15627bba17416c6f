import Crypto
import Foundation

/// An encryptor of the pages of one database connection, with its own buffer.
///
/// An encrypted page is bound to its store, its number and its key's epoch, but not to its
/// location: SQLite rewrites frames of the WAL in place and corrects their headers afterwards, and
/// a checkpoint copies pages from the WAL to the database unchanged.
final class PageEncryptor {
  private let keys: StoreKeys
  private let cipher: any StoreCipher
  private let binding: WALBinding?
  private let generation: UInt64
  private var nonces = NoncePool()
  /// The generation in the first page when it was last decrypted; 0 before.
  private(set) var openedGeneration: UInt64 = 0
  /// The generation in the first page when it was last encrypted; 0 before.
  private(set) var sealedGeneration: UInt64 = 0
  /// The buffer for a frame of the WAL, a header and a page. Pages of the database file use the
  /// same memory.
  private let frame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PageFormat.frameSize, alignment: 16)
  /// The buffer for the associated data of a page: a fixed part and, for page 1, its first 100
  /// bytes.
  private let header = UnsafeMutableRawBufferPointer.allocate(
    byteCount: headerFixedSize + PageFormat.headerSize, alignment: 16)

  /// - Parameters:
  ///   - binding: The binding of the WAL. It counts the encrypted pages, and has the generation
  ///     that the first page gets.
  ///   - generation: That generation, for a copy.
  init(
    keys: StoreKeys, cipher: any StoreCipher, binding: WALBinding? = nil, generation: UInt64 = 0
  ) {
    self.binding = binding
    self.generation = generation
    self.keys = keys
    self.cipher = cipher
    frame.initializeMemory(as: UInt8.self, repeating: 0)
    header.initializeMemory(as: UInt8.self, repeating: 0)
    let domain: StaticString = "FFPG"
    domain.withUTF8Buffer { header.copyBytes(from: $0) }
    header.storeBytes(of: PageFormat.version.bigEndian, toByteOffset: 4, as: UInt32.self)
    header[8..<24].copyBytes(from: keys.storeID.bytes)
  }

  deinit {
    frame.deallocate()
    header.deallocate()
  }

  private static let headerFixedSize = 32

  /// The buffer for a frame, header first, to read into or to write from.
  var frameBytes: UnsafeMutableRawPointer { frame.baseAddress.unsafelyUnwrapped }

  /// The encrypted page in the buffer, to read into or to write from.
  var pageBytes: UnsafeMutableRawPointer { frameBytes + PageFormat.frameHeaderSize }

  /// The keys of the epoch in the page in `pageBytes`, or nil if this store does not have the
  /// epoch.
  var pageEpoch: StoreKeys.Epoch? {
    let place = pageBytes + PageFormat.pageSize - PageFormat.epochSize
    return keys.epoch(UInt32(bigEndian: place.loadUnaligned(as: UInt32.self)))
  }

  /// Encrypts `plaintext` as page `number` into `pageBytes`; returns false on failure.
  func encrypt(_ plaintext: UnsafeRawPointer, number: UInt32) -> Bool {
    encrypt(plaintext, number: number, to: pageBytes)
  }

  /// Encrypts `plaintext` as page `number` to `page`; returns false on failure.
  ///
  /// The last 32 bytes of `plaintext` must be zero, as in every decrypted page: SQLite's checksum
  /// in the WAL includes them, and decryption can restore only zeros.
  func encrypt(
    _ plaintext: UnsafeRawPointer, number: UInt32, to page: UnsafeMutableRawPointer
  ) -> Bool {
    let reserved = UnsafeRawBufferPointer(
      start: plaintext + PageFormat.usableSize, count: PageFormat.reservedSize)
    guard reserved.allSatisfy({ $0 == 0 }) else { return false }
    let epoch = keys.current
    let clear = clearSize(number)
    if clear > 0 {
      guard isStorePage1(plaintext) else { return false }
      page.copyMemory(from: plaintext, byteCount: clear)
      sealedGeneration = binding?.generation ?? generation
      DatabaseHeader.set(generation: sealedGeneration, at: page)
    }
    let nonce = page + PageFormat.usableSize + PageFormat.tagSize
    guard nonces.take(into: nonce) else { return false }
    binding?.willEncrypt()
    (nonce + PageFormat.nonceSize)
      .storeBytes(of: epoch.number.bigEndian, as: UInt32.self)
    do {
      try cipher.encrypt(
        UnsafeRawBufferPointer(start: plaintext + clear, count: PageFormat.usableSize - clear),
        using: epoch.pageKey,
        nonce: UnsafeRawBufferPointer(start: nonce, count: PageFormat.nonceSize),
        authenticating: authenticated(page, number: number, epoch: epoch.number, clear: clear),
        to: UnsafeMutableRawBufferPointer(
          start: page + clear, count: PageFormat.usableSize - clear + PageFormat.tagSize))
    } catch {
      return false
    }
    if clear > 0 { DatabaseHeader.hide(at: page) }
    return true
  }

  /// Decrypts page `number` in `pageBytes` into `plaintext`.
  ///
  /// - Returns: The plaintext after the clear bytes, which `plaintext` contains too; nil if the
  ///   page was changed, or is not this page of this store.
  func decrypt(number: UInt32, into plaintext: UnsafeMutableRawPointer) -> Data? {
    let page = pageBytes
    let nonce = page + PageFormat.usableSize + PageFormat.tagSize
    guard let epoch = pageEpoch else { return nil }
    let clear = clearSize(number)
    if clear > 0 {
      plaintext.copyMemory(from: page, byteCount: clear)
      DatabaseHeader.restore(at: plaintext)
      page.copyMemory(from: plaintext, byteCount: clear)
    }
    let bound = authenticated(page, number: number, epoch: epoch.number, clear: clear)
    // The nonce is placed before the ciphertext, over the frame's header or that of page 1.
    let sealed = page + clear - PageFormat.nonceSize
    sealed.copyMemory(from: nonce, byteCount: PageFormat.nonceSize)
    let count =
      PageFormat.nonceSize + PageFormat.usableSize - clear + PageFormat.tagSize
    guard
      let opened = try? cipher.decrypt(
        UnsafeRawBufferPointer(start: sealed, count: count), using: epoch.pageKey,
        authenticating: bound),
      opened.count == PageFormat.usableSize - clear
    else { return nil }
    if clear > 0 { openedGeneration = DatabaseHeader.takeGeneration(at: plaintext) }
    opened.withUnsafeBytes { bytes in
      UnsafeMutableRawBufferPointer(start: plaintext + clear, count: bytes.count)
        .copyMemory(from: bytes)
    }
    UnsafeMutableRawBufferPointer(
      start: plaintext + PageFormat.usableSize, count: PageFormat.reservedSize
    ).initializeMemory(as: UInt8.self, repeating: 0)
    return opened
  }

  /// Returns the number of bytes of page `number` that are not encrypted.
  @inline(__always)
  private func clearSize(_ number: UInt32) -> Int { number == 1 ? PageFormat.headerSize : 0 }

  /// Returns the associated data of page `number`, whose clear bytes are in `page`.
  private func authenticated(
    _ page: UnsafeRawPointer, number: UInt32, epoch: UInt32, clear: Int
  ) -> UnsafeRawBufferPointer {
    header.storeBytes(of: epoch.bigEndian, toByteOffset: 24, as: UInt32.self)
    header.storeBytes(of: number.bigEndian, toByteOffset: 28, as: UInt32.self)
    if clear > 0 {
      (header.baseAddress.unsafelyUnwrapped + Self.headerFixedSize)
        .copyMemory(from: page, byteCount: clear)
    }
    return UnsafeRawBufferPointer(rebasing: header[..<(Self.headerFixedSize + clear)])
  }

  /// Whether this is a page 1 with reserved bytes. A page 1 without them, such as one of a plain
  /// database's backup, would destroy the store, because its pages have data in place of the tags.
  private func isStorePage1(_ page: UnsafeRawPointer) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: page, count: PageFormat.headerSize)
    let header = DatabaseHeader(bytes)
    return header.kind == .plaintext && header.hasRoom
  }
}
