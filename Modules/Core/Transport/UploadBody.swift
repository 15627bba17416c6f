public import Foundation
import SalesforceSDKCommon

/// A body that is read while it is sent: files, bytes, what a closure reads, or several of them. It is never in memory
/// as a whole, and can be sent again.
///
/// ```swift
/// var request = RestRequest(method: .put, path: "/services/data/v66.0/jobs/ingest/750A/batches")
/// request.upload = try UploadBody(file: csv)
/// ```
public struct UploadBody: Sendable, Equatable {
  enum Part: Sendable, Equatable {
    case bytes([UInt8])
    /// The length that was announced; a file that is shorter when it is read cannot be sent.
    case file(URL, length: Int64)
    case source(Source, length: Int64)
  }

  /// Bytes that a closure reads.
  final class Source: Sendable, Equatable {
    let read: @Sendable (_ count: Int, _ offset: Int64) throws -> [UInt8]

    init(read: @escaping @Sendable (_ count: Int, _ offset: Int64) throws -> [UInt8]) {
      self.read = read
    }

    /// Whether both are the same object.
    static func == (left: Source, right: Source) -> Bool { left === right }
  }

  let parts: [Part]
  /// The length in bytes.
  public let length: Int64

  private init(parts: [Part], length: Int64) {
    self.parts = parts
    self.length = length
  }

  /// A body of bytes.
  public init(_ bytes: [UInt8]) {
    self.init(parts: bytes.isEmpty ? [] : [.bytes(bytes)], length: Int64(bytes.count))
  }

  /// A body that is the content of a file. Its length is read now, its bytes when they are sent.
  ///
  /// - Throws: ``TransportError`` `unreadableBody`.
  public init(file url: URL) throws(TransportError) {
    do throws(FileFailure) {
      let file = try OpenFile.reading(url)
      guard try file.isRegular() else {
        throw FileFailure("sent", url.path, errno: EINVAL)
      }
      let length = try file.size()
      self.init(parts: [.file(url, length: length)], length: length)
    } catch {
      throw TransportError(.unreadableBody, "\(error).", cause: error)
    }
  }

  /// A body that a closure reads, such as content that is encrypted on disk. Two bodies of this kind are equal only if one
  /// is a copy of the other.
  ///
  /// - Parameters:
  ///   - length: The length in bytes.
  ///   - read: Reads up to `count` bytes from an offset, at least one. Called with ascending offsets, from 0 again if the
  ///     body is sent again, on a thread that may wait. An error ends the request with `unreadableBody`, with it as cause.
  public init(
    length: Int64, read: @escaping @Sendable (_ count: Int, _ offset: Int64) throws -> [UInt8]
  ) {
    precondition(length >= 0, "length is \(length), below 0")
    self.init(
      parts: length == 0 ? [] : [.source(Source(read: read), length: length)], length: length)
  }

  /// The concatenation of both bodies.
  public static func + (left: UploadBody, right: UploadBody) -> UploadBody {
    UploadBody(parts: left.parts + right.parts, length: left.length + right.length)
  }

  /// Reads the whole body, for tests and for transports that cannot send it piece by piece.
  ///
  /// - Throws: ``TransportError`` `unreadableBody`.
  public func bytes() throws(TransportError) -> [UInt8] {
    var reader = UploadReader(self)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = try reader.read(into: &piece)
      if count == 0 { return bytes }
      bytes.append(contentsOf: piece[..<count])
    }
  }
}

/// The size, never the content or the names of files.
extension UploadBody: CustomStringConvertible {
  public var description: String { "\(length) bytes" }
}

/// Reads an ``UploadBody`` from its start to its end, once.
struct UploadReader {
  private var rest: ArraySlice<UploadBody.Part>
  private var file: OpenFile?
  /// Bytes that a source returned and that are not in a buffer yet.
  private var piece: ArraySlice<UInt8> = []
  /// The number of bytes of the current part that were read.
  private var offset: Int64 = 0

  init(_ body: UploadBody) { rest = body.parts[...] }

  /// Reads the next bytes into `buffer`, and returns their number; 0 at the end.
  ///
  /// - Throws: ``TransportError`` `unreadableBody`, also if a file became shorter.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
    while let part = rest.first {
      let count =
        switch part {
        case .bytes(let bytes): take(bytes, into: buffer)
        case .file(let url, let length): try take(url, length, into: buffer)
        case .source(let source, let length): try take(source, length, into: buffer)
        }
      if count > 0 { return count }
      rest.removeFirst()
      file = nil
      piece = []
      offset = 0
    }
    return 0
  }

  mutating func read(into bytes: inout [UInt8]) throws(TransportError) -> Int {
    var result: Result<Int, TransportError> = .success(0)
    bytes.withUnsafeMutableBytes { buffer in
      do throws(TransportError) {
        result = .success(try read(into: buffer))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }

  private mutating func take(_ bytes: [UInt8], into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(bytes.count - Int(offset), buffer.count)
    bytes[Int(offset)..<Int(offset) + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
    offset += Int64(count)
    return count
  }

  private mutating func take(
    _ source: UploadBody.Source, _ length: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransportError) -> Int {
    let left = length - offset
    guard left > 0, !buffer.isEmpty else { return 0 }
    if piece.isEmpty {
      // Larger than some buffers, so that an encrypted chunk is decrypted once.
      let wanted = Int(min(left, 65_536))
      do {
        piece = try source.read(wanted, offset)[...].prefix(wanted)
      } catch {
        throw TransportError(
          .unreadableBody, "The body of the request cannot be read: \(error)", cause: error)
      }
      guard !piece.isEmpty else {
        throw TransportError(
          .unreadableBody, "The body of the request ended after \(offset) of \(length) bytes.")
      }
    }
    let count = min(piece.count, buffer.count)
    piece.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
    piece = piece.dropFirst(count)
    offset += Int64(count)
    return count
  }

  private mutating func take(
    _ url: URL, _ length: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransportError) -> Int {
    let wanted = Int(min(length - offset, Int64(buffer.count)))
    guard wanted > 0 else { return 0 }
    do throws(FileFailure) {
      let file: OpenFile
      if let open = self.file { file = open } else { file = try OpenFile.reading(url) }
      self.file = file
      let count = try file.read(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
      guard count > 0 else {
        throw FileFailure("sent, since it became shorter", url.path, errno: EIO)
      }
      offset += Int64(count)
      return count
    } catch {
      throw TransportError(.unreadableBody, "\(error).", cause: error)
    }
  }
}
