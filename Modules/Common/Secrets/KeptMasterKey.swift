#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The master key of a folder, stored by one of several keepers. The folder records which one.
///
/// A folder without secrets gets its key from the first available keeper, and uses only that keeper
/// from then on. If that keeper is locked, unavailable or not in the list, calls throw; a new key
/// is never created. The record is the file `keys.json`:
/// `{"version": 1, "keeper": name, "leaving": name of the former one while a move continues}`.
/// Without it, as in folders of earlier versions or after its loss, all keepers are tried, and the
/// first key that one of them has is used.
///
/// ```swift
/// let key = KeptMasterKey(
///   in: folder, keepers: [desktop, KeyFile(folder.appending(path: "master.key"))])
/// let secrets = FileSecretStore(in: folder, masterKey: key)
/// try key.move(to: "file")
/// ```
public struct KeptMasterKey: MasterKeyProvider {
  let folder: URL
  /// All keepers, those of new folders first.
  let keepers: [any MasterKeyKeeper]
  private let candidates: ArraySlice<any MasterKeyKeeper>
  private let patience: Duration

  /// Creates the master key of a folder with its possible keepers. Reads nothing yet.
  ///
  /// - Parameters:
  ///   - keepers: In the order in which a new folder tries them; their names differ. A keeper that
  ///     is unavailable in the session (`noSessionBus`) is skipped, with a line in the log.
  ///   - others: Further keepers that an existing folder may use; a new folder never chooses one of
  ///     them.
  ///   - patience: The maximum time for which a change waits for another process. Default: 5
  ///     seconds.
  public init(
    in folder: URL, keepers: [any MasterKeyKeeper], others: [any MasterKeyKeeper] = [],
    patience: Duration = .seconds(5)
  ) {
    let all = keepers + others
    precondition(
      Set(all.map(\.name)).count == all.count && !keepers.isEmpty,
      "keepers \(all.map(\.name)) do not have different names")
    self.folder = folder
    self.keepers = all
    candidates = all.prefix(keepers.count)
    self.patience = patience
  }

  /// The protection of the key; before there is a key, that of the first keeper.
  public var protection: SecretProtection {
    let name = (try? keeperName()) ?? nil
    return (keepers.first { $0.name == name } ?? keepers[0]).protection
  }

  /// Returns the name of the keeper that the folder records; nil if it records none.
  ///
  /// - Throws: ``SecretStoreError`` `corrupt`, `unknownFormat`, `inputOutput`.
  public func keeperName() throws(SecretStoreError) -> String? { try record()?.keeper }

  public func masterKey(mayCreate: Bool) throws(SecretStoreError) -> MasterKey {
    let before = try record()
    do {
      if let key = try key(of: before) { return key }
    } catch {
      // A move in another process may have taken the key away from under this.
      guard try record() != before else { throw error }
      return try masterKey(mayCreate: mayCreate)
    }
    // The key may have moved there and back between the two looks. Under the lock of moves it cannot.
    return try whileLocked { () throws(SecretStoreError) in
      let record = try record()
      if let key = try key(of: record) { return key }
      guard mayCreate else {
        throw SecretStoreError(
          .missingMasterKey,
          "The master key of \(folder.path) is missing: \(record.map { "'\($0.keeper)' has" } ?? "no keeper has") none. "
            + "Restore it from a backup. No new key is created while secrets exist.")
      }
      return try createLocked()
    }
  }

  /// The key according to a record; nil if it certainly does not exist.
  private func key(of record: KeyRecord?) throws(SecretStoreError) -> MasterKey? {
    if let record { return try keeper(named: record.keeper).load() }
    return try unrecordedKeeper()?.key
  }

  /// Returns the name of the keeper that has the key; nil if there is no key yet.
  ///
  /// - Throws: ``SecretStoreError`` as ``masterKey(mayCreate:)``.
  public func currentKeeperName() throws(SecretStoreError) -> String? {
    if let name = try keeperName() { return name }
    return try unrecordedKeeper()?.keeper.name
  }

