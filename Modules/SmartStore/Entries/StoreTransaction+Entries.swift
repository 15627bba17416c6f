public import SalesforceSDKCommon

extension StoreTransaction {
  /// Inserts or updates entries from their JSON text, in order. On error none is stored.
  ///
  /// The stored text is that of the slice, byte for byte, with the members of `setting` and the
  /// store's own (`_soupEntryId`, `_soupLastModifiedDate`) set and those of `removing` removed.
  /// Member names with escapes that JSON does not require are rewritten without them. Index values
  /// are computed from the stored text.
  ///
  /// - Parameters:
  ///   - externalIdPath: An indexed path whose value identifies the entry to update. Without a
  ///     path, `_soupEntryId` identifies it; an id without an entry is replaced by a new one.
  /// - Returns: The entry ids, in the order of `slices`.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notIndexed`, `externalIdMissing`,
  ///   `ambiguousMatch`, `invalidEntry`, `entryTooLarge`, `diskFull`, `io`.
  @discardableResult
  public borrowing func upsert(
    slices: [JSONSlice], setting: [(key: String, value: JSONValue)] = [],
    removing: [String] = [], soup soupName: String, externalIdPath: String? = nil
  ) throws(SmartStoreError) -> [Int64] {
    let soup = try access.soup(named: soupName)
    return try access.atomically { () throws(SmartStoreError) in
      var writer = try EntryWriter(
        soup, setting: setting, removing: removing, externalIdPath: externalIdPath,
        on: access)
      let ids = try writer.upsert(slices)
      access.didChange(soup)
      return ids
    }
  }

  /// Inserts or updates entries from their JSON text, as
  /// ``upsert(slices:setting:removing:soup:externalIdPath:)`` does, without reading them back.
  ///
  /// - Returns: A JSON array of the entries as they were written, one for each of `slices`, in their order.
  package borrowing func upsertReturningEntries(
    slices: [JSONSlice], soup soupName: String, externalIdPath: String? = nil
  ) throws(SmartStoreError) -> [UInt8] {
    let soup = try access.soup(named: soupName)
    return try access.atomically { () throws(SmartStoreError) in
      var writer = try EntryWriter(
        soup, externalIdPath: externalIdPath, keepsTexts: true, on: access)
      _ = try writer.upsert(slices)
      access.didChange(soup)
      var texts = writer.written ?? []
      if !slices.isEmpty { texts.removeLast() }
      texts.append(UInt8(ascii: "]"))
      return texts
    }
  }

  /// Inserts or updates `entries` in order. On error none is stored.
  ///
  /// - Parameter externalIdPath: An indexed path, such as `"Id"`. Default: `_soupEntryId`.
  /// - Returns: The entries as stored, in the order given.
  /// - Throws: As ``upsert(slices:setting:removing:soup:externalIdPath:)``; `invalidEntry` also for a value
  ///   that JSON cannot represent.
  @discardableResult
  public borrowing func upsert(
    entries: [JSONValue], forSoupNamed soupName: String,
    withExternalIdPath externalIdPath: String? = nil
  ) throws(SmartStoreError) -> [JSONValue] {
    try write(entries, soupName, externalIdPath) { writer, slice throws(SmartStoreError) in
      _ = try writer.upsert(slice)
    }
  }

  /// Inserts one entry under a new id, and ignores its `_soupEntryId`.
  ///
  /// - Returns: The entry as stored.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `invalidEntry`.
  @discardableResult
  public borrowing func create(
    entry: JSONValue, inSoupNamed soupName: String
  ) throws(SmartStoreError) -> JSONValue {
    try write([entry], soupName, nil) { writer, slice throws(SmartStoreError) in
      _ = try writer.insert(slice)
    }.first ?? entry
  }

