import Foundation
import SalesforceSDKCommon
public import SmartStore

extension SmartStore {
  /// Writes the unsynced content of the store into one encrypted bundle: the unsynced entries of
  /// all soups in upload order, with their base versions, and the marks of unacknowledged creates.
  ///
  /// The store is read from one snapshot and stays as it is. Call this before a logout that deletes
  /// unsynced records, or on a device without a working network. It needs memory for three times
  /// the unsynced entries.
  ///
  /// - Parameters:
  ///   - user: The user to whom the store belongs. A store of another user does not import the
  ///     bundle.
  ///   - registry: The targets that syncs of this store may name; they define the id and date
  ///     fields of soups.
  /// - Returns: The bundle, and the number of its entries.
  /// - Throws: ``SyncError`` `store`.
  public func exportRescue(
    for recipient: RescueRecipient, of user: RescueUser, registry: SyncTargetRegistry,
    environment: SyncEnvironment = SyncEnvironment()
  ) async throws -> (bundle: [UInt8], entries: Int) {
    try await SyncManager.storeErrors {
      let states = try await syncs()
      let uses = SoupSyncIndex(states, registry)
      var soups: [RescueBundle.Soup] = []
      for name in try await allSoupNames() where !MetadataSoup.isOwn(name) {
        let indexes = try await indices(forSoupNamed: name)
        guard indexes.contains(where: { $0.path == SyncKeys.local }) else { continue }
        soups.append(
          RescueBundle.Soup(
            name: name, indexes: indexes, names: uses.names(of: name),
            createFields: uses.createFields(of: name)))
      }
      let known = soups
      // Whatever the clock of this machine says, a create that another device has sent since is later.
      let sentAfter = ServerClock().past(environment.now())
      let entries = try await read { reader in
        var entries: [RescueBundle.Entry] = []
        for soup in known {
          entries += try RescueBundle.entries(of: soup, sentAfter: sentAfter, in: reader)
        }
        return entries
      }
      let used = Set(entries.map(\.soup))
      let bundle = RescueBundle(
        id: UUID().uuidString, user: user, time: environment.now(),
        soups: soups.filter { used.contains($0.name) }, entries: entries)
      return (try RescueSeal.encrypt(bundle.content(), for: recipient), entries.count)
    }
  }

  /// Merges a bundle into this store, as a sync would. Edits are applied to this store's version of
  /// the record; edits of the same fields become conflicts; creates become unsynced entries.
  ///
  /// The whole bundle is verified first, and then imported in one transaction. Importing the same
  /// bundle a second time changes nothing. A create is uploaded only after a search on the server:
  /// the device that wrote the bundle may have created it after all. Soups that are missing are
  /// registered.
  ///
  /// - Parameters:
  ///   - user: The user to whom this store belongs.
  ///   - registry: The targets that syncs of this store may name.
  ///   - isDryRun: Whether everything is undone at the end.
  /// - Throws: ``RescueError`` `damaged`, `unsupportedVersion`, `wrongKey`, `foreignUser`, `missingIndex`;
  ///   ``SyncError`` `store`. Nothing was changed then.
  public func importRescue(
    _ bundle: [UInt8], with key: RescueKey, of user: RescueUser, registry: SyncTargetRegistry,
    isDryRun: Bool = false, environment: SyncEnvironment = SyncEnvironment()
  ) async throws -> RescueReport {
    let bundle = try RescueBundle(content: RescueSeal.decrypt(bundle, with: key))
    guard bundle.user == user else {
      throw RescueError(
        .foreignUser,
        "The rescue bundle has the records of another user than this store. Log in as the user who wrote it."
      )
    }
    return try await SyncManager.storeErrors {
      let states = try await syncs()
      let rescue = RescueImport(
        bundle: bundle, uses: SoupSyncIndex(states, registry), time: environment.now())
      do {
        let records = try await inTransaction { transaction in
          let records = try rescue.apply(in: transaction)
          if isDryRun { throw Undone(records: records) }
          return records
        }
        return RescueReport(records: records, isDryRun: false)
      } catch let undone as Undone {
        return RescueReport(records: undone.records, isDryRun: true)
      }
    }
  }

  /// Reads the content of a bundle, without importing it.
  ///
  /// - Throws: ``RescueError`` `damaged`, `unsupportedVersion`, `wrongKey`.
  public static func rescueContents(
    _ bundle: [UInt8], with key: RescueKey
  ) throws(RescueError) -> RescueContents {
    RescueContents(try RescueBundle(content: RescueSeal.decrypt(bundle, with: key)))
  }

  /// Ends the transaction of a dry run.
  private struct Undone: Error {
    let records: [RescueReport.Record]
  }
}

extension RescueBundle {
  /// The unsynced entries of a soup, by ascending entry id.
  static func entries(
    of soup: Soup, sentAfter: Int64, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Entry] {
    let records = SyncSoup(soupName: soup.name, idField: soup.names.id)
    let ids = try records.dirty(in: reader).map(\.entryId).sorted()
    var entries: [Entry] = []
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let found = try reader.entries(slice, of: soup.name).sorted { $0.id < $1.id }
      let bases =
        reader.soupExists(forName: MetadataSoup.bases.name)
        ? try BaseVersionStore(soupName: soup.name).bases(
          of: found.compactMap { $0.record[soup.names.id]?.string }, in: reader) : [:]
      let marks =
        reader.soupExists(forName: OutcomeStore.soupName)
        ? try OutcomeStore.marks(slice.map { "\(soup.name)/\($0)" }, in: reader) : []
      let edits = try EditedFields(soupName: soup.name).edits(of: slice, in: reader)
      for (entryId, record) in found {
        let id = record[soup.names.id]?.string
        let mark = marks.first { $0.outcome.entryId == entryId }
        let isCreate = RecordFlags(of: record).created || id.map(SyncKeys.isLocalId) ?? true
        entries.append(
          Entry(
            soup: soup.name, entryId: entryId, record: record, base: id.flatMap { bases[$0] },
            sentAfter: isCreate ? min(mark?.sentAfter ?? sentAfter, sentAfter) : nil,
            arrival: isCreate ? mark?.arrival : nil, edits: edits[entryId]))
      }
    }
    return entries
  }
}
