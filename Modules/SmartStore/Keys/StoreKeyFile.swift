import Crypto
import Foundation

/// The file in the database's folder with its data-encryption keys, each wrapped by the
/// key-encryption key.
///
/// ```
/// offset  bytes
///      0      8  "FFSTKEY\0"
///      8      4  format version, big endian
///     12      4  number n of keys
///     16     16  identifier of the store
///     32     16  from format 2 on: start of a SHA-256 of the store's identifier, owner and name
///      …  64 * n  per key: epoch (4), nonce (12), wrapped data key (32), tag (16)
///      …     32  SHA-256 of everything before
/// ```
///
/// From format 2 on, owner and name are authenticated with each data-encryption key. The checksum
/// distinguishes damage from a wrong key: if the checksum is right and the tags are not, another
/// key wrapped the file.
struct StoreKeyFile: Equatable {
  /// A data-encryption key in its stored form.
  struct WrappedKey: Equatable {
    let epoch: UInt32
    /// Nonce, ciphertext and tag.
    let box: [UInt8]
  }

  /// The reason why no keys can be read from a key file.
  enum Failure: Error, Equatable {
    case damaged
    case newerVersion(UInt32)
    case wrongKey
  }

  /// The format: 1, or 2 for a file that is bound to the store's owner and name.
  let format: UInt32
  let storeID: UUID
  private let binding: [UInt8]
  let keys: [WrappedKey]

  private static let magic = Array("FFSTKEY\0".utf8)
  /// The format of new files.
  static let currentFormat: UInt32 = 2
  private static let headerSize = 32
  static let bindingSize = 16
  private static let entrySize = 64
  /// The maximum number of keys, far more than a store has epochs at a time.
  private static let maxKeys = 64
  /// The maximum size of a key file.
  static let maxSize = headerSize + bindingSize + maxKeys * entrySize + SHA256.byteCount

  /// Wraps `dataKeys` for the store `identity`; each wrapping has a fresh nonce.
  init(
    storeID: UUID, identity: StoreIdentity, dataKeys: [(epoch: UInt32, key: SymmetricKey)],
    wrappingKey: SymmetricKey
  ) throws {
    format = Self.currentFormat
    self.storeID = storeID
    binding = identity.binding(storeID: storeID)
    let key = Self.derive(from: wrappingKey, storeID: storeID)
    keys = try dataKeys.map { dataKey in
      let plaintext = dataKey.key.withUnsafeBytes { Data($0) }
      let box = try AES.GCM.seal(
        plaintext, using: key,
        authenticating: Self.authenticated(
          Self.currentFormat, storeID: storeID, epoch: dataKey.epoch, identity))
      guard let combined = box.combined else { throw Failure.damaged }
      return WrappedKey(epoch: dataKey.epoch, box: Array(combined))
    }
  }

  /// Parses the stored form.
  init(parsing bytes: [UInt8]) throws(Failure) {
    guard bytes.count >= Self.headerSize + Self.entrySize + SHA256.byteCount,
      Array(bytes[..<8]) == Self.magic
    else { throw .damaged }
    let body = bytes.dropLast(SHA256.byteCount)
    guard SHA256.hash(data: body).elementsEqual(bytes.suffix(SHA256.byteCount)) else {
      throw .damaged
    }
    format = Self.integer(bytes[8..<12])
    guard (1...Self.currentFormat).contains(format) else { throw .newerVersion(format) }
    let headerSize = Self.headerSize(of: format)
    let count = Int(Self.integer(bytes[12..<16]))
    guard count >= 1, body.count == headerSize + count * Self.entrySize else { throw .damaged }
    storeID = bytes[16..<32].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    binding = Array(bytes[Self.headerSize..<headerSize])
    keys = (0..<count).map { index in
      let entry = bytes[(headerSize + index * Self.entrySize)...].prefix(Self.entrySize)
      return WrappedKey(epoch: Self.integer(entry.prefix(4)), box: Array(entry.dropFirst(4)))
    }
  }

  /// The stored form.
  var bytes: [UInt8] {
    var bytes = Self.magic
    Self.append(format, to: &bytes)
    Self.append(UInt32(keys.count), to: &bytes)
    bytes += storeID.bytes + binding
    for key in keys {
      Self.append(key.epoch, to: &bytes)
      bytes += key.box
    }
    bytes += SHA256.hash(data: bytes)
    return bytes
  }

  /// Whether this can be the key file of a store. A file of format 1 can belong to any store.
  func isBound(to identity: StoreIdentity) -> Bool {
    format == 1 || binding == identity.binding(storeID: storeID)
  }

  /// Returns the data-encryption keys. Throws `wrongKey` if they were wrapped by another key, or
  /// for another owner or name.
  func unwrap(
    with wrappingKey: SymmetricKey, for identity: StoreIdentity
  ) throws(Failure) -> [(epoch: UInt32, key: SymmetricKey)] {
    let key = Self.derive(from: wrappingKey, storeID: storeID)
    var dataKeys: [(epoch: UInt32, key: SymmetricKey)] = []
    for wrapped in keys {
      let context = Self.authenticated(
        format, storeID: storeID, epoch: wrapped.epoch, identity)
      guard let box = try? AES.GCM.SealedBox(combined: wrapped.box),
        let data = try? AES.GCM.open(box, using: key, authenticating: context)
      else { throw .wrongKey }
      dataKeys.append((wrapped.epoch, SymmetricKey(data: data)))
    }
    return dataKeys
  }

  /// Derives a separate wrapping key for each store, so that any secret of sufficient length can be
  /// used.
  private static func derive(from wrappingKey: SymmetricKey, storeID: UUID) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: wrappingKey, salt: storeID.bytes,
      info: Array("fieldforce store wrap".utf8), outputByteCount: 32)
  }

  private static func headerSize(of format: UInt32) -> Int {
    headerSize + (format == 1 ? 0 : bindingSize)
  }

  private static func authenticated(
    _ format: UInt32, storeID: UUID, epoch: UInt32, _ identity: StoreIdentity
  ) -> [UInt8] {
    var bytes = magic
    append(format, to: &bytes)
    bytes += storeID.bytes
    append(epoch, to: &bytes)
    return format == 1 ? bytes : bytes + identity.context
  }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func integer(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
