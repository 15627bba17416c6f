import Foundation

/// The files of one store, all in its folder.
struct StorePaths {
  let directory: String

  init(directory: URL) {
    // SQLite resolves links before it opens; the VFS compares its names with these.
    self.directory = directory.resolvingSymlinksInPath().path
  }

  /// The database.
  var database: String { directory + "/store.sqlite" }
  /// SQLite's write-ahead log.
  var log: String { database + "-wal" }
  /// The index of the log, rebuilt whenever it is missing.
  var index: String { database + "-shm" }
  /// The wrapped data keys.
  var keyFile: String { directory + "/store.key" }
  /// Locked by the one writer; empty.
  var lock: String { directory + "/store.lock" }
}
