import Crypto
import SalesforceSDKCommon

// The form of a sealed stream:
//
// | bytes | header |
// | --- | --- |
// | 8 | `FFSTREAM` |
// | 1 | version, 1 |
// | 1 | size of a chunk as a power of 2 |
// | 2 | zero |
// | 32 | salt |
//
// Chunks follow, each 16 bytes longer than its plain text, all but the last of full size. Every stream has
// a key of its own, derived from the caller's key, the header and the context; the nonce of a chunk is its
// number and whether it is the last. So a chunk that is missing, moved, doubled or from another stream does
// not open, and neither does a stream that was cut at the end of a chunk.
private enum StreamForm {
  static let magic = Array("FFSTREAM".utf8)
  static let version: UInt8 = 1
  static let headerLength = 44
  static let tagLength = 16
  /// 64 KB: what a tag costs is nothing, and what is held in memory too.
  static let chunkPower: UInt8 = 16

  static func key(_ key: EncryptionKey, header: [UInt8], context: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key.key, salt: header, info: Array("fieldforce stream".utf8) + context,
      outputByteCount: EncryptionKey.size)
  }

  static func nonce(_ number: UInt64, isLast: Bool) throws -> AES.GCM.Nonce {
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
    return try AES.GCM.Nonce(data: digits + [0, 0, 0, isLast ? 1 : 0])
  }
}

/// Encryption of a stream of any length in constant memory (CO-147).
///
/// ```swift
/// var stream = EncryptStream(key: key)
/// for try await piece in pieces { try file.write(stream.update(piece)) }
/// try file.write(stream.finish())
/// ```
///
/// Without the bytes of ``finish()``, the stream is incomplete, which a reader detects.
public struct EncryptStream: Sendable {
  private let key: SymmetricKey
  private let chunkSize: Int
  private var header: [UInt8]
  private var waiting: [UInt8] = []
  private var number: UInt64 = 0

  /// Begins a stream.
  ///
  /// - Parameter context: Binds the stream to its location. It is not stored: pass it again for reading.
  public init(key: EncryptionKey, context: [UInt8] = []) {
    self.init(key: key, context: context, chunkPower: StreamForm.chunkPower)
  }

  init(key: EncryptionKey, context: [UInt8], chunkPower: UInt8) {
    header =
      StreamForm.magic + [StreamForm.version, chunkPower, 0, 0] + RandomBytes.make(32)
    self.key = StreamForm.key(key, header: header, context: context)
    chunkSize = 1 << Int(chunkPower)
  }

  /// Encrypts the next bytes and returns the encrypted bytes that are ready, which may be none.
  ///
  /// - Throws: ``EncryptionError`` `inputOutput` if encrypting fails, which happens for no input.
  public mutating func update(
    _ plain: some Collection<UInt8>
  ) throws(EncryptionError) -> [UInt8] {
    var sealed = header
    header = []
    waiting.append(contentsOf: plain)
    guard waiting.count > chunkSize else { return sealed }
    // A full chunk waits until something follows: it may be the last.
    var start = 0
    while waiting.count - start > chunkSize {
      sealed += try seal(waiting[start..<start + chunkSize], isLast: false)
      start += chunkSize
    }
    waiting.removeFirst(start)
    return sealed
  }

  /// Ends the stream and returns the rest of the encrypted bytes.
  ///
  /// - Throws: As ``update(_:)``.
  public mutating func finish() throws(EncryptionError) -> [UInt8] {
    defer { waiting = [] }
    return header + (try seal(waiting[...], isLast: true))
  }

  private mutating func seal(
    _ plain: ArraySlice<UInt8>, isLast: Bool
  ) throws(EncryptionError) -> [UInt8] {
    defer { number += 1 }
    do {
      let box = try AES.GCM.seal(
        plain, using: key, nonce: StreamForm.nonce(number, isLast: isLast))
      return Array(box.ciphertext) + Array(box.tag)
    } catch {
      throw EncryptionError(.inputOutput, "A stream could not be sealed.", cause: error)
    }
  }
}

/// Decryption of a stream in constant memory, however its bytes are cut into pieces (CO-147).
///
/// It returns the decrypted content in order. The content is verified as complete only when
/// ``finish()`` has returned.
public struct DecryptStream: Sendable {
  private enum Form: Sendable {
    case unread
    case chunks(SymmetricKey, size: Int)
    /// Chunks of 512 bytes, each with its own nonce and not bound to a position.
    case legacy
  }

