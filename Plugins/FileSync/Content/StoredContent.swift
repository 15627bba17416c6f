import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// A content in the folder: the name of its file, its key, and the version that it is of.
///
/// Each content has a name and a key of its own. The key is kept in the store, whose encryption protects it: without
/// the store's key, or after the entry is removed, the file is unreadable.
struct StoredContent: Codable, Sendable, Equatable {
  let name: String
  private let secret: Data
  let version: FileVersion
  /// True for a content that was written before its size was known, which then is not authenticated with each chunk.
  private let isSpooled: Bool?

  private init(name: String, secret: Data, version: FileVersion, isSpooled: Bool?) {
    self.name = name
    self.secret = secret
    self.version = version
    self.isSpooled = isSpooled
  }

  /// Describes a new content, of which nothing is written yet.
  init(of version: FileVersion) {
    self.init(
      name: UUID().uuidString, secret: Data(EncryptionKey.random().bytes), version: version,
      isSpooled: nil)
  }

  /// Describes a new content of any size, of which nothing is written yet.
  static func spooled() -> StoredContent {
    StoredContent(
      name: UUID().uuidString, secret: Data(EncryptionKey.random().bytes),
      version: .local(size: .max, checksum: nil), isSpooled: true)
  }

  /// The same bytes, known as another version.
  func known(as version: FileVersion) -> StoredContent {
    StoredContent(name: name, secret: secret, version: version, isSpooled: isSpooled)
  }

  /// The chunks in a folder.
  ///
  /// - Throws: ``FileSyncError`` `damagedContent` if the entry has no key, or a name that is no name of a content.
  func chunks(in folder: URL) throws(FileSyncError) -> ContentChunks {
    guard ContentFolder.isName(name), let key = EncryptionKey(Array(secret)) else {
      throw FileSyncError(
        .damagedContent, "The key of a stored file is damaged. Download it again.")
    }
    return ContentChunks(
      url: folder.appending(path: name), name: name, key: key, size: version.size,
      authenticatesSize: isSpooled != true)
  }
}

/// The chunks of an encrypted file: each is encrypted by itself, with authentication of its number, the size of
/// the whole and the name of the file. So a chunk that is missing, moved, doubled or from another file does not
/// decrypt.
struct ContentChunks: Sendable {
  /// The number of plain bytes of every chunk but the last.
  static let chunkSize: Int64 = 65_536
  private static let storedSize = chunkSize + Int64(Encryptor.overhead)

  let url: URL
  let name: String
  let key: EncryptionKey
  /// The number of plain bytes of the whole.
  let size: Int64
  /// Whether the size is authenticated with each chunk. Without it, the size in the store shows that chunks are missing.
  let authenticatesSize: Bool

  /// The most bytes that a file with a content of `size` plain bytes has.
  static func maxStoredBytes(ofSize size: Int64) -> Int64 {
    guard size >= 0 else { return 0 }
    let chunks = size / chunkSize + 1
    let stored = size.addingReportingOverflow(chunks * Int64(Encryptor.overhead))
    return stored.overflow ? .max : stored.partialValue
  }

  /// The number of chunks of full size.
  var fullCount: Int64 { size / Self.chunkSize }

  /// The number of plain bytes of a chunk.
  func length(of number: Int64) -> Int { Int(min(Self.chunkSize, size - number * Self.chunkSize)) }

  /// Where a chunk begins in the file.
  func offset(of number: Int64) -> Int64 { number * Self.storedSize }

  /// The number of plain bytes in the full chunks of a file of `stored` bytes.
  func plainBytes(inStored stored: Int64) -> Int64 {
    min(stored / Self.storedSize * Self.chunkSize, size)
  }

  func encrypt(_ plain: [UInt8], number: Int64) throws(FileSyncError) -> [UInt8] {
    do {
      return try Encryptor.encrypt(plain, using: key, context: context(number))
    } catch {
      throw FileSyncError(
        .inputOutput, "A chunk cannot be encrypted: \(error.message)", cause: error)
    }
  }

  /// Reads a chunk.
  ///
  /// - Throws: ``FileSyncError`` `damagedContent` if it is cut or was changed, `inputOutput`.
  func read(_ number: Int64, from file: OpenFile) throws(FileSyncError) -> [UInt8] {
    let stored: [UInt8]
    do throws(FileFailure) {
      stored = try file.read(length(of: number) + Encryptor.overhead, at: offset(of: number))
    } catch {
      throw FileSyncError(error)
    }
    do {
      let plain = try Encryptor.decrypt(stored, using: key, context: context(number))
      guard plain.count == length(of: number) else {
        throw EncryptionError(.truncated, "It is cut.")
      }
      return plain
    } catch {
      throw FileSyncError(
        .damagedContent,
        "Chunk \(number) of a stored file was changed or is cut. Evict the file, then download it again.",
        cause: error)
    }
  }

  private func context(_ number: Int64) -> [UInt8] {
    Array("fieldforce file \(name) \(number) of \(authenticatesSize ? "\(size)" : "any")".utf8)
  }
}
