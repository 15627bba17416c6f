import Crypto
import Foundation

/// Encrypts and opens the pages of one database connection, in a buffer of its own.
///
/// An encrypted page is bound to its store, its number and its key's epoch, and to nothing of the place
/// where it lies: SQLite rewrites frames of the WAL in place and fixes their headers afterwards, and
/// a checkpoint moves pages from the WAL to the database as they are.
final class PageEncryptor {
  private let keys: StoreKeys
  private let cipher: any StoreCipher
  private let binding: WALBinding?
  private let generation: UInt64
  private var nonces = NoncePool()
  /// The generation that the first page named when it was opened last; 0 before.
  private(set) var openedGeneration: UInt64 = 0
  /// The generation that the first page names since it was encrypted last; 0 before.
  private(set) var sealedGeneration: UInt64 = 0
  /// A frame of the WAL: its header, then a page. Pages of the database file use the same place.
  private let frame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PageFormat.frameSize, alignment: 16)
  /// What is authenticated with a page: a fixed part and, for page 1, its first 100 bytes.
  private let header = UnsafeMutableRawBufferPointer.allocate(
    byteCount: headerFixedSize + PageFormat.headerSize, alignment: 16)

  /// - Parameters:
  ///   - binding: Counts the pages that are encrypted, and knows the generation of the WAL that the first page
  ///     names then.
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

  /// The keys of the epoch that the page in `pageBytes` names, or nil if this store never had it.
  var pageEpoch: StoreKeys.Epoch? {
    let place = pageBytes + PageFormat.pageSize - PageFormat.epochSize
    return keys.epoch(UInt32(bigEndian: place.loadUnaligned(as: UInt32.self)))
  }

  /// Encrypts `plaintext` as page `number` into `pageBytes`; false if that is not possible.
  func encrypt(_ plaintext: UnsafeRawPointer, number: UInt32) -> Bool {
    encrypt(plaintext, number: number, to: pageBytes)
  }

  /// Encrypts `plaintext` as page `number` to `page`; false if that is not possible.
  ///
  /// The last 32 bytes of `plaintext` must be zero, as they are in every page that was opened here:
  /// SQLite's checksum in the WAL covers them, and only zeros can be given back.
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

  /// Opens page `number` in `pageBytes` into `plaintext`; false if it is not that page of this
  /// store, or was changed.
  ///
  /// - Returns: The plaintext after the clear bytes, which `plaintext` holds too, or nil.
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
    // The nonce goes before the ciphertext, where the frame's header or page 1's lay.
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

  /// How many bytes of page `number` stay readable.
  @inline(__always)
  private func clearSize(_ number: UInt32) -> Int { number == 1 ? PageFormat.headerSize : 0 }

  /// The bytes that are authenticated with page `number`, whose clear bytes lie in `page`.
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

  /// A page 1 from a database without reserved bytes, a plain one's backup say, would destroy the
  /// store: its pages hold data where tags belong.
  private func isStorePage1(_ page: UnsafeRawPointer) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: page, count: PageFormat.headerSize)
    let header = DatabaseHeader(bytes)
    return header.kind == .plaintext && header.hasRoom
  }
}
