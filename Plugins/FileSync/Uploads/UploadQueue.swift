import MobileSync
import SalesforceSDKCommon
import SmartStore

/// What a queued file waits for.
enum UploadStanding: Sendable, Equatable {
  /// It can be sent, to a record or as a version of a document.
  case ready(parentId: String)
  case waitingForRecord
  case waitingForFile
  case unacknowledged
  /// Its record, or what it is a version of, is deleted locally.
  case orphaned(String)
  /// It is held by its own entry.
  case held

  /// The state that a caller sees.
  func state(of entry: UploadEntry) -> QueuedFileState {
    switch self {
    case .ready: .queued
    case .waitingForRecord: .waitingForRecord
    case .waitingForFile: .waitingForFile
    case .unacknowledged: .unacknowledged
    case .orphaned: .orphaned
    case .held:
      switch entry.refusal?.kind {
      case .inDoubt: .inDoubt
      case .orphaned: .orphaned
      default: .rejected
      }
    }
  }
}

/// The queue of files, in the soup `syncs_file_uploads`: in the order of its entries.
enum UploadQueue {
  static let soupName = "syncs_file_uploads"

  static let indexes = [
    SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
    SoupIndex(path: "recordId", type: .string), SoupIndex(path: "documentId", type: .string),
    SoupIndex(path: "bytes", type: .integer),
  ]
}

extension StoreReading where Self: ~Copyable {
  /// The queued file with this key; nil if there is none.
  borrowing func queued(_ key: String) throws -> UploadEntry? {
    try queuedFiles("{syncs_file_uploads:Id} = ?", [.string(key)]).first
  }

  /// A queued file and what it waits for; nil if there is none.
  borrowing func queuedFile(
    _ key: String, _ sources: [FileSource]
  ) throws -> (UploadEntry, UploadStanding)? {
    guard let entry = try queued(key) else { return nil }
    return (entry, try standing(of: entry, sources))
  }

  /// All queued files, in order.
  borrowing func queuedFiles() throws -> [UploadEntry] { try queuedFiles("1 = 1", []) }

  /// The keys of all queued files, in order.
  borrowing func queuedKeys() throws -> [String] {
    try queueRows(
      "SELECT {syncs_file_uploads:Id} FROM {syncs_file_uploads} ORDER BY {syncs_file_uploads:_soupEntryId}"
    ).compactMap { $0[0]?.string }
  }

  /// The queued files of a record, in order.
  borrowing func queuedFiles(ofRecord id: String) throws -> [UploadEntry] {
    try queuedFiles("{syncs_file_uploads:recordId} = ?", [.string(id)])
  }

  /// The queued versions of a file, in order.
  borrowing func queuedVersions(of document: String) throws -> [UploadEntry] {
    try queuedFiles("{syncs_file_uploads:documentId} = ?", [.string(document)])
  }

  /// The number of bytes of all queued files.
  borrowing func queuedBytes() throws -> Int64 {
    try queueRows("SELECT SUM({syncs_file_uploads:bytes}) FROM {syncs_file_uploads}")
      .first?[0]?.int64 ?? 0
  }

  /// What a queued file waits for.
  borrowing func standing(
    of entry: UploadEntry, _ sources: [FileSource]
  ) throws -> UploadStanding {
    if entry.refusal != nil { return .held }
    if entry.mark != nil {
      // Another device may have sent it, to a record whose id is not known here yet.
      guard let id = entry.recordId, SyncKeys.isLocalId(id), try serverId(ofLocalId: id) == nil
      else { return .unacknowledged }
    }
    if let document = entry.documentId {
      if try queuedVersions(of: document).first?.key != entry.key { return .waitingForFile }
      if !UploadEntry.isKey(document) { return .ready(parentId: document) }
      return try queued(document) != nil
        ? .waitingForFile
        : .orphaned("The file that it is a version of was removed before its upload.")
    }
    guard let record = entry.record else { return .orphaned("It has no record.") }
    // A sync up has put the server's id into the entry, unless it was queued under the local id afterwards.
    let isLocal = SyncKeys.isLocalId(record.id)
    let id = isLocal ? try serverId(ofLocalId: record.id) ?? record.id : record.id
    let isDeleted = try isDeletedLocally(id, record.objectType, sources)
    if isDeleted == true { return .orphaned("Its record is deleted locally.") }
    if !SyncKeys.isLocalId(id) { return .ready(parentId: id) }
    return isDeleted == nil && sources.contains { $0.objectType == record.objectType }
      ? .orphaned("Its record was removed before its upload.") : .waitingForRecord
  }

  /// Whether a record is to be deleted on the server; nil if no soup has it.
  private borrowing func isDeletedLocally(
    _ id: String, _ objectType: String, _ sources: [FileSource]
  ) throws -> Bool? {
    var isDeleted: Bool?
    for source in sources
    where source.objectType == objectType && soupExists(forName: source.soupName) {
      let (soup, path) = (source.soupName, source.idField)
      for row in try queueRows(
        "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(path)} = ?", [.string(id)])
      {
        let flag = row[0]?[SyncKeys.locallyDeleted]
        isDeleted = (isDeleted ?? true) && (flag == true || flag == "true")
      }
    }
    return isDeleted
  }

  private borrowing func queuedFiles(
    _ condition: String, _ values: [JSONValue]
  ) throws -> [UploadEntry] {
    try queueRows(
      "SELECT {syncs_file_uploads:_soup} FROM {syncs_file_uploads} WHERE \(condition) "
        + "ORDER BY {syncs_file_uploads:_soupEntryId}", values
    ).compactMap { try $0[0]?.decode(as: UploadEntry.self) }
  }

  private borrowing func queueRows(
    _ smartSql: String, _ values: [JSONValue] = []
  ) throws -> [JSONValue] {
    try query(
      using: .buildSmartQuerySpec(smartSql: smartSql, pageSize: Int(Int32.max)),
      startingFromPageIndex: 0, whereArgs: values)
  }
}

extension StoreTransaction {
  /// Stores queued files under their keys.
  borrowing func put(_ entries: [UploadEntry]) throws {
    if entries.isEmpty { return }
    try upsert(
      entries: entries.map { try JSONValue(encoding: $0) }, forSoupNamed: UploadQueue.soupName,
      withExternalIdPath: "Id")
  }

  /// Takes a file out of the queue.
  borrowing func removeQueued(_ key: String) throws {
    try remove(
      entryIds: try entryIds(of: UploadQueue.soupName, where: "Id", "=", key),
      forSoupNamed: UploadQueue.soupName)
  }
}
