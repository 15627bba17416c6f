import SalesforceSDKCommon

/// Whether the write-ahead log (WAL) of a store is the one that its anchor names. Nothing is written.
struct WALCheck {
  /// What does not fit.
  enum Fault: Equatable {
    /// There is no WAL, or an empty one.
    case missing
    /// The WAL ends, or was changed, before the last transaction that was on disk.
    case cut
    /// The WAL is an older one, or another store's.
    case foreign
    /// There is no anchor, though the database had one.
    case anchorMissing
    /// The anchor was changed, or is another store's.
    case anchorDamaged
    /// The anchor is older than the database.
    case anchorOutdated
    /// The database is older than the anchor.
    case databaseOutdated
  }

  /// Nil if there is none of this store.
  let anchor: WALAnchor?
  let log: CommittedWAL
  private let hasAnchorFile: Bool

  /// Reads anchor and WAL.
  ///
  /// The store's writer may be at work in another process: what it changes at the same time is read again.
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

  /// What does not fit, if anything.
  ///
  /// - Parameter databaseGeneration: What the first page of the database names; nil if it is not known.
  func fault(databaseGeneration: UInt64?) -> Fault? {
    let generation = max(databaseGeneration ?? 0, log.generation)
    guard let anchor else {
      // A store from before there were anchors has none. One that a crash left half made counts for none.
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
  /// What was found, as a clause.
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
