import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// The part of a download that is here already, in the folder of its destination: the bytes in
/// `NAME.part`, and in `NAME.part.json` what they are a part of.
///
/// A part is resumed only if the server names the same version of the same resource.
final class PartialDownload: Sendable {
  /// The version of the file that the bytes belong to.
  struct Origin: Equatable {
    /// The SHA-256 of account and address, so that the address itself is not kept.
    var resource: String
    /// The server's name for this version: an entity tag, or the date of its last change.
    var validator: String
  }

  let destination: URL
  private let part: URL
  private let note: DurableFile
  /// Held for as long as the download, so that no other download writes the same file.
  private let lock: FileLock

  /// Locks the partial file of a destination, so that no other download writes it.
  ///
  /// - Throws: ``RestError`` `busyFile` or `unwritableFile`.
  init(to destination: URL) throws(RestError) {
    self.destination = destination
    part = destination.appendingPathExtension("part")
    note = DurableFile(destination.appendingPathExtension("part.json"))
    do throws(FileFailure) {
      try note.makeFolder()
      guard let lock = try FileLock.take(part.path) else {
        throw FileFailure("taken", part.path, errno: EBUSY)
      }
      self.lock = lock
      // A file of another user is neither resumed nor written to.
      _ = try OpenFile.appending(part)
    } catch {
      throw RestError(download: error)
    }
  }

  /// The number of stored bytes of `resource`, and their version; `nil` if there are none that can be
  /// resumed.
  func state(of resource: String) throws(RestError) -> (bytes: Int64, validator: String)? {
    do throws(FileFailure) {
      guard let text = try note.read(limit: 65_536), let json = try? JSONSlice(parsing: text),
        json["resource"]?.string == resource, let validator = json["validator"]?.string,
        let size = try DurableFile(part).size(), size > 0
      else { return nil }
      return (Int64(size), validator)
    } catch {
      throw RestError(download: error)
    }
  }

  /// Starts over: an empty part of `origin`, or of a resource that cannot be resumed later.
  func restart(as origin: Origin?) throws(RestError) -> OpenFile {
    do throws(FileFailure) {
      // The note goes first and comes last: it never speaks of bytes that are not its own.
      try note.remove()
      let file = try OpenFile.appending(part)
      try file.truncate(to: 0)
      if let origin {
        var text = JSONWriter()
        text.beginObject()
        text.text("resource", origin.resource)
        text.text("validator", origin.validator)
        text.endObject()
        try note.replace(with: text.bytes)
      }
      return file
    } catch {
      throw RestError(download: error)
    }
  }

  /// Resumes after the stored bytes.
  func goOn() throws(RestError) -> OpenFile {
    do throws(FileFailure) {
      return try OpenFile.appending(part)
    } catch {
      throw RestError(download: error)
    }
  }

  /// The part is the whole: puts it in its place, where a reader sees the former file or this one.
  func finish(_ file: OpenFile) throws(RestError) {
    do throws(FileFailure) {
      try file.sync()
      try note.remove()
      try DurableFile(part).move(to: destination)
    } catch {
      throw RestError(download: error)
    }
  }

  /// Removes a part that cannot be resumed.
  func drop() {
    try? note.remove()
    try? DurableFile(part).remove()
  }

  /// Removes a part into which nothing was written.
  func dropIfEmpty() {
    if (try? DurableFile(part).size()) == 0 { drop() }
  }
}

extension RestError {
  /// The error for a failed step of work on a downloaded file.
  init(download failure: FileFailure, fileID: String = #fileID, line: Int = #line) {
    self.init(
      failure.errno == EBUSY ? .busyFile : .unwritableFile, "\(failure).", cause: failure,
      fileID: fileID, line: line)
  }
}
