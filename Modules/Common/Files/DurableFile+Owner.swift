#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Other users who may write to a folder may exchange every file in it, whatever the modes of the files.

extension DurableFile {
  /// The users who may enter a folder with this user's data.
  package enum Access: Sendable {
    /// Other users may list the folder, as the caller created it.
    case listed
    /// Only this user.
    case owner
  }

  /// Creates a folder for this user's data, and those above it, unless they exist.
  ///
  /// - Throws: ``FileFailure``, also as ``checkFolder(_:_:)``.
  package static func makeOwnFolder(_ path: String) throws(FileFailure) {
    try makeFolder(path)
    try checkFolder(path)
  }

  /// Makes the folder of the file, as ``makeOwnFolder(_:)``.
  package func makeOwnFolder() throws(FileFailure) { try Self.makeOwnFolder(folder) }

  /// Checks the folder of the file, as ``checkFolder(_:_:)``.
  package func checkFolder() throws(FileFailure) { try Self.checkFolder(folder) }

  /// Refuses a folder in which other users may exchange files. One that does not exist is accepted.
  ///
  /// - Parameter access: Who may enter the folder. Default: other users may list it.
  /// - Throws: ``FileFailure`` with `EPERM` for a folder, or a symbolic link to it, of another user than this one
  ///   or root, and for a folder whose mode lets other users do more than `access` says.
  package static func checkFolder(
    _ path: String, _ access: Access = .listed
  ) throws(FileFailure) {
    var link = stat()
    var status = stat()
    guard lstat(path, &link) == 0, stat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return }
      throw FileFailure("examined", path, errno: errno)
    }
    for found in [link, status] where found.st_uid != geteuid() && found.st_uid != 0 {
      throw FileFailure(
        "used, since it belongs to another user, who may change what is in it", path, errno: EPERM)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return }
    let refused: mode_t = access == .owner ? 0o077 : 0o022
    guard status.st_mode & refused == 0 else {
      throw FileFailure(
        "used, since other users may \(access == .owner ? "enter it" : "change what is in it") "
          + "until 'chmod 700' ends that", path, errno: EPERM)
    }
  }
}
