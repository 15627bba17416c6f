import Foundation
import SalesforceSDKCommon

/// The paths of the files of one store, all in its folder.
struct StorePaths: Sendable {
  let directory: String
  /// The key file, with the wrapped data-encryption keys.
  var keyFile: String
  /// The identity of the store.
  let identity: StoreIdentity

  init(directory: URL, identity: StoreIdentity = StoreIdentity()) {
    self.identity = identity
    // SQLite resolves links before it opens a file; the VFS compares SQLite's paths with these.
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
  /// The anchor of the write-ahead log (WAL); only for an encrypted store.
  var anchor: String { database + "-anchor" }
  /// Shared by the processes that write, or locked by one that writes alone; empty.
  var lock: String { directory + "/store.lock" }
  /// Locked while a process opens the store for writing, and while one keeps the others out; empty.
  var opening: String { directory + "/store.opening" }
  /// Locked for each transaction and checkpoint; names the process that wrote last.
  var turn: String { directory + "/store.turn" }
  /// Locked by the process whose turn is next; names it if it had to wait.
  var queue: String { directory + "/store.queue" }
  /// The files that are only there to be locked by writers.
  var locks: [String] { [lock, opening, turn, queue] }
  /// Shared by those who only read, so that the files are not exchanged under them; empty.
  var readers: String { directory + "/store.readers" }
  /// An empty file, created once the database exists, which distinguishes a lost database from one
  /// that was never created.
  var created: String { directory + "/store.created" }

  /// Returns the path of a copy of a damaged log; numbers begin with 1.
  func damagedLog(_ number: Int) -> String { "\(log).damaged-\(number)" }
  /// The existing copies of damaged logs.
  var damagedLogs: [String] {
    Array((1...).lazy.map(damagedLog).prefix { DurableFile(path: $0).exists })
  }

  /// The maximum time to wait for the lock. A child process has a copy of the lock until it
  /// executes its program, even after the store was closed here.
  static let lockPatience: Duration = .milliseconds(500)

  // Files during maintenance

  /// The key file of the database if the database is encrypted; unused if it is plaintext.
  var pendingKeyFile: String { directory + "/store.key.pending" }
  /// The encrypted copy of a plaintext database.
  var encrypted: String { database + ".encrypted" }
  /// The plaintext copy of an encrypted database.
  var decrypted: String { database + ".decrypted" }
  /// The copy of an encrypted database under its new data-encryption key.
  var reencrypted: String { database + ".reencrypted" }
  /// A plaintext copy of a plaintext database, with space for tags.
  var exported: String { database + ".exported" }

  /// Copies, which are not valid until they replace the database.
  var copies: [String] { [encrypted, decrypted, reencrypted, exported] }
}
