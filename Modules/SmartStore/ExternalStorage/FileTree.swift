import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Operations on files and folders by path. A symbolic link at the end of a path is never followed,
/// because it may lead to files of other programs.
enum FileTree {
  private enum Kind { case nothing, folder, other }

  /// Returns the kind of object at `path`. Throws if it cannot be examined, so that it does not
  /// count as missing.
  private static func kind(of path: String) throws(FileFailure) -> Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let reason = errno
      if reason == ENOENT || reason == ENOTDIR { return .nothing }
      throw FileFailure("examined", path, errno: reason)
    }
    return status.st_mode & S_IFMT == S_IFDIR ? .folder : .other
  }

  /// Whether there is an object at `path`, including a broken link.
  static func exists(_ path: String) throws(FileFailure) -> Bool {
    try kind(of: path) != .nothing
  }

  /// Whether there is a folder at `path`; false if there is nothing.
  ///
  /// - Throws: ``FileFailure`` with `ENOTDIR` for anything else, such as a symbolic link to a folder.
  static func isFolder(_ path: String) throws(FileFailure) -> Bool {
    switch try kind(of: path) {
    case .nothing: return false
    case .folder: return true
    case .other:
      throw FileFailure(
        "used, since it is a link or a file in the place of a folder; remove it", path,
        errno: ENOTDIR)
    }
  }

  /// Moves a file or folder, and replaces an existing file. The new name is on disk once its folder
  /// is synced.
  ///
  /// - Returns: False if there is nothing at `path`.
  static func move(_ path: String, to place: String) throws(FileFailure) -> Bool {
    if rename(path, place) == 0 { return true }
    let reason = errno
    if reason == ENOENT, try !exists(path) { return false }
    throw FileFailure("moved", path, errno: reason)
  }

  /// The error for a missing file.
  static func missing(_ path: String) -> FileFailure {
    FileFailure("found", path, errno: ENOENT)
  }

  /// Returns the names in a folder; an empty array if it does not exist.
  ///
  /// - Throws: ``FileFailure`` also for anything but a folder.
  static func names(in folder: String) throws(FileFailure) -> [String] {
    guard try isFolder(folder) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw FileFailure("listed", folder, errno: EIO)
    }
  }

  /// Removes a file, or a folder with its content. Succeeds if it does not exist. Of a link,
  /// removes only the link.
  static func remove(_ path: String) throws(FileFailure) {
    guard try exists(path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw FileFailure("removed", path, errno: EIO)
    }
  }

  /// Removes a file, never a folder. Succeeds if it does not exist.
  static func removeFile(_ path: String) throws(FileFailure) {
    guard unlink(path) != 0 else { return }
    let reason = errno
    guard reason == ENOENT else { throw FileFailure("removed", path, errno: reason) }
  }

  /// Removes a folder if it is empty.
  static func removeIfEmpty(_ folder: String) { rmdir(folder) }
}
