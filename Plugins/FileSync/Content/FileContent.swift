public import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// The decrypted content of a file, read piece by piece; memory holds one chunk of 64 KB at a time.
///
/// It stays readable if the file is evicted or replaced while it is read.
///
/// ```swift
/// let content = try await files.content(of: id)
/// for try await piece in content { player.append(piece) }
/// ```
public struct FileContent: Sendable, AsyncSequence {
  public typealias Element = [UInt8]

  /// The version that it is of. An older one than the file's own, if that is `outdated`.
  public let version: FileVersion
  private let chunks: ContentChunks
  private let file: OpenFile

  /// Opens a content; nil if the file is missing.
  init?(_ stored: StoredContent, in folder: URL) throws(FileSyncError) {
    version = stored.version
    chunks = try stored.chunks(in: folder)
    do throws(FileFailure) {
      file = try OpenFile.reading(chunks.url)
    } catch {
      if error.errno == ENOENT { return nil }
      throw FileSyncError(error)
    }
  }

  /// The number of bytes.
  public var size: Int64 { chunks.size }

  /// Reads up to `count` bytes from an offset; fewer at the end of the content, none behind it.
  ///
  /// - Throws: ``FileSyncError`` `damagedContent`, `inputOutput`.
  public func read(_ count: Int, at offset: Int64) throws(FileSyncError) -> [UInt8] {
    precondition(count >= 0 && offset >= 0, "count \(count) and offset \(offset) are not negative")
    let end = offset.addingReportingOverflow(Int64(count))
    let last = end.overflow ? size : Swift.min(end.partialValue, size)
    var bytes: [UInt8] = []
    var position = offset
    while position < last {
      let number = position / ContentChunks.chunkSize
      let plain = try chunks.read(number, from: file)
      let start = number * ContentChunks.chunkSize
      bytes += plain[Int(position - start)..<Int(Swift.min(last - start, Int64(plain.count)))]
      position = start + Int64(plain.count)
    }
    return bytes
  }

  /// Writes the content to a new file, in plaintext.
  ///
  /// - Throws: ``FileSyncError`` `damagedContent`, `diskFull`, `inputOutput`, also if there is a file of this name. No
  ///   file is left then.
  @concurrent public func copy(to url: URL) async throws {
    do {
      let copy = try OpenFile.creating(url)
      do {
        for try await piece in self { try copy.write(piece) }
        try copy.sync()
      } catch {
        try? DurableFile(url).remove()
        throw error
      }
    } catch let failure as FileFailure {
      throw FileSyncError(failure)
    }
  }

  /// Reads the pieces in order.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    fileprivate let content: FileContent
    private var position: Int64 = 0

    fileprivate init(_ content: FileContent) { self.content = content }

    /// The next piece; nil at the end.
    ///
    /// - Throws: ``FileSyncError`` `damagedContent`, `inputOutput`; `CancellationError`.
    public mutating func next() async throws -> [UInt8]? {
      try Task.checkCancellation()
      guard position < content.size else { return nil }
      let piece = try content.read(Int(ContentChunks.chunkSize), at: position)
      position += Int64(piece.count)
      return piece
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
