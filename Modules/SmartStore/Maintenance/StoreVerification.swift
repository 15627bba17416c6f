import Foundation
import GRDB
import GRDBSQLite
import SalesforceSDKCommon

extension StoreMaintenance {
  /// Checks the tag of every page, SQLite's structures, and that index columns and full-text rows
  /// agree with the entries. Findings are returned in the report, not thrown. No file is changed:
  /// the write-ahead log (WAL) is read without a checkpoint. Interrupted maintenance is completed
  /// first, but only if all pages of the store are intact.
  ///
  /// Paths that ``SmartStore/alterSoup(named:indexSpecs:reIndexData:)`` left unindexed on request
  /// are findings of kind ``StoreReport/Finding/Kind/notIndexed``, which are not damage.
  ///
  /// - Throws: ``SmartStoreError`` if the check could not run: `keyMissing`, `keyLocked`,
  ///   `wrongKey`, `corruptKeyFile`, `busyOtherProcess`, `io`.
  public func verify(_ encryption: StoreEncryption) throws(SmartStoreError) -> StoreReport {
    try checkExists()
    let lock = try StoreOpening(paths: paths, options: options).takeLock()
    let report = try checkLocked(encryption)
    _ = consume lock
    return report
  }

  /// Checks a store that no other process can write to.
  func checkLocked(_ encryption: StoreEncryption) throws(SmartStoreError) -> StoreReport {
    var report = StoreReport()
    let sealed = try checkPages(encryption, into: &report)
    // Nothing is written before the pages are known to be intact.
    let isWhole = report.isClean
    if isWhole { try StaleStoreFiles(paths).recover() }
    paths.reportDamagedLogs(into: &report)
    do throws(SmartStoreError) {
      try checkContent(of: sealed, isWhole: isWhole, into: &report)
    } catch  where error.code == .corrupt || error.code == .notADatabase {
      report.add(.init(kind: .structure, detail: error.message))
    }
    return report
  }

  /// Checks pages and log in their files.
  ///
  /// - Returns: The store's keys; nil for a plaintext one.
  private func checkPages(
    _ encryption: StoreEncryption, into report: inout StoreReport
  ) throws(SmartStoreError) -> EncryptedStore? {
    guard case .encrypted(let provider) = encryption else {
      if DurableFile(path: paths.keyFile).exists {
        throw StoreOpening(paths: paths, options: options).encrypted()
      }
      return nil
    }
    let keys = try StoreKeyHierarchy.open(paths.withKeyFileOfDatabase(), provider: provider)
    let generation = try StaleStoreFiles(paths).generation()
    do {
      if let damage = try WALDamage.find(in: paths.log, keys: keys, cipher: options.cipher) {
        report.add(
          .init(
            kind: .log,
            detail: "the log was damaged outside the store, and \(damage.transactions) or more "
              + "transactions in it cannot be reached"))
      }
      let check = try WALCheck(paths, keys: keys, cipher: options.cipher)
      if let fault = check.fault(databaseGeneration: generation) {
        report.add(.init(kind: .log, detail: fault.finding))
      }
      try PageVerifier.check(
        paths.database, keys: keys, cipher: options.cipher, except: check.log.pages,
        into: &report)
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
    return EncryptedStore(keys: keys, cipher: options.cipher)
  }

  /// Checks the content of the pages: SQLite's structures and the soups.
  private func checkContent(
    of sealed: EncryptedStore?, isWhole: Bool, into report: inout StoreReport
  ) throws(SmartStoreError) {
    let session = StoreSession(lock: nil)
    defer { session.end() }
    var location = paths.database
    if let sealed, let vfs = options.vfs {
      location = vfs.uri(path: paths.database, token: session.register(sealed))
    }
    let hadLog = DurableFile(path: paths.log).exists
    let hadIndex = DurableFile(path: paths.index).exists
    let connection = try connect(location, sealed)
    let files = ExternalFiles(
      database: paths.database, encryptor: sealed.map { ExternalFileEncryptor(store: $0) })
    var found = report
    let result = Result { () throws in
      try connection.writeWithoutTransaction { database in
        if isWhole {
          try files.reconcile(at: try StoreAccess.externalSequence(database))
        } else {
          files.start(at: (try? StoreAccess.externalSequence(database)) ?? 0)
        }
        try SoupVerifier.check(
          database, diagnostics: StoreDiagnostics(SmartStoreOptions()), files: files, into: &found)
      }
    }
    report = found
    // The failure of the check is the one to report.
    let closing = Result { try connection.close() }
    // The check created them, and they are empty.
    if !hadLog { unlink(paths.log) }
    if !hadIndex { unlink(paths.index) }
    do {
      try result.get()
      try closing.get()
    } catch {
      throw SmartStoreError(storage: error, at: paths.database, header: sealed?.header)
    }
  }

  /// Opens a connection that may write, because the check of a full-text index requires it, but
  /// whose writes do not reach the files.
  private func connect(
    _ location: String, _ sealed: EncryptedStore?
  ) throws(SmartStoreError) -> DatabaseQueue {
    let opening = StoreOpening(paths: paths, options: options)
    do {
      do {
        return try connect(location, sealed, opening, isIsolated: true)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
        // Another process reads the store. Then the index of the log exists, and is correct.
        return try connect(location, sealed, opening, isIsolated: false)
      }
    } catch {
      if sealed == nil, try opening.isSealed() { throw opening.encrypted() }
      throw SmartStoreError(storage: error, at: paths.database, header: sealed?.header)
    }
  }

  private func connect(
    _ location: String, _ sealed: EncryptedStore?, _ opening: StoreOpening, isIsolated: Bool
  ) throws -> DatabaseQueue {
    var configuration = opening.configuration(for: sealed, readonly: false, isIsolated: isIsolated)
    configuration.journalMode = .default
    if isIsolated { configuration.busyMode = .immediateError }
    let connection = try DatabaseQueue(path: location, configuration: configuration)
    if !isIsolated {
      try connection.writeWithoutTransaction { try StoreConnection.keepLog(of: $0) }
    }
    return connection
  }
}

extension StorePaths {
  /// Returns these paths with the key file where interrupted maintenance left it: the pending key
  /// file belongs to an encrypted database that has no other.
  func withKeyFileOfDatabase() throws(SmartStoreError) -> StorePaths {
    guard !DurableFile(path: keyFile).exists, DurableFile(path: pendingKeyFile).exists,
      try StaleStoreFiles(self).header()?.kind == .store
    else { return self }
    var paths = self
    paths.keyFile = pendingKeyFile
    return paths
  }

