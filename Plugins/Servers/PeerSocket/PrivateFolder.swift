import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A folder that no other user can enter.
package enum PrivateFolder {
  /// Makes the folder if it is missing, and checks that it is this user's alone.
  ///
  /// - Throws: ``PeerSocketError`` `unsafeFolder`, `notListening`.
  package static func prepare(_ path: String) throws(PeerSocketError) {
    if mkdir(path, 0o700) == 0 {
      // The mask of the process may take this user's own permissions. No other user gets any in between.
      chmod(path, 0o700)
    } else if errno != EEXIST {
      throw PeerSocketError(
        .notListening, "Cannot make the folder \(path): \(String(cString: strerror(errno))).")
    }
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid(), status.st_mode & 0o077 == 0
    else {
      throw PeerSocketError(
        .unsafeFolder,
        "Other users can enter \(path), or it is not this user's. Use a folder with the permissions 0700."
      )
    }
  }
}
