import GRDB
package import SalesforceSDKCommon

/// The members that mark an entry's local changes, which the server does not have.
///
/// Any of them makes an entry unsynced. The store writes ``local`` with each of the others, because
/// soups index only ``local``.
package enum LocalFlags {
  /// True while the entry differs from the server's record, for any reason.
  package static let local = "__local__"
  /// True for a record that was created locally.
  package static let created = "__locally_created__"
  /// True for a record that was updated locally.
  package static let updated = "__locally_updated__"
  /// True for a record that is to be deleted on the server.
  package static let deleted = "__locally_deleted__"

  /// All of them.
  static let all = [local, created, updated, deleted]

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

  /// Whether any of the flags is set in an entry.
  static func isUnsynced(_ entry: JSONSlice) -> Bool { isTrue(entry[local]) || isChanged(entry) }

  /// Whether the flag of a change is set in an entry, but not ``local``.
  static func lacksLocal(_ entry: JSONSlice) -> Bool { !isTrue(entry[local]) && isChanged(entry) }

  private static func isChanged(_ entry: JSONSlice) -> Bool {
    isTrue(entry[created]) || isTrue(entry[updated]) || isTrue(entry[deleted])
  }

  /// Returns the members to set, with ``local`` if another flag among them is true.
  static func completed(
    _ setting: [(key: String, value: JSONValue)]
  ) -> [(key: String, value: JSONValue)] {
    let changes = [created, updated, deleted]
    guard setting.contains(where: { changes.contains($0.key) && $0.value == true }) else {
      return setting
    }
    return setting + [(key: local, value: true)]
  }

  /// Returns the entry with ``local`` set.
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
  /// The database's `user_version` of stores in which ``LocalFlags/local`` is set whenever another
  /// flag is. Earlier versions of the store wrote entries unchanged.
  private static let versionWithLocalFlags = 1

  /// Sets ``LocalFlags/local`` in the entries that an earlier version stored without it. This
  /// happens once; in a store with an unfinished alter, at its next opening.
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
  /// Sets ``LocalFlags/local`` in the entries of a soup in which only another flag is set. An entry
  /// that cannot be read stays unchanged.
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
