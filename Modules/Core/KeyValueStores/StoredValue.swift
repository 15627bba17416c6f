import SalesforceSDKCommon

/// A value of a key-value store, decrypted piece by piece. One task reads it, once.
///
/// The value is verified as complete only at its end: a reader that receives an error has to
/// discard all pieces.
public struct StoredValue: AsyncSequence, Sendable {
  public typealias Element = [UInt8]
  let file: OpenFile
  let key: EncryptionKey
  let context: [UInt8]

  /// Decrypts the pieces one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    var reader: Reader

    /// Returns the next piece; `nil` at the end of the value.
    ///
    /// - Throws: ``EncryptionError`` `decryptionFailed`, `truncated`, `unknownFormat` or `inputOutput`;
    ///   `CancellationError`.
    public mutating func next() async throws -> [UInt8]? {
      try Task.checkCancellation()
      return try reader.next()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: makeReader()) }

  func makeReader() -> Reader {
    Reader(file: file, stream: DecryptStream(key: key, context: context))
  }

  /// Reads a file and opens what it holds.
  struct Reader: Sendable {
    let file: OpenFile
    var stream: DecryptStream
    var isAtEnd = false

    mutating func next() throws(EncryptionError) -> [UInt8]? {
      while !isAtEnd {
        let sealed: [UInt8]
        do throws(FileFailure) {
          sealed = try file.read(65_536)
        } catch {
          throw EncryptionError(error)
        }
        isAtEnd = sealed.isEmpty
        let plain = isAtEnd ? try stream.finish() : try stream.update(sealed)
        if !plain.isEmpty { return plain }
      }
      return nil
    }
  }
}