  /// The first keeper that has a key, where no record says which it is.
  func unrecordedKeeper() throws(SecretStoreError) -> (keeper: any MasterKeyKeeper, key: MasterKey)?
  {
    var failure: SecretStoreError?
    for keeper in keepers {
      do {
        if let key = try keeper.load() { return (keeper, key) }
      } catch {
        // The key may be there, so "none" would be a guess. A desktop's service that this session lacks was not
        // chosen in it, or the record would say so.
        if error.code != .noSessionBus { failure = failure ?? error }
      }
    }
    if let failure { throw failure }
    return nil
  }

  func keeper(named name: String) throws(SecretStoreError) -> any MasterKeyKeeper {
    guard let keeper = keepers.first(where: { $0.name == name }) else {
      throw SecretStoreError(
        .otherKeeper,
        "The master key of \(folder.path) is kept by '\(name)', which this program was not given. Name that keeper, "
          + "or move the key with a program that has it.")
    }
    return keeper
  }

  /// Chooses a keeper for a folder without secrets and makes the key. Under the lock.
  private func createLocked() throws(SecretStoreError) -> MasterKey {
    if let record = try record() {
      let keeper = try keeper(named: record.keeper)
      if let key = try keeper.load() { return key }
      return try create(in: keeper)
    }
    if let found = try unrecordedKeeper() {
      try write(KeyRecord(keeper: found.keeper.name))
      return found.key
    }
    var failure: SecretStoreError?
    for keeper in candidates {
      do {
        // First whether it can be reached: a record of one that cannot would bind the folder to it.
        if let key = try keeper.load() { return key }
        try write(KeyRecord(keeper: keeper.name))
        return try createOrForgetRecord(in: keeper)
      } catch {
        guard error.code == .noSessionBus else { throw error }
        failure = failure ?? error
        SalesforceLogger.logger(forComponent: "SalesforceSDKCommon").info(
          "'\(keeper.name)' cannot keep the master key here: \(error)")
      }
    }
    throw failure ?? SecretStoreError(.otherKeeper, "There is no keeper for the master key.")
  }

  /// Makes the key. If that fails, as with a refused passphrase, no record binds the folder to the keeper; a key that was
  /// stored all the same is found without one.
  private func createOrForgetRecord(
    in keeper: any MasterKeyKeeper
  ) throws(SecretStoreError) -> MasterKey {
    do {
      return try create(in: keeper)
    } catch {
      do throws(FileFailure) {
        try file.remove()
      } catch let failure {
        SalesforceLogger.logger(forComponent: "SalesforceSDKCommon").warning(
          "\(file.path) names '\(keeper.name)', which has no key: \(failure)")
      }
      throw error
    }
  }

  private func create(in keeper: any MasterKeyKeeper) throws(SecretStoreError) -> MasterKey {
    let key = MasterKey.random()
    try keeper.keep(key)
    return key
  }

  // MARK: The record

  var file: DurableFile { KeyRecord.file(in: folder) }

  func record() throws(SecretStoreError) -> KeyRecord? { try KeyRecord(in: folder) }

  func write(_ record: KeyRecord) throws(SecretStoreError) { try record.write(in: folder) }

  /// Takes the lock of choices and moves. The holder of the secret store's lock may take it, but
  /// not the reverse.
  func lock() throws(SecretStoreError) -> FileLock {
    let path = file.path + ".lock"
    let lock: FileLock?
    do {
      try file.makeFolder()
      lock = try FileLock.take(path, patience: patience)
    } catch {
      throw SecretStoreError(error)
    }
    guard let lock else {
      throw SecretStoreError(
        .locked, "Another process holds \(path). Try again when it has finished.")
    }
    return lock
  }

  private func whileLocked<R>(
    _ body: () throws(SecretStoreError) -> R
  ) throws(SecretStoreError) -> R {
    try lock().whileHeld(body)
  }
}
