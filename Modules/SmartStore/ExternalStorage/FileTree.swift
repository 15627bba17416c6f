import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Moves, lists and removes files and folders by path. A symbolic link at the end of a path is never followed: it
/// may lead to files that are not the store's.
enum FileTree {
  private enum Kind { case nothing, folder, other }

  /// What is at `path`. What cannot be looked at is not taken for missing.
  private static func kind(of path: String) throws(FileFailure) -> Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let reason = errno
      if reason == ENOENT || reason == ENOTDIR { return .nothing }
      throw FileFailure("examined", path, errno: reason)
    }
    return status.st_mode & S_IFMT == S_IFDIR ? .folder : .other
  }

  /// Whether there is something at `path`, be it a link that leads nowhere.
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

  /// Removes a file or a folder with all that is in it; a missing one is no failure. Of a link, the link alone.
  static func remove(_ path: String) throws(FileFailure) {
    guard try exists(path) else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      throw FileFailure("removed", path, errno: EIO)
    }
  }

  /// Removes a file, which need not be there; never a folder.
  static func removeFile(_ path: String) throws(FileFailure) {
    guard unlink(path) != 0 else { return }
    let reason = errno
    guard reason == ENOENT else { throw FileFailure("removed", path, errno: reason) }
  }

  /// Removes a folder if it is empty; otherwise it stays.
  static func removeIfEmpty(_ folder: String) { rmdir(folder) }
}
