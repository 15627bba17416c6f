import Foundation
import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore

/// The files of a store's synced records: what the server has, and what of it is on this device.
///
/// - Content is encrypted chunk by chunk before it is written, and never in memory as a whole.
/// - A download that was interrupted, also by the end of the process, resumes at the chunk where it ended, if the
///   server sends ranges. Content is available only once its size and checksum were verified.
/// - New and changed files are queued, and uploaded after their records, each once. The queue survives the end of the process.
/// - A quota limits the bytes that are kept; the least recently used content goes first, and never what was not uploaded.
///
/// The contents are in the store's folder and go with it. Their keys are in the store, so they are as safe as the
/// store: encrypted unless it was opened in plaintext.
///
/// ```swift
/// let files = try await FileSyncManager(
///   store: store, client: client,
///   options: FileSyncOptions(
///     sources: [FileSource(soupName: "accounts", objectType: "Account")],
///     rules: [FileRule(fileExtensions: ["pdf"], maxBytes: 5_000_000)], quota: 500_000_000))
/// try await files.sync()
/// let content = try await files.content(of: id)
/// ```
///
/// One `FileSyncManager` at a time works with a store. Calls throw ``FileSyncError``, errors of the session as `RestClient`
/// throws them, and `CancellationError`.
public actor FileSyncManager {
  /// What is listed, downloaded and kept.
  public nonisolated let options: FileSyncOptions

  nonisolated let catalog: FileCatalog
  nonisolated let listing: FileListing
  nonisolated let folder: ContentFolder
  nonisolated let client: RestClient
  nonisolated let now: @Sendable () -> Int64
  /// Called after each piece that was written; what it throws ends the download as the end of the process would.
  nonisolated let onPiece: @Sendable (Int64) throws -> Void
  /// Called before and after each step of work on the queue; what it throws ends the work as the end of the process would.
  nonisolated let onStep: @Sendable () throws -> Void
  private nonisolated let changes = EventSource<SyncedFile>()
  nonisolated let queueChanges = EventSource<QueuedFile>()
  nonisolated let progress = DownloadProgress()
  /// The request that sends a file.
  var sending: Task<RestResponse, any Error>?
  /// The files that a call works on, with those that wait for its end.
  private var busy: [String: [CheckedContinuation<Void, Never>]] = [:]

  /// Opens the files of a store, and removes what a process that ended left behind.
  ///
  /// - Parameter client: Sends the requests, as the user whose records the store has.
  /// - Throws: ``FileSyncError`` `inUse`, `store`, `inputOutput`, `diskFull`.
  public init(store: SmartStore, client: RestClient, options: FileSyncOptions) async throws {
    try await self.init(store: store, client: client, options: options, onPiece: { _ in })
  }

  /// Opens the files with another clock, and with a place to interrupt downloads.
  package init(
    store: SmartStore, client: RestClient, options: FileSyncOptions,
    now: @escaping @Sendable () -> Int64 = { SalesforceDate(Date()).milliseconds },
    onStep: @escaping @Sendable () throws -> Void = {},
    onPiece: @escaping @Sendable (Int64) throws -> Void
  ) async throws {
    self.options = options
    self.client = client
    self.now = now
    self.onPiece = onPiece
    self.onStep = onStep
    catalog = FileCatalog(store: store)
    listing = FileListing(client: client)
    folder = try ContentFolder(ContentFolder.url(of: store))
    try await catalog.prepare()
    let names = try await catalog.read { reader in
      Set(try reader.filesWithContent(usedBefore: .max).flatMap(\.names))
        .union(try reader.queuedFiles().map(\.content.name))
    }
    try folder.removeAll(except: names)
    try await endInterruptedUploads()
  }

  /// Ends the downloads that run, which the next manager resumes, the upload that runs, which the next manager searches,
  /// and all streams.
  public func close() async {
    folder.close()
    sending?.cancel()
    for id in Array(busy.keys) { await waitForEnd(of: id) }
    folder.release()
    changes.finish()
    queueChanges.finish()
  }

  // MARK: Files

  /// All files, those that changed last first.
  public func files() async throws -> [SyncedFile] {
    try await files(try await catalog.read { try $0.fileIds() })
  }

  /// The files of a record, in order of their ids.
  ///
  /// - Parameter id: The record's id on the server.
  public func files(ofRecord id: String) async throws -> [SyncedFile] {
    try await files(try await catalog.read { try $0.fileIds(ofRecord: id) })
  }

  /// The file with this id.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`.
  public func file(_ id: String) async throws -> SyncedFile {
    guard let file = try await files([id]).first else { throw Self.unknown(id) }
    return file
  }

  /// The number of bytes that contents take of the quota, those of queued files included.
  public func usedBytes() async throws -> Int64 {
    try await catalog.read { try $0.usedBytes() }
  }

  /// Each file whose state or progress changes, from this call on, in order; progress comes once for each percent. The
  /// stream keeps what its reader has not read yet, and ends with ``close()``.
  public nonisolated func changedFiles() -> AsyncStream<SyncedFile> { changes.stream() }

  private func files(_ ids: [String]) async throws -> [SyncedFile] {
    try folder.checkOpen()
    var files: [SyncedFile] = []
    for start in stride(from: 0, to: ids.count, by: 200) {
      let page = Array(ids[start..<min(start + 200, ids.count)])
      let (entries, records) = try await catalog.read { reader in
        (try reader.files(page), try reader.records(ofFiles: page))
      }
      let byId = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
      files += page.compactMap { id in
        byId[id].map { value(of: $0, records[id] ?? []) }
      }
    }
    return files
  }

  private func value(of entry: FileEntry, _ records: [FileRecord]) -> SyncedFile {
    let state: FileState
    var received: Int64 = 0
    if let bytes = progress[entry.key] {
      state = .downloading
      received = bytes
    } else if entry.isAvailable {
      state = .available
      received = entry.version.size
    } else if let part = entry.usablePart, let chunks = try? part.chunks(in: folder.url) {
      state = .partial
      received = chunks.plainBytes(inStored: folder.storedBytes(of: part.name))
    } else {
      state = entry.content == nil ? .onServer : .outdated
    }
    return SyncedFile(
      id: entry.key, isAttachment: entry.isAttachment, title: entry.title,
      fileExtension: entry.fileExtension, version: entry.version, records: records, state: state,
      receivedBytes: received, hasContent: entry.content != nil, problem: entry.problem)
  }

  /// Sends a file's value to those who listen.
  func announce(_ ids: [String]) async {
    for file in (try? await files(ids)) ?? [] { changes.send(file) }
  }

  static func unknown(_ id: String) -> FileSyncError {
    FileSyncError(
      .unknownFile, "No file with the id \(id) is listed. Refresh, then list the files.")
  }

  // MARK: Content

  /// The content of a file on this device, also of a queued one, without a request. It counts as used now.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `notDownloaded`, `damagedContent`.
  public func content(of id: String) async throws -> FileContent {
    try folder.checkOpen()
    let time = now()
    let stored = try await catalog.write { transaction -> StoredContent in
      if let queued = try transaction.queued(id) { return queued.content }
      guard var entry = try transaction.file(id) else { throw Self.unknown(id) }
      guard let stored = entry.content else {
        throw FileSyncError(
          .notDownloaded, "The file \(id) is on the server only. Download it first.")
      }
      entry.used = max(entry.used, time)
      try transaction.put([entry])
      return stored
    }
    // An eviction may have taken it in between.
    guard let content = try FileContent(stored, in: folder.url) else {
      throw FileSyncError(
        .notDownloaded, "The content of the file \(id) is gone. Download it again.")
    }
    return content
  }

  /// Removes a file's content, and the beginning of one, from this device; the server keeps the file. Waits for a
  /// download of it that runs.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`.
  public func evict(_ id: String) async throws {
    try await working(on: id) {
      let names = try await catalog.write { transaction -> [String] in
        guard let entry = try transaction.file(id) else { throw Self.unknown(id) }
        try transaction.put([entry.evicted()])
        return entry.names
      }
      folder.remove(names)
    }
    await announce([id])
  }

  // MARK: One call for each file

  /// The files that a call works on, whose content is not evicted.
  var busyIds: Set<String> { Set(busy.keys) }

  /// Runs `body` once no other call works on the file.
  func working<T>(on id: String, _ body: () async throws -> T) async throws -> T {
    while busy[id] != nil { await waitForEnd(of: id) }
    try Task.checkCancellation()
    try folder.checkOpen()
    busy[id] = []
    defer { for waiter in busy.removeValue(forKey: id) ?? [] { waiter.resume() } }
    return try await body()
  }

  private func waitForEnd(of id: String) async {
    await withCheckedContinuation { waiter in
      if busy[id]?.append(waiter) == nil { waiter.resume() }
    }
  }
}