  private let key: EncryptionKey
  private let context: [UInt8]
  private var form: Form
  private var waiting: [UInt8] = []
  private var number: UInt64 = 0

  /// Begins to read a stream of ``EncryptStream``.
  ///
  /// - Parameter context: The context that was passed when the stream was encrypted.
  public init(key: EncryptionKey, context: [UInt8] = []) {
    self.init(key: key, context: context, form: .unread)
  }

  private init(key: EncryptionKey, context: [UInt8], form: Form) {
    self.key = key
    self.context = context
    self.form = form
  }

  /// Begins to read a stream in the platform's older form: chunks of 512 bytes, each encrypted
  /// separately. Missing chunks at the end, and chunks in another order, are not detected; new
  /// streams are never written in this form.
  public static func legacy(key: EncryptionKey) -> DecryptStream {
    DecryptStream(key: key, context: [], form: .legacy)
  }

  /// Decrypts the next bytes and returns the authenticated plain bytes, which may be none.
  ///
  /// - Throws: ``EncryptionError`` `unknownFormat` or `decryptionFailed`; then the stream is unusable.
  public mutating func update(
    _ sealed: some Collection<UInt8>
  ) throws(EncryptionError) -> [UInt8] {
    waiting.append(contentsOf: sealed)
    if case .unread = form { try readHeader() }
    switch form {
    case .unread: return []
    case .chunks(let key, let size):
      return try take(chunksOf: size + StreamForm.tagLength) {
        chunk, number throws(EncryptionError) in
        try Self.open(chunk, number, isLast: false, key)
      }
    case .legacy:
      let key = key
      return try take(chunksOf: Self.legacyChunk) { chunk, _ throws(EncryptionError) in
        try Encryptor.decrypt(Array(chunk), using: key)
      }
    }
  }

  /// Ends the stream and returns the rest of the plain bytes.
  ///
  /// - Throws: ``EncryptionError`` `truncated` or `decryptionFailed`: bytes are missing, or were changed.
  public mutating func finish() throws(EncryptionError) -> [UInt8] {
    defer { waiting = [] }
    switch form {
    case .unread:
      throw EncryptionError(.truncated, "The sealed stream ends before it begins.")
    case .chunks(let key, _):
      guard waiting.count >= StreamForm.tagLength else {
        throw EncryptionError(.truncated, "The sealed stream ends too early.")
      }
      return try Self.open(waiting[...], number, isLast: true, key)
    case .legacy:
      return waiting.isEmpty ? [] : try Encryptor.decrypt(waiting, using: key)
    }
  }

  private static let legacyChunk = 512 + Encryptor.overhead

  private mutating func readHeader() throws(EncryptionError) {
    let start = waiting.prefix(StreamForm.magic.count)
    guard StreamForm.magic.starts(with: start) else {
      throw EncryptionError(.unknownFormat, "These bytes are no sealed stream.")
    }
    guard waiting.count >= StreamForm.headerLength else { return }
    let header = Array(waiting.prefix(StreamForm.headerLength))
    guard header[8] == StreamForm.version, (9...20).contains(header[9]) else {
      throw EncryptionError(.unknownFormat, "The sealed stream was written by a newer version.")
    }
    form = .chunks(
      StreamForm.key(key, header: header, context: context), size: 1 << Int(header[9]))
    waiting.removeFirst(StreamForm.headerLength)
  }

  /// Opens the chunks that are whole and certainly not the last.
  private mutating func take(
    chunksOf size: Int,
    _ open: (ArraySlice<UInt8>, UInt64) throws(EncryptionError) -> [UInt8]
  ) throws(EncryptionError) -> [UInt8] {
    var plain: [UInt8] = []
    var start = 0
    while waiting.count - start > size {
      plain += try open(waiting[start..<start + size], number)
      number += 1
      start += size
    }
    waiting.removeFirst(start)
    return plain
  }

  private static func open(
    _ chunk: ArraySlice<UInt8>, _ number: UInt64, isLast: Bool, _ key: SymmetricKey
  ) throws(EncryptionError) -> [UInt8] {
    do {
      let box = try AES.GCM.SealedBox(
        nonce: StreamForm.nonce(number, isLast: isLast),
        ciphertext: chunk.dropLast(StreamForm.tagLength),
        tag: chunk.suffix(StreamForm.tagLength))
      return Array(try AES.GCM.open(box, using: key))
    } catch {
      throw EncryptionError(
        .decryptionFailed,
        "The sealed stream was changed or cut, or the key or place is another.", cause: error)
    }
  }
}