  /// Reports the copies of damaged logs, whose content is not in the database.
  fileprivate func reportDamagedLogs(into report: inout StoreReport) {
    for copy in damagedLogs {
      report.add(
        .init(
          kind: .log,
          detail: "the log was damaged outside the store, and its last transactions are lost; "
            + "\(copy) is what was found of it"))
    }
  }
}

extension StoreDatabase {
  /// Checks the store with its writing connection. Readers continue; writers wait. Nothing is
  /// written.
  func verify(
    into report: inout StoreReport, diagnostics: StoreDiagnostics, files: ExternalFiles
  ) throws(SmartStoreError) {
    var found = report
    defer { report = found }
    let paths = StorePaths(directory: url.deletingLastPathComponent())
    paths.reportDamagedLogs(into: &found)
    do {
      try writer.writeWithoutTransaction { database in
        // Other processes wait for the turn, as this one's writers wait for the connection.
        try turn.run(on: database) {
          checkpoints?.waitUntilIdle()
          if let sealed { try checkLog(of: sealed, paths, into: &found) }
          let log = try sealed.map { sealed in
            try CommittedWAL(
              paths.log, keys: sealed.keys, cipher: sealed.cipher,
              after: StoreConnection.copiedFrames(of: database))
          }
          try PageVerifier.check(database, except: log?.pages ?? [], into: &found)
          try SoupVerifier.check(database, diagnostics: diagnostics, files: files, into: &found)
        }
      }
    } catch {
      let failure = SmartStoreError(storage: error, at: url.path)
      guard failure.code == .corrupt else { throw failure }
      found.add(.init(kind: .structure, detail: failure.message))
    }
  }
}

extension StoreDatabase {
  /// Checks whether the write-ahead log (WAL) in the folder is the one that this store writes to.
  private func checkLog(
    of sealed: EncryptedStore, _ paths: StorePaths, into report: inout StoreReport
  ) throws(FileFailure) {
    let check = try WALCheck(paths, keys: sealed.keys, cipher: sealed.cipher)
    // The anchor knows the database's generation, because this process wrote both.
    if let fault = check.fault(databaseGeneration: sealed.binding?.generation) {
      report.add(.init(kind: .log, detail: fault.finding))
    }
  }
}

extension SoupVerifier {
  /// Checks SQLite's structures and all soups with one connection.
  ///
  /// It uses no transaction, because a page that cannot be read would end it, and with it the
  /// check. Only this connection writes, so nothing changes between the statements.
  static func check(
    _ database: Database, diagnostics: StoreDiagnostics, files: ExternalFiles,
    into report: inout StoreReport
  ) throws {
    let version = try SoupCatalog.schemaVersion(database)
    let hasSoups = try database.tableExists(MetaTable.attributes)
    let access = StoreAccess(
      database,
      catalog: try hasSoups
        ? SoupCatalog.load(database, schemaVersion: version)
        : SoupCatalog(schemaVersion: version, soups: [:]),
      diagnostics: diagnostics, isSingleCall: false, files: files)
    try check(access, into: &report)
  }
}

extension ExternalFiles {
  /// Applies the database's last commit to the files.
  ///
  /// - Parameter sequence: The last commit in the database.
  func reconcile(at sequence: Int64) throws(SmartStoreError) {
    do {
      try recover(at: sequence)
    } catch {
      throw SmartStoreError(storage: error, at: root)
    }
  }

  /// Applies the database's last commit to the files.
  func reconcile(with database: StoreDatabase) throws(SmartStoreError) {
    do {
      try recover(at: try database.writer.read { try StoreAccess.externalSequence($0) })
    } catch {
      throw SmartStoreError(storage: error, at: root)
    }
  }
}
