/// How a store's database is opened. The defaults suit an app with one store in use.
package struct StoreDatabaseOptions: Sendable {
  /// What the connections may do.
  package enum Access: Sendable {
    /// The one writer. A second one fails with `busyOtherProcess`.
    case readWrite
    /// Reads what another process writes, and changes nothing.
    case readOnly
  }

  package var access: Access = .readWrite
  /// Page cache of the writing connection. An opened page costs some microseconds more than a read
  /// one, but of a large soup few are needed twice: 64 MB were no faster in 100,000 upserts. It grows
  /// only as pages are used.
  package var writerCacheBytes = 24 << 20
  /// Page cache of each reading connection but the first.
  package var readerCacheBytes = 16 << 20
  /// Page cache of the first reading connection, which does most of the reading: for as long as reads
  /// do not overlap it does all of it.
  package var mainReaderCacheBytes = 96 << 20
  package var maximumReaderCount = 4
  /// Pages in the WAL after which a commit copies them to the database: 32 MB. A page that changes
  /// often is copied once, so a long log saves work; it takes disk, and time to read after a crash.
  package var checkpointPages = 8000
  /// Bytes written between two background checkpoints: a quarter of the WAL's usual length, so
  /// that at most as much is left for the writer. Each waits for the disk twice.
  package var checkpointInterval = 8 << 20
  /// Seconds for which a connection waits while one of another process recovers the WAL or closes.
  package var busyTimeout = 5.0
  /// How long to wait for the write lock.
  package var lockPatience = StorePaths.lockPatience
  /// Whether triggers of the schema run. No store has any; tests make statements fail with them.
  package var runsTriggers = false
  /// Whether a plaintext store that is opened as an encrypted one becomes one (SS-13).
  package var encryptsPlaintext = false
  /// Encrypts the pages.
  package var cipher: any StoreCipher = AESGCMCipher()
  /// The number of pages that one data-encryption key encrypts: nonces are random, and GCM is safe for 2^32
  /// of them. The rest is for the transaction that reaches the limit.
  package var encryptionLimit: UInt64 = (1 << 32) - (1 << 24)
  /// The VFS of encrypted stores; another one stands over a faulty disk.
  package var vfs: EncryptedVFS? = .standard

  package init() {}
}
