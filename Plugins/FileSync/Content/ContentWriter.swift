import Crypto
import SalesforceSDKCommon
import SalesforceSDKCore

/// Writes a content chunk by chunk, and computes its checksum. It holds one chunk in memory.
struct ContentWriter: Sendable {
  private let chunks: ContentChunks
  private let file: OpenFile
  private var digest = Insecure.MD5()
  private var number: Int64 = 0
  private var waiting: [UInt8] = []

  /// Continues behind the chunks that are stored and intact, or begins a file. What follows the first damaged
  /// chunk is discarded.
  init(resuming chunks: ContentChunks) throws(FileSyncError) {
    self.chunks = chunks
    let stored: OpenFile
    do throws(FileFailure) {
      file = try OpenFile.appending(chunks.url)
      stored = try OpenFile.reading(chunks.url)
    } catch {
      throw FileSyncError(error)
    }
    while number < chunks.fullCount {
      guard let plain = try? chunks.read(number, from: stored) else { break }
      digest.update(data: plain)
      number += 1
    }
    try truncate(to: chunks.offset(of: number))
  }

  private func truncate(to size: Int64) throws(FileSyncError) {
    do throws(FileFailure) {
      try file.truncate(to: size)
    } catch {
      throw FileSyncError(error)
    }
  }

  /// The number of bytes that a later writer would find.
  var storedBytes: Int64 { number * ContentChunks.chunkSize }
  /// The number of bytes that were appended, in this run and in earlier ones.
  var receivedBytes: Int64 { storedBytes + Int64(waiting.count) }

  /// Discards all bytes.
  mutating func restart() throws(FileSyncError) {
    try truncate(to: 0)
    digest = Insecure.MD5()
    number = 0
    waiting = []
  }

  /// Appends the next bytes.
  ///
  /// - Throws: ``FileSyncError`` `verificationFailed` if there are more than the file has, `diskFull`, `inputOutput`.
  mutating func append(_ piece: [UInt8]) throws(FileSyncError) {
    guard receivedBytes + Int64(piece.count) <= chunks.size else {
      throw FileSyncError(
        .verificationFailed, "The server sent more than the \(chunks.size) bytes that it announced."
      )
    }
    waiting += piece
    let size = Int(ContentChunks.chunkSize)
    var start = 0
    while waiting.count - start >= size {
      try write(Array(waiting[start..<start + size]))
      start += size
    }
    if start > 0 { waiting.removeFirst(start) }
  }

  /// Writes the rest, and waits until all of it is on disk. To be called once all bytes were appended.
  ///
  /// - Returns: The MD5 of the whole, in lower-case digits.
  /// - Throws: ``FileSyncError`` `diskFull`, `inputOutput`.
  mutating func finish() throws(FileSyncError) -> String {
    if !waiting.isEmpty {
      try write(waiting)
      waiting = []
    }
    do throws(FileFailure) {
      try file.sync()
    } catch {
      throw FileSyncError(error)
    }
    return Hex.encode(digest.finalize())
  }

  private mutating func write(_ plain: [UInt8]) throws(FileSyncError) {
    let stored = try chunks.encrypt(plain, number: number)
    do throws(FileFailure) {
      try file.write(stored)
    } catch {
      throw FileSyncError(error)
    }
    digest.update(data: plain)
    number += 1
  }
}
