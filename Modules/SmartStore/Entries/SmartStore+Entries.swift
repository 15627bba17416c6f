public import Foundation
public import SalesforceSDKCommon

extension SmartStore {
  /// Inserts or updates `entries` in order, in one transaction: on return all are on disk, on error none.
  ///
  /// - Parameter externalIdPath: An indexed path, such as `"Id"`. Default: `_soupEntryId`.
  /// - Returns: The entries as stored, in the order given, with their system fields.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notIndexed`, `externalIdMissing`,
  ///   `ambiguousMatch`, `invalidEntry`, `diskFull`, `io`.
  @discardableResult
  public func upsert(
    entries: [JSONValue], forSoupNamed soupName: String,
    withExternalIdPath externalIdPath: String? = nil
  ) async throws -> [JSONValue] {
    try await write { transaction in
      try transaction.upsert(
        entries: entries, forSoupNamed: soupName, withExternalIdPath: externalIdPath)
    }
  }

  /// Inserts or updates entries from their JSON text, in order, in one transaction.
  ///
  /// See ``StoreTransaction/upsert(slices:setting:removing:soup:externalIdPath:)``.
  @discardableResult
  public func upsert(
    slices: [JSONSlice], setting: [(key: String, value: JSONValue)] = [],
    removing: [String] = [], soup soupName: String, externalIdPath: String? = nil,
    durability: Durability = .full
  ) async throws -> [Int64] {
    try await write(durability) { transaction in
      try transaction.upsert(
        slices: slices, setting: setting, removing: removing, soup: soupName,
        externalIdPath: externalIdPath)
    }
  }

  /// Inserts one entry under a new id, and ignores its `_soupEntryId`.
  ///
  /// - Returns: The entry as stored.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `invalidEntry`.
  @discardableResult
  public func create(
    entry: JSONValue, inSoupNamed soupName: String
  ) async throws -> JSONValue {
    try await write { try $0.create(entry: entry, inSoupNamed: soupName) }
  }

  /// Replaces the entry with this id.
  ///
  /// - Returns: The entry as stored.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `noSuchEntry`, `invalidEntry`.
  @discardableResult
  public func update(
    entry: JSONValue, withSoupEntryId entryId: Int64, inSoupNamed soupName: String
  ) async throws -> JSONValue {
    try await write {
      try $0.update(entry: entry, withSoupEntryId: entryId, inSoupNamed: soupName)
    }
  }

  /// Returns the entries with these ids, each once. Ignores ids without an entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`; `corrupt` if a stored entry is not JSON.
  public func retrieve(
    usingSoupEntryIds entryIds: [Int64], fromSoupNamed soupName: String
  ) async throws -> [JSONSlice] {
    try await read { try $0.retrieve(usingSoupEntryIds: entryIds, fromSoupNamed: soupName) }
  }

  /// Removes the entries with these ids. Ignores ids without an entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public func remove(entryIds: [Int64], forSoupNamed soupName: String) async throws {
    try await write { try $0.remove(entryIds: entryIds, forSoupNamed: soupName) }
  }

  /// Removes the entries on the first page of a query: at most its page size, in its order.
  ///
  /// - Returns: The number of removed entries.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `sql`, and as the query itself.
  @discardableResult
  public func removeEntries(
    usingQuerySpec querySpec: QuerySpec, forSoupNamed soupName: String,
    whereArgs: [JSONValue]? = nil
  ) async throws -> Int {
    try await write {
      try $0.removeEntries(
        usingQuerySpec: querySpec, forSoupNamed: soupName, whereArgs: whereArgs)
    }
  }

  /// Returns the id of the only entry whose value at `fieldPath` is `fieldValue`; nil if there is
  /// no such entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notIndexed`, `ambiguousMatch`.
  public func lookupSoupEntryId(
    soupNamed soupName: String, fieldPath: String, fieldValue: JSONValue?
  ) async throws -> Int64? {
    try await read {
      try $0.lookupSoupEntryId(
        soupNamed: soupName, fieldPath: fieldPath, fieldValue: fieldValue)
    }
  }

  /// Returns the date of a `_soupLastModifiedDate` value.
  public static func date(lastModifiedValue milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
