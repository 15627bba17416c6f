import Crypto
import Foundation
import SalesforceSDKCommon

/// A buffer of the unread part of a response, in order: a little in memory, the rest in a file.
///
/// The file has no name, so nothing is left of it when the process ends. Its chunks are encrypted with a key
/// that is in memory alone, so neither the disk nor a copy of it shows what was in the response.
struct DiskBuffer: Sendable {
  /// As much as this stays in memory.
  static let memoryLimit = 1 << 20
  /// The plaintext size of an encrypted chunk.
  private static let chunkSize = 64 << 10

  private let folder: URL
  private let memoryLimit: Int
  /// The oldest bytes.
  private var front: [UInt8] = []
  /// The bytes between; `nil` while all that waits is in memory.
  private var file: EncryptedChunks?
  /// The newest bytes, fewer than a chunk.
  private var back: [UInt8] = []

  /// - Parameter folder: The folder in which the file is created when it is needed.
  init(in folder: URL, memoryLimit: Int = DiskBuffer.memoryLimit) {
    self.folder = folder
    self.memoryLimit = memoryLimit
  }

  /// Whether nothing waits.
  var isEmpty: Bool { front.isEmpty && back.isEmpty && file?.isEmpty ?? true }

  /// Appends bytes.
  ///
  /// - Throws: ``TransportError`` `noRoom`.
  mutating func append(_ piece: Data) throws(TransportError) {
    if back.isEmpty, file?.isEmpty ?? true, front.count + piece.count <= memoryLimit {
      piece.withUnsafeBytes { front.append(contentsOf: $0) }
      return
    }
    piece.withUnsafeBytes { back.append(contentsOf: $0) }
    var start = 0
    while back.count - start >= Self.chunkSize {
      try write(back[start..<start + Self.chunkSize])
      start += Self.chunkSize
    }
    back.removeFirst(start)
  }

  /// Removes and returns the oldest bytes; `nil` if the buffer is empty.
  ///
  /// - Throws: ``TransportError`` `noRoom`: what was written cannot be read.
  mutating func next() throws(TransportError) -> [UInt8]? {
    if !front.isEmpty { return Self.take(&front) }
    if var file, !file.isEmpty {
      defer { self.file = file }
      do {
        return try file.next()
      } catch {
        throw TransportError(
          .noRoom, "The buffered part of a response cannot be read: \(error)",
          cause: error)
      }
    }
    return back.isEmpty ? nil : Self.take(&back)
  }

  /// Drops all bytes.
  mutating func clear() {
    front = []
    back = []
    file = nil
  }

  private mutating func write(_ chunk: ArraySlice<UInt8>) throws(TransportError) {
    do {
      var file = try self.file ?? EncryptedChunks(in: folder, size: Self.chunkSize)
      try file.append(chunk)
      self.file = file
    } catch {
      throw TransportError(
        .noRoom,
        "The response could not be buffered in "
          + "\(folder.path): \(error). Free space there, or read faster.", cause: error)
    }
  }

  private static func take(_ bytes: inout [UInt8]) -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}

/// Chunks of one size in a file without a name, each encrypted.
private struct EncryptedChunks: Sendable {
  private let file: OpenFile
  private let key = SymmetricKey(size: .bits256)
  private let size: Int
  private static let tagLength = 16
  /// The number of the chunk at the start of the file, of the next one to take, and of the next to come.
  private var base: UInt64 = 0
  private var first: UInt64 = 0
  private var end: UInt64 = 0

  init(in folder: URL, size: Int) throws {
    file = try OpenFile.unnamed(in: folder)
    self.size = size
  }

  var isEmpty: Bool { first == end }

  mutating func append(_ chunk: ArraySlice<UInt8>) throws {
    let box = try AES.GCM.seal(chunk, using: key, nonce: Self.nonce(end))
    try file.write(Array(box.ciphertext) + Array(box.tag), at: place(of: end))
    end += 1
  }

  mutating func next() throws -> [UInt8] {
    let sealed = try file.read(size + Self.tagLength, at: place(of: first))
    let box = try AES.GCM.SealedBox(
      nonce: Self.nonce(first), ciphertext: sealed.dropLast(Self.tagLength),
      tag: sealed.suffix(Self.tagLength))
    let chunk = Array(try AES.GCM.open(box, using: key))
    first += 1
    if isEmpty {
      // The reader has caught up: the file is used again from its start. Numbers go on, since a nonce
      // serves once.
      try file.truncate(to: 0)
      base = end
    }
    return chunk
  }

  private func place(of number: UInt64) -> Int64 {
    Int64(number - base) * Int64(size + Self.tagLength)
  }

  private static func nonce(_ number: UInt64) throws -> AES.GCM.Nonce {
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) }
    return try AES.GCM.Nonce(data: digits + [0, 0, 0, 0])
  }
}
