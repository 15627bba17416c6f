import SalesforceSDKCommon
import SmartStore

/// The files of a store's records, in three soups: `syncs_files`, `syncs_file_links` with the records that they
/// belong to, and `syncs_file_uploads` with the queue.
struct FileCatalog: Sendable {
  static let files = "syncs_files"
  static let links = "syncs_file_links"

  let store: SmartStore

  /// Registers the soups, unless they are there.
  func prepare() async throws {
    try await explaining {
      if try await !store.soupExists(forName: Self.files) {
        try await store.registerSoup(
          withName: Self.files,
          withIndices: [
            SoupIndex(path: "key", type: .string), SoupIndex(path: "used", type: .integer),
            SoupIndex(path: "changed", type: .integer), SoupIndex(path: "bytes", type: .integer),
          ])
      }
      if try await !store.soupExists(forName: Self.links) {
        try await store.registerSoup(
          withName: Self.links,
          withIndices: ["key", "file", "record", "run"].map { SoupIndex(path: $0, type: .string) })
      }
      if try await !store.soupExists(forName: UploadQueue.soupName) {
        try await store.registerSoup(
          withName: UploadQueue.soupName, withIndices: UploadQueue.indexes)
      }
    }
  }

  func read<T: Sendable>(_ body: @Sendable (borrowing StoreReader) throws -> T) async throws -> T {
    try await explaining { try await store.read(body) }
  }

  func write<T: Sendable>(
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try await explaining { try await store.inTransaction(body) }
  }

  private func explaining<T>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch let error as SmartStoreError {
      throw FileSyncError(
        .store, "The store of the files cannot be used: \(error.message)", cause: error)
    }
  }
}

/// Queries of the two soups, in a snapshot or a transaction.
extension StoreReading where Self: ~Copyable {
  /// The file with this id; nil if there is none.
  borrowing func file(_ id: String) throws -> FileEntry? { try files([id]).first }

  /// The files with these ids, in no order.
  borrowing func files(_ ids: [String]) throws -> [FileEntry] {
    if ids.isEmpty { return [] }
    return try fileEntries("{syncs_files:key} IN \(list(ids.count))", ids.map { .string($0) })
  }

  /// Files that take space, those first that were used least recently.
  borrowing func filesWithContent(usedBefore limit: Int64) throws -> [FileEntry] {
    try fileEntries(
      "{syncs_files:bytes} > 0 AND {syncs_files:used} < ? ORDER BY {syncs_files:used}, {syncs_files:key}",
      [.integer(limit)])
  }

  /// The number of bytes of all contents, those of queued files included.
  borrowing func usedBytes() throws -> Int64 {
    (try rows("SELECT SUM({syncs_files:bytes}) FROM {syncs_files}").first?[0]?.int64 ?? 0)
      + (try queuedBytes())
  }

  /// The ids of all files, of those that changed last first.
  borrowing func fileIds() throws -> [String] {
    try rows(
      "SELECT {syncs_files:key} FROM {syncs_files} ORDER BY {syncs_files:changed} DESC, {syncs_files:key}"
    ).compactMap { $0[0]?.string }
  }

  /// The ids of the files of a record, in order.
  borrowing func fileIds(ofRecord id: String) throws -> [String] {
    try rows(
      "SELECT {syncs_file_links:file} FROM {syncs_file_links} WHERE {syncs_file_links:record} = ? "
        + "ORDER BY {syncs_file_links:file}", [.string(id)]
    ).compactMap { $0[0]?.string }
  }

  /// The ids of files that belong to no record any more.
  borrowing func fileIdsWithoutRecord() throws -> [String] {
    try rows(
      "SELECT {syncs_files:key} FROM {syncs_files} WHERE {syncs_files:key} NOT IN "
        + "(SELECT {syncs_file_links:file} FROM {syncs_file_links})"
    ).compactMap { $0[0]?.string }
  }

  /// The records of each of these files.
  borrowing func records(ofFiles ids: [String]) throws -> [String: [FileRecord]] {
    if ids.isEmpty { return [:] }
    var records: [String: [FileRecord]] = [:]
    for row in try rows(
      "SELECT {syncs_file_links:_soup} FROM {syncs_file_links} WHERE {syncs_file_links:file} IN "
        + "\(list(ids.count)) ORDER BY {syncs_file_links:key}", ids.map { .string($0) })
    {
      guard let link = try row[0]?.decode(as: FileLink.self) else { continue }
      records[link.file, default: []].append(
        FileRecord(id: link.record, objectType: link.objectType))
    }
    return records
  }

  /// The numbers of the entries whose value at a path is, or is not, this one.
  borrowing func entryIds(
    of soup: String, where path: String, _ comparison: String, _ value: String
  ) throws -> [Int64] {
    try rows(
      "SELECT {\(soup):_soupEntryId} FROM {\(soup)} WHERE {\(soup):\(path)} \(comparison) ?",
      [.string(value)]
    ).compactMap { $0[0]?.int64 }
  }

  private borrowing func fileEntries(_ condition: String, _ values: [JSONValue]) throws
    -> [FileEntry]
  {
    try rows("SELECT {syncs_files:_soup} FROM {syncs_files} WHERE \(condition)", values)
      .compactMap { try $0[0]?.decode(as: FileEntry.self) }
  }

  private borrowing func rows(_ smartSql: String, _ values: [JSONValue] = []) throws -> [JSONValue]
  {
    // A page takes what there is.
    try query(
      using: .buildSmartQuerySpec(smartSql: smartSql, pageSize: Int(Int32.max)),
      startingFromPageIndex: 0, whereArgs: values)
  }

  private borrowing func list(_ count: Int) -> String {
    "(\(Array(repeating: "?", count: count).joined(separator: ",")))"
  }
}

extension StoreTransaction {
  /// Stores files under their ids.
  borrowing func put(_ files: [FileEntry]) throws {
    if files.isEmpty { return }
    try upsert(
      entries: files.map { try JSONValue(encoding: $0) }, forSoupNamed: FileCatalog.files,
      withExternalIdPath: "key")
  }

  /// Stores links under their keys.
  borrowing func put(_ links: [FileLink]) throws {
    if links.isEmpty { return }
    try upsert(
      entries: links.map { try JSONValue(encoding: $0) }, forSoupNamed: FileCatalog.links,
      withExternalIdPath: "key")
  }
}
