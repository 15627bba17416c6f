import SalesforceSDKCommon

/// A check whether the write-ahead log (WAL) of a store is the one that its anchor identifies. It
/// writes nothing.
struct WALCheck {
  /// A mismatch of WAL, anchor and database.
  enum Fault: Equatable {
    /// The WAL is missing or empty.
    case missing
    /// The WAL was truncated or changed before the last transaction that was on disk.
    case cut
    /// The WAL is an older one, or another store's.
    case foreign
    /// The anchor is missing, but the database had one.
    case anchorMissing
    /// The anchor was changed, or is another store's.
    case anchorDamaged
    /// The anchor is older than the database.
    case anchorOutdated
    /// The database is older than the anchor.
    case databaseOutdated
  }

  /// The anchor; nil if this store has none.
  let anchor: WALAnchor?
  let log: CommittedWAL
  private let hasAnchorFile: Bool

  /// Reads anchor and WAL.
  ///
  /// The store's writer may be running in another process: files that it changes at the same time
  /// are read again.
  init(
    _ paths: StorePaths, keys: StoreKeys, cipher: any StoreCipher
  ) throws(FileFailure) {
    let file = DurableFile(path: paths.anchor)
    var bytes = try file.read(limit: AnchorFormat.size)
    var rounds = 0
    while true {
      let anchor = bytes.flatMap { AnchorFormat.anchor(in: $0, keys: keys, cipher: cipher) }
      let log = try CommittedWAL(
        paths.log, keys: keys, cipher: cipher, naming: anchor?.last?.frames)
      let found = WALCheck(anchor: anchor, log: log, hasAnchorFile: bytes != nil)
      let again = try file.read(limit: AnchorFormat.size)
      rounds += 1
      // The anchor changes before a WAL begins or ends, and after it grew.
      if found.fault(databaseGeneration: nil) == nil || again == bytes || rounds == 50 {
        self = found
        return
      }
      bytes = again
    }
  }

  private init(anchor: WALAnchor?, log: CommittedWAL, hasAnchorFile: Bool) {
    self.anchor = anchor
    self.log = log
    self.hasAnchorFile = hasAnchorFile
  }

  /// Returns the mismatch, if there is one.
  ///
  /// - Parameter databaseGeneration: The generation in the database's first page; nil if it is not
  ///   known.
  func fault(databaseGeneration: UInt64?) -> Fault? {
    let generation = max(databaseGeneration ?? 0, log.generation)
    guard let anchor else {
      // A store of an earlier version has no anchor. An anchor that a crash left incomplete is
      // ignored.
      return generation == 0 ? nil : hasAnchorFile ? .anchorDamaged : .anchorMissing
    }
    guard generation <= anchor.generation else { return .anchorOutdated }
    if let databaseGeneration, databaseGeneration < anchor.databaseGeneration {
      return .databaseOutdated
    }
    guard let salts = log.salts else { return anchor.isRequired ? .missing : nil }
    if let last = anchor.last, last.salts == salts { return log.named == last ? nil : .cut }
    if anchor.isRequired { return .foreign }
    // A WAL of which nothing can be read changes nothing.
    return salts == anchor.next || log.end == nil ? nil : .foreign
  }
}

extension WALCheck.Fault {
  /// The mismatch, as a clause of a message.
  var finding: String {
    switch self {
    case .missing:
      "the write-ahead log (WAL) is missing, and with it the transactions since the last checkpoint"
    case .cut:
      "the write-ahead log (WAL) was cut or changed outside the store, and its last transactions are missing"
    case .foreign:
      "the write-ahead log (WAL) is an older one or another store's, and the transactions since the last "
        + "checkpoint may be missing"
    case .anchorMissing:
      "the file that binds the write-ahead log (WAL) to the database is missing, so transactions may be missing"
    case .anchorDamaged:
      "the file that binds the write-ahead log (WAL) to the database was changed outside the store, so "
        + "transactions may be missing"
    case .anchorOutdated:
      "the file that binds the write-ahead log (WAL) to the database is older than the database, so "
        + "transactions may be missing"
    case .databaseOutdated:
      "the database is older than the file that binds the write-ahead log (WAL) to it, so transactions may be "
        + "missing"
    }
  }

  /// The error that opening the store throws.
  func error(_ paths: StorePaths) -> SmartStoreError {
    SmartStoreError(
      .corruptLog,
      "Cannot open the store at \(paths.directory): \(finding). Restore all files of the store from one "
        + "backup, or accept the loss with StoreMaintenance.acceptLostLog(_:) or 'fieldforce store "
        + "accept-loss'.")
  }
}
