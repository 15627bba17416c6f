/// Options for opening a store's database. The defaults suit an app with one store in use.
package struct StoreDatabaseOptions: Sendable {
  /// The access of the connections.
  package enum Access: Sendable {
    /// Write access, for one process at a time. A second writer fails with `busyOtherProcess`.
    case readWrite
    /// Read access, while another process may write. Changes nothing.
    case readOnly
  }

  package var access: Access = .readWrite
  /// Whether other processes may have the store open for writing at the same time. Otherwise opening fails with
  /// `busyOtherProcess` while one has, and they fail while this one has.
  package var isShared = false
  /// The maximum time to wait for the transaction of another process.
  package var turnLimit: Duration = .seconds(30)
  /// The page cache of the writing connection, in bytes. Decrypting a page costs some microseconds,
  /// but few pages of a large soup are needed twice: 64 MB were no faster in 100,000 upserts.
  /// Memory is used only for cached pages.
  package var writerCacheBytes = 24 << 20
  /// The page cache of each reading connection except the first, in bytes.
  package var readerCacheBytes = 16 << 20
  /// The page cache of the first reading connection, in bytes. It does most of the reading: all of
  /// it, as long as reads do not overlap.
  package var mainReaderCacheBytes = 96 << 20
  package var maximumReaderCount = 4
  /// The number of pages in the WAL after which a commit checkpoints it: 32 MB. A page that changes
  /// often is copied once, so a long WAL saves work, but it uses disk space, and time to read after
  /// a crash.
  package var checkpointPages = 8000
  /// The number of bytes written between two background checkpoints: a quarter of the WAL's usual
  /// length, so that little is left for the writer. Each checkpoint waits for the disk twice.
  package var checkpointInterval = 8 << 20
  /// The time in seconds for which a connection waits while another process's connection recovers
  /// the WAL or closes.
  package var busyTimeout = 5.0
  /// The maximum time to wait for the write lock.
  package var lockPatience = StorePaths.lockPatience
  /// Whether triggers of the schema run. Stores have none; tests use them to make statements fail.
  package var runsTriggers = false
  /// Whether opening a plaintext store as an encrypted one encrypts it (SS-13).
  package var encryptsPlaintext = false
  /// The cipher of the pages.
  package var cipher: any StoreCipher = AESGCMCipher()
  /// The number of pages that one data-encryption key may encrypt. Nonces are random, and GCM is
  /// safe for 2^32 of them. The difference is a reserve for the transaction that reaches the limit.
  package var encryptionLimit: UInt64 = (1 << 32) - (1 << 24)
  /// The VFS of encrypted stores. Tests use one on a faulty disk.
  package var vfs: EncryptedVFS? = .standard

  package init() {}
}