  /// Replaces the entry with this id.
  ///
  /// - Returns: The entry as stored.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `noSuchEntry`, `invalidEntry`.
  @discardableResult
  public borrowing func update(
    entry: JSONValue, withSoupEntryId entryId: Int64, inSoupNamed soupName: String
  ) throws(SmartStoreError) -> JSONValue {
    try write([entry], soupName, nil) { writer, slice throws(SmartStoreError) in
      guard try writer.update(slice, entryId: entryId) else {
        throw SmartStoreError(
          .noSuchEntry, "No such entry: soup \(soupName) has no element with id \(entryId).")
      }
    }.first ?? entry
  }

  /// Replaces the entry with this id by a JSON text, with members set and removed as in
  /// ``upsert(slices:setting:removing:soup:externalIdPath:)``.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `noSuchEntry`, `invalidEntry`, `entryTooLarge`.
  public borrowing func update(
    slice: JSONSlice, setting: [(key: String, value: JSONValue)] = [], removing: [String] = [],
    soup soupName: String, entryId: Int64
  ) throws(SmartStoreError) {
    let soup = try access.soup(named: soupName)
    try access.atomically { () throws(SmartStoreError) in
      var writer = try EntryWriter(
        soup, setting: setting, removing: removing, on: access)
      guard try writer.update(slice, entryId: entryId) else {
        throw SmartStoreError(
          .noSuchEntry, "No such entry: soup \(soupName) has no element with id \(entryId).")
      }
      access.didChange(soup)
    }
  }

  /// Removes the entries with these ids. Ignores ids without an entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func remove(
    entryIds: [Int64], forSoupNamed soupName: String
  ) throws(SmartStoreError) {
    let soup = try access.soup(named: soupName)
    _ = try access.atomically { () throws(SmartStoreError) in
      try access.remove(entryIds, from: soup)
    }
  }

  /// Removes the entries on the first page of a query: at most its page size, in its order.
  ///
  /// Keys are compared by the value in the entry, whatever the index shows of it: 1 does not remove 1.5.
  ///
  /// - Parameters:
  ///   - querySpec: A query of this soup, or a smart query that returns a column named `id`.
  ///   - whereArgs: One value for each `?` of a smart query.
  /// - Returns: The number of removed entries.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `sql`, and as the query itself; `invalidQuerySpec` also if
  ///   the spec queries another soup.
  @discardableResult
  public borrowing func removeEntries(
    usingQuerySpec querySpec: QuerySpec, forSoupNamed soupName: String,
    whereArgs: [JSONValue]? = nil
  ) throws(SmartStoreError) -> Int {
    let soup = try access.soup(named: soupName)
    // Each soup counts its ids from 1: the ids of another soup would nearly always match.
    if let asked = querySpec.soupName, !MemberKey.isSame(asked, soupName) {
      throw SmartStoreError(
        .invalidQuerySpec,
        "Invalid query spec: it asks soup \(asked), but elements of \(soupName) are to be removed.")
    }
    return try access.atomically { () throws(SmartStoreError) in
      try access.remove(try access.entryIds(querySpec, whereArgs: whereArgs), from: soup)
    }
  }

  /// Serializes and writes entries; returns them as stored.
  private borrowing func write(
    _ entries: [JSONValue], _ soupName: String, _ externalIdPath: String?,
    method: String = #function,
    _ body: (inout EntryWriter, JSONSlice) throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) -> [JSONValue] {
    let soup = try access.soup(named: soupName)
    return try access.atomically { () throws(SmartStoreError) in
      var writer = try EntryWriter(soup, externalIdPath: externalIdPath, on: access)
      var stored: [JSONValue] = []
      stored.reserveCapacity(entries.count)
      for entry in entries {
        try body(&writer, entry.asEntry(reportingTo: access.diagnostics, method: method))
        stored.append(try writer.lastElement().value)
      }
      access.didChange(soup)
      return stored
    }
  }
}

extension JSONValue {
  /// Converts an entry to its JSON text.
  fileprivate func asEntry(
    reportingTo diagnostics: StoreDiagnostics, method: String
  ) throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      return try JSONSlice(parsing: serialized(), limits: .written)
    } catch {
      diagnostics.report(
        JSONFailure(
          kind: .serialization, errorMessage: "\(error)", method: method, text: nil))
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: it cannot be written as JSON.", cause: error)
    }
  }
}
