import GRDB
package import SalesforceSDKCommon

/// The members by which an entry says that the server does not have all of it.
///
/// Any of them makes an entry unsynced. The store writes ``local`` with each of the others, since that
/// is the one member that soups index.
package enum LocalFlags {
  /// True while the entry differs from the server's record, whatever the reason.
  package static let local = "__local__"
  /// True for a record that was created locally.
  package static let created = "__locally_created__"
  /// True for a record that was updated locally.
  package static let updated = "__locally_updated__"
  /// True for a record that is to be deleted on the server.
  package static let deleted = "__locally_deleted__"

  /// Whether a flag is set: true, 1, "1" and "true" are true, everything else is false.
  package static func isTrue(_ value: JSONSlice?) -> Bool {
    guard let value else { return false }
    switch value.kind {
    case .bool: return value.bool == true
    case .number: return value.int64 == 1
    case .string: return value.string == "1" || value.string == "true"
    default: return false
    }
  }

  /// Whether an entry has any of the flags.
  static func isUnsynced(_ entry: JSONSlice) -> Bool { isTrue(entry[local]) || isChanged(entry) }

  /// Whether an entry has the flag of a change without ``local``.
  static func lacksLocal(_ entry: JSONSlice) -> Bool { !isTrue(entry[local]) && isChanged(entry) }

  private static func isChanged(_ entry: JSONSlice) -> Bool {
    isTrue(entry[created]) || isTrue(entry[updated]) || isTrue(entry[deleted])
  }

  /// Members to set, with ``local`` if one of them is another flag that is true.
  static func completed(
    _ setting: [(key: String, value: JSONValue)]
  ) -> [(key: String, value: JSONValue)] {
    let changes = [created, updated, deleted]
    guard setting.contains(where: { changes.contains($0.key) && $0.value == true }) else {
      return setting
    }
    return setting + [(key: local, value: true)]
  }

  /// The entry with ``local`` set.
  ///
  /// - Throws: ``SmartStoreError`` `invalidEntry`.
  static func settingLocal(of entry: JSONSlice) throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      var writer = JSONWriter()
      try writer.object(entry, setting: [(key: local, value: true)], removing: [])
      return try JSONSlice(parsing: writer.bytes, limits: .stored)
    } catch {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: its members cannot be set.", cause: error)
    }
  }
}

extension SmartStore {
  /// The number in the database's `user_version` of stores whose entries have ``LocalFlags/local`` with
  /// every other flag. Earlier versions of the store wrote entries as they came.
  private static let versionWithLocalFlags = 1

  /// Sets ``LocalFlags/local`` in the entries that an earlier version stored without it. Done once; a
  /// store with an unfinished alter waits for its next opening.
  func completeFlags(_ database: Database) throws {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard version < Self.versionWithLocalFlags else { return }
    try commit(database, isSingleCall: false) { transaction in
      let access = transaction.access
      guard access.catalog.unfinished.isEmpty else { return }
      for soup in access.catalog.soups.values { try access.completeFlags(of: soup) }
      try access.execute("PRAGMA user_version = \(Self.versionWithLocalFlags)")
    }
  }
}

extension StoreAccess {
  /// Sets ``LocalFlags/local`` in the entries of a soup that have another flag alone. An entry that
  /// cannot be read stays as it is.
  fileprivate func completeFlags(of soup: Soup) throws(SmartStoreError) {
    var incomplete: [(id: Int64, entry: JSONSlice)] = []
    do {
      let rows = try StoreStatement(
        database, "SELECT \(soup.isExternal ? "id" : "id, soup") FROM \(soup.table)")
      while try rows.step() {
        let id = rows.int64(0)
        let text = soup.isExternal ? try? externalText(of: id, in: soup) : rows.bytes(1)
        guard let text, text.withUnsafeBytes({ EntrySplicer.mayHoldUnderscoreKey($0) }),
          let entry = try? JSONSlice(parsing: text, limits: .stored), LocalFlags.lacksLocal(entry)
        else { continue }
        incomplete.append((id, entry))
      }
    }
    if incomplete.isEmpty { return }
    var writer = try EntryWriter(soup, on: self)
    for (id, entry) in incomplete { _ = try writer.update(entry, entryId: id) }
  }
}
