import Foundation
import SalesforceSDKCommon

/// Copies of a write-ahead log (WAL) that is about to be overwritten. A WAL may be of any size, so
/// it is copied in pieces, without the ranges that were never written.
enum WALCopy {
  private static let pieceSize = 1 << 20

  /// Copies the WAL at `path`, up to the last written byte. The copy is on disk on return.
  static func make(of path: String, at place: String) throws(FileFailure) {
    let new = place + ".new"
    // A file that a crash left, or another user created, is never written to.
    unlink(new)
    do throws(FileFailure) {
      let source = try PageFile(reading: path)
      let target = try PageFile(creating: new)
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
      defer { piece.deallocate() }
      guard let start = piece.baseAddress else { return }
      var offset = 0
      while let data = source.nextData(from: offset) {
        let count = try source.read(pieceSize, at: data, into: start)
        if count == 0 { break }
        try target.write(count, at: data, from: start)
        offset = data + count
      }
      try target.sync()
    } catch {
      unlink(new)
      throw error
    }
    try DurableFile(path: new).move(to: URL(fileURLWithPath: place))
  }

  /// Whether `copy` is a copy of the present WAL at `path`.
  static func isSame(_ copy: String, as path: String) throws(FileFailure) -> Bool {
    let first = try PageFile(reading: path)
    let second = try PageFile(reading: copy)
    let size = try second.size()
    let pieces = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * pieceSize, alignment: 16)
    defer { pieces.deallocate() }
    guard let start = pieces.baseAddress else { return false }
    var offset = 0
    while offset < size {
      guard let data = second.nextData(from: offset) else { break }
      // Ranges that the copy lacks, the WAL must lack too.
      if let other = first.nextData(from: offset), other < data { return false }
      let count = try first.read(pieceSize, at: data, into: start)
      let other = try second.read(pieceSize, at: data, into: start + pieceSize)
      guard count == other, memcmp(start, start + pieceSize, count) == 0 else { return false }
      if count == 0 { break }
      offset = data + count
    }
    return first.nextData(from: offset) == nil
  }
}
