import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Moves, lists and removes files and folders by path.
enum FileTree {
  /// Whether there is something at `path`. What cannot be looked at is not taken for missing.
  static func exists(_ path: String) throws(FileFailure) -> Bool {
    try DurableFile(path: path).size() != nil
  }

  /// Gives a file or folder another place, replacing a file that is there. The new name is on disk
  /// when its folder was synced.
  ///
  /// - Returns: False if there is nothing at `path`.
  static func move(_ path: String, to place: String) throws(FileFailure) -> Bool {
    if rename(path, place) == 0 { return true }
    let reason = errno
    if reason == ENOENT, try !exists(path) { return false }
    throw FileFailure("moved", path, errno: reason)
  }

  /// There is no file where one should be.
  static func missing(_ path: String) -> FileFailure {
    FileFailure("found", path, errno: ENOENT)
  }

  /// The names in a folder; none if it is missing.
  static func names(in folder: String) throws(FileFailure) -> [String] {
    guard try exists(folder) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw FileFailure("listed", folder, errno: EIO)
    }
  }

  /// Removes a file or a folder with all that is in it; a missing one is no failure.
  static func remove(_ path: String) throws(FileFailure) {
    guard try exists(path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw FileFailure("removed", path, errno: EIO)
    }
  }
}
