import Foundation
import SalesforceSDKCommon

/// The files of one store, all in its folder.
struct StorePaths: Sendable {
  let directory: String
  /// The wrapped data-encryption keys.
  var keyFile: String
  /// Which store it is.
  let identity: StoreIdentity

  init(directory: URL, identity: StoreIdentity = StoreIdentity()) {
    self.identity = identity
    // SQLite resolves links before it opens; the VFS compares its names with these.
    self.directory = directory.resolvingSymlinksInPath().path
    keyFile = self.directory + "/store.key"
  }

  /// The folder.
  var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }
  /// The database.
  var database: String { directory + "/store.sqlite" }
  /// SQLite's write-ahead log.
  var log: String { database + "-wal" }
  /// The index of the WAL, rebuilt whenever it is missing.
  var index: String { database + "-shm" }
  /// What the write-ahead log (WAL) must hold; of an encrypted store alone.
  var anchor: String { database + "-anchor" }
  /// Locked by the one writer; empty.
  var lock: String { directory + "/store.lock" }
  /// Shared by those who only read, so that the files are not exchanged under them; empty.
  var readers: String { directory + "/store.readers" }
  /// Made once the database is there, to tell one that was lost from one that never was; empty.
  var created: String { directory + "/store.created" }

  /// The copies of logs that were found damaged, beginning with 1.
  func damagedLog(_ number: Int) -> String { "\(log).damaged-\(number)" }
  /// Those that are there.
  var damagedLogs: [String] {
    Array((1...).lazy.map(damagedLog).prefix { DurableFile(path: $0).exists })
  }

  /// How long to wait for the lock: a program that this process starts holds a copy of it until it
  /// runs, even after the store was closed here.
  static let lockPatience: Duration = .milliseconds(500)

  // While maintenance is under way

  /// The key file of the database, if that is encrypted, and of nothing, if it is plaintext.
  var pendingKeyFile: String { directory + "/store.key.pending" }
  /// The encrypted copy of a plaintext database.
  var encrypted: String { database + ".encrypted" }
  /// The plaintext copy of an encrypted database.
  var decrypted: String { database + ".decrypted" }
  /// The copy of an encrypted database under its new data-encryption key.
  var reencrypted: String { database + ".reencrypted" }
  /// A plaintext copy of a plaintext database, with room for tags.
  var exported: String { database + ".exported" }

  /// Copies that count for nothing until they take the database's place.
  var copies: [String] { [encrypted, decrypted, reencrypted, exported] }
}
