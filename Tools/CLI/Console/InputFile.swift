import Foundation
import SalesforceSDKCommon

/// A file that the user named; it may also be a pipe.
enum InputFile {
  private static let pieceBytes = 1 << 20

  /// Reads all of it, but no more than a bound: a file says nothing of its size, and `/dev/zero` has no end.
  ///
  /// - Parameter maxBytes: Default: 1 GiB.
  /// - Throws: ``CommandFailure`` `unreadable`, naming the file.
  static func read(_ url: URL, maxBytes: Int = DurableFile.maxBytes) throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
      while size <= maxBytes, bytes.count <= maxBytes,
        let piece = try file.read(upToCount: pieceBytes), !piece.isEmpty
      {
        bytes += piece
      }
      guard size <= maxBytes, bytes.count <= maxBytes else {
        throw CommandFailure("unreadable", "\(url.path) has more than \(maxBytes) bytes.")
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("unreadable", "Cannot read \(url.path). Does the file exist?")
    }
    return bytes
  }

  /// Reads all of it as one JSON document.
  ///
  /// - Throws: ``CommandFailure`` `unreadable` or `invalidData`, naming the file.
  static func json(_ url: URL) throws -> JSONSlice {
    let bytes = try read(url)
    do {
      return try JSONSlice(parsing: bytes)
    } catch {
      throw CommandFailure("invalidData", "\(url.path) is not valid JSON: \(error.message)")
    }
  }
}
