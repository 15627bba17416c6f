import Foundation
import GRDB
import SalesforceSDKCommon

extension StoreMaintenance {
  /// Checks the tag of every page, SQLite's structures, and that index columns and full-text rows
  /// agree with the elements. What is wrong is in the report, not thrown, and stays as
  /// it is; what a crash left in the log is folded into the database.
  ///
  /// What ``SmartStore/alterSoup(named:indexSpecs:reIndexData:)`` did not index, as it was told, is a
  /// finding of kind ``StoreReport/Finding/Kind/notIndexed``, which is no damage.
  ///
  /// - Throws: ``SmartStoreError`` if the check could not be made: `keyMissing`, `keyLocked`,
  ///   `wrongKey`, `corruptKeyFile`, `busyOtherProcess`, `io`.
  public func verify(_ encryption: StoreEncryption) throws(SmartStoreError) -> StoreReport {
    try checkExists()
    var report = StoreReport()
    let opening = StoreOpening(paths: paths, options: options)
    let lock = try opening.takeLock()
    try StoreLeftovers(paths).settle()
    // What the log holds is newer than the file; without one every page counts as it is, and is
    // looked at before opening, which may use free pages again.
    let hasLog = DurableFile(path: paths.log).exists
    if !hasLog { try checkPages(encryption, into: &report) }
    let database: StoreDatabase
    do {
      database = try opening.open(encryption, lock: lock)
    } catch  where error.code == .corrupt || error.code == .notADatabase {
      report.add(.init(kind: .structure, detail: error.message))
      if hasLog { try checkPages(encryption, into: &report) }
      return report
    }
    do throws(SmartStoreError) {
      let files = ExternalFiles(
        database: paths.database, sealer: database.sealed.map { ExternalFileSealer(store: $0) })
      try files.settle(with: database)
      try database.verify(
        into: &report, diagnostics: StoreDiagnostics(SmartStoreOptions()), files: files,
        checksPages: hasLog || database.sealed == nil)
    } catch {
      // The failure of the check is the one to tell.
      try? database.close()
      throw error
    }
    try database.close()
    return report
  }

  /// Checks the pages of a store that nobody has open.
  private func checkPages(
    _ encryption: StoreEncryption, into report: inout StoreReport
  ) throws(SmartStoreError) {
    guard case .encrypted(let provider) = encryption else { return }
    let keys = try StoreKeyring.open(paths, provider: provider)
    do {
      try PageVerifier.check(paths.database, keys: keys, cipher: options.cipher, into: &report)
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }
}

extension StoreDatabase {
  /// Checks the store over its writing connection. Readers go on; writers wait.
  ///
  /// - Parameter checksPages: Whether the pages of the file were not looked at yet.
  func verify(
    into report: inout StoreReport, diagnostics: StoreDiagnostics, files: ExternalFiles,
    checksPages: Bool = true
  ) throws(SmartStoreError) {
    var found = report
    defer { report = found }
    checkDamagedLogs(into: &found)
    do {
      try writer.writeWithoutTransaction { database in
        checkpoints?.waitUntilIdle()
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
        if checksPages { try PageVerifier.check(database, into: &found) }
        // Without a transaction: a page that cannot be read would end it, and the check with it.
        // This connection alone writes, so that nothing changes between the statements.
        let version = try SoupCatalog.schemaVersion(database)
        let hasSoups = try database.tableExists(MetaTable.attributes)
        let access = StoreAccess(
          database,
          catalog: try hasSoups
            ? SoupCatalog.load(database, schemaVersion: version)
            : SoupCatalog(schemaVersion: version, soups: [:]),
          diagnostics: diagnostics, isSingleCall: false, files: files)
        try SoupVerifier.check(access, into: &found)
      }
    } catch {
      let failure = SmartStoreError(storage: error, at: url.path)
      guard failure.code == .corrupt else { throw failure }
      found.add(.init(kind: .structure, detail: failure.message))
    }
  }

  /// The copies that openings made of damaged logs: what is in them is not in the database.
  private func checkDamagedLogs(into report: inout StoreReport) {
    for copy in StorePaths(directory: url.deletingLastPathComponent()).damagedLogs {
      report.add(
        .init(
          kind: .log,
          detail: "the log was damaged outside the store, and its last transactions are lost; "
            + "\(copy) is what was found of it"))
    }
  }
}

extension ExternalFiles {
  /// Brings the files to the state that the database knows.
  func settle(with database: StoreDatabase) throws(SmartStoreError) {
    do {
      try recover(at: try database.writer.read { try StoreAccess.externalSequence($0) })
    } catch {
      throw SmartStoreError(storage: error, at: root)
    }
  }
}
