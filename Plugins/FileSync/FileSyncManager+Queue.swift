public import Foundation
import MobileSync
import SalesforceSDKCommon
import SmartStore

extension FileSyncManager {
  /// No file has this id; uploads and listings take turns by it.
  static let queueLock = "queue"

  // MARK: Adding

  /// Queues a copy of a file for its upload.
  ///
  /// On return the copy is on disk, encrypted, and survives the end of the process; the original is not needed any more.
  /// The next ``upload()`` or ``sync()`` sends it, once its record has an id of the server's. The quota does not refuse it:
  /// downloaded content is evicted to make room for it.
  ///
  /// - Returns: The queued file.
  /// - Throws: ``FileSyncError`` `invalidUpload`, `unreadableSource`, `diskFull`, `inputOutput`, `store`, `closed`;
  ///   `CancellationError`. Nothing is queued then.
  @discardableResult
  public func addFile(at url: URL, _ file: NewFile) async throws -> QueuedFile {
    try await addFile(pieces(of: url), file)
  }

  /// Queues bytes for their upload, as ``addFile(at:_:)`` does; memory holds one piece and one chunk at a time.
  ///
  /// - Parameter pieces: The bytes in order. An error of the sequence is thrown, and nothing is queued. ``close()`` waits for
  ///   its next piece.
  @discardableResult
  public func addFile<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, _ file: NewFile
  ) async throws -> QueuedFile where Pieces.Element == [UInt8] {
    try check(file)
    return try await add(pieces) { content, time in UploadEntry(file, content, added: time) }
  }

  /// Queues a copy of a file as the next version of a listed or queued file.
  ///
  /// Versions of one file are uploaded in the order in which they were added. What another user uploads in between stays in the
  /// file's history.
  ///
  /// - Parameter id: The id of a `ContentDocument`, or of a queued file.
  /// - Throws: As ``addFile(at:_:)``; `unknownFile`; `invalidUpload` for an attachment, which has no versions.
  @discardableResult
  public func addVersion(of id: String, at url: URL) async throws -> QueuedFile {
    try await addVersion(of: id, pieces(of: url))
  }

  /// Queues bytes as the next version of a listed or queued file, as ``addVersion(of:at:)`` does.
  @discardableResult
  public func addVersion<Pieces: AsyncSequence & Sendable>(
    of id: String, _ pieces: Pieces
  ) async throws -> QueuedFile where Pieces.Element == [UInt8] {
    try folder.checkOpen()
    let (name, title) = try await catalog.read { try $0.names(ofFile: id) }
    return try await add(pieces) { content, time in
      UploadEntry(versionOf: id, name: name, title: title, content, added: time)
    }
  }

  private func check(_ file: NewFile) throws {
    try folder.checkOpen()
    let lengths = [file.name, file.title].map(\.utf16.count)
    guard lengths.allSatisfy({ 1...255 ~= $0 }), !file.name.contains("/") else {
      throw FileSyncError(
        .invalidUpload,
        "The name of a file has a slash, or its name or title is empty or longer than 255 characters. Correct it."
      )
    }
    guard !file.record.id.isEmpty, !file.record.objectType.isEmpty else {
      throw FileSyncError(.invalidUpload, "A file has no record. Name one.")
    }
  }

  /// Writes bytes to a new content, and adds an entry for it. ``close()`` waits for that: the next opening removes
  /// contents that no entry names.
  private func add<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, _ entry: @Sendable (StoredContent, Int64) -> UploadEntry
  ) async throws -> QueuedFile where Pieces.Element == [UInt8] {
    let content = StoredContent.spooled()
    return try await working(on: content.name) {
      try await add(try await spool(pieces, into: content), entry)
    }
  }

  /// Writes bytes to a new content.
  @concurrent private nonisolated func spool<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, into content: StoredContent
  ) async throws -> StoredContent where Pieces.Element == [UInt8] {
    try onStep()
    do {
      var writer = try ContentWriter(resuming: try content.chunks(in: folder.url))
      for try await piece in pieces {
        try Task.checkCancellation()
        try folder.checkOpen()
        try writer.append(piece)
        try onStep()
      }
      let size = writer.receivedBytes
      let checksum = try writer.finish()
      do throws(FileFailure) {
        try DurableFile.syncFolder(folder.url.path)
      } catch {
        throw FileSyncError(error)
      }
      try onStep()
      return content.known(as: .local(size: size, checksum: checksum))
    } catch {
      // The next opening does it after the end of the process.
      if (try? onStep()) != nil { folder.remove([content.name]) }
      throw error
    }
  }

  private func add(
    _ content: StoredContent, _ entry: @Sendable (StoredContent, Int64) -> UploadEntry
  ) async throws -> QueuedFile {
    let queued = entry(content, now())
    let (quota, kept) = (options.quota, busyIds)
    let evicted: [FileEntry]
    do {
      evicted = try await step { transaction in
        // What it is a version of may have been uploaded in the meantime.
        if let document = queued.documentId { _ = try transaction.names(ofFile: document) }
        try transaction.put([queued])
        guard let quota else { return [] }
        return try transaction.evict(downTo: max(quota, 0), kept)
      }
    } catch {
      if (try? onStep()) != nil { folder.remove([content.name]) }
      throw error
    }
    folder.remove(evicted.flatMap(\.names))
    await announce(evicted.map(\.key))
    await announceQueued([queued.key])
    // It is queued, also if the files were closed in between.
    return (try? await queuedFile(queued.key)) ?? queued.value(.queued, nil, 0)
  }

  private nonisolated func pieces(of url: URL) -> FilePieces { FilePieces(url: url) }

  // MARK: Queries

  /// The files of the queue, in the order in which they were added.
  public func queuedFiles() async throws -> [QueuedFile] {
    try await queuedFiles { try $0.queuedFiles() }
  }

  /// The queued files of a record.
  ///
  /// - Parameter id: The record's id, also its local id if it was created locally and is not uploaded.
  public func queuedFiles(ofRecord id: String) async throws -> [QueuedFile] {
    try await queuedFiles { try $0.queuedFiles(ofRecord: id) }
  }

  /// The queued versions of a file.
  ///
  /// - Parameter id: The id of a `ContentDocument`, or of a queued file.
  public func queuedVersions(of id: String) async throws -> [QueuedFile] {
    try await queuedFiles { try $0.queuedVersions(of: id) }
  }

  /// The queued file with this id.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`.
  public func queuedFile(_ id: String) async throws -> QueuedFile {
    let found = try await queuedFiles { try $0.queued(id).map { [$0] } ?? [] }
    guard let file = found.first else { throw Self.unqueued(id) }
    return file
  }

  /// Each queued file whose state or progress changes, from this call on, in order; progress comes once for each percent.
  /// The last value of a file is `uploaded` or `removed`. The stream keeps what its reader has not read yet, and ends with
  /// ``close()``.
  public nonisolated func changedQueuedFiles() -> AsyncStream<QueuedFile> { queueChanges.stream() }

  private func queuedFiles(
    _ entries: @Sendable (borrowing StoreReader) throws -> [UploadEntry]
  ) async throws -> [QueuedFile] {
    try folder.checkOpen()
    let sources = options.sources
    let found = try await catalog.read { reader in
      var found: [(UploadEntry, UploadStanding)] = []
      for entry in try entries(reader) {
        found.append((entry, try reader.standing(of: entry, sources)))
      }
      return found
    }
    return found.map { entry, standing in
      let sent = progress[entry.key]
      return entry.value(sent == nil ? standing.state(of: entry) : .uploading, standing, sent ?? 0)
    }
  }

  /// Sends queued files' values to those who listen.
  func announceQueued(_ keys: [String]) async {
    for key in keys {
      if let file = try? await queuedFile(key) { queueChanges.send(file) }
    }
  }

  static func unqueued(_ id: String) -> FileSyncError {
    FileSyncError(
      .unknownFile, "No file with the id \(id) is queued. List the queued files.")
  }

  /// One step of work on the queue: a transaction.
  func step<T: Sendable>(
    _ body: @Sendable (borrowing StoreTransaction) throws -> T
  ) async throws -> T {
    try onStep()
    let result = try await catalog.write(body)
    try onStep()
    return result
  }
}

/// The bytes of a file, in pieces of 64 KB.
private struct FilePieces: AsyncSequence, Sendable {
  let url: URL

  func makeAsyncIterator() -> Iterator { Iterator(url: url) }

  struct Iterator: AsyncIteratorProtocol {
    let url: URL
    private var file: OpenFile?

    init(url: URL) { self.url = url }

    mutating func next() async throws -> [UInt8]? {
      do throws(FileFailure) {
        let open: OpenFile
        if let file {
          open = file
        } else {
          open = try OpenFile.reading(url)
          guard try open.isRegular() else {
            throw FileFailure("queued, since it is no regular file", url.path, errno: EINVAL)
          }
        }
        file = open
        let piece = try open.read(65_536)
        return piece.isEmpty ? nil : piece
      } catch {
        throw FileSyncError(.unreadableSource, "\(error).", cause: error)
      }
    }
  }
}

extension UploadEntry {
  /// The entry as callers see it.
  func value(_ state: QueuedFileState, _ standing: UploadStanding?, _ sent: Int64) -> QueuedFile {
    var problem = refusal?.message
    if case .orphaned(let reason) = standing { problem = reason }
    return QueuedFile(
      id: key, name: name, title: title, record: record, versionOf: documentId,
      isAttachment: isAttachment, size: bytes, added: SalesforceDate(milliseconds: added),
      state: state, sentBytes: sent, problem: problem, errorCode: refusal?.errorCode,
      candidates: refusal?.candidates ?? [], fileId: nil)
  }
}

extension StoreReading where Self: ~Copyable {
  /// The name and the title of a file that a version can be added to.
  fileprivate borrowing func names(ofFile id: String) throws -> (name: String, title: String) {
    if let entry = try queued(id) {
      guard !entry.isAttachment else { throw Self.hasNoVersions(id) }
      return (entry.name, entry.title)
    }
    guard let entry = try file(id) else { throw FileSyncManager.unknown(id) }
    guard !entry.isAttachment else { throw Self.hasNoVersions(id) }
    let suffix = entry.fileExtension.map { ".\($0)" } ?? ""
    let title = entry.title.isEmpty ? "file" : entry.title
    let name = title.replacing("/", with: "-")
    return (name.hasSuffix(suffix) ? name : name + suffix, title)
  }

  private static func hasNoVersions(_ id: String) -> FileSyncError {
    FileSyncError(
      .invalidUpload, "The attachment \(id) has no versions. Add another file to its record.")
  }
}

extension StoreTransaction {
  /// Evicts the least recently used content until what is kept fits, as far as that is possible.
  ///
  /// - Returns: The files as they were.
  fileprivate borrowing func evict(downTo quota: Int64, _ kept: Set<String>) throws -> [FileEntry] {
    var excess = try usedBytes() - quota
    var evicted: [FileEntry] = []
    if excess <= 0 { return [] }
    for other in try filesWithContent(usedBefore: .max) where !kept.contains(other.key) {
      if excess <= 0 { break }
      excess -= other.bytes
      evicted.append(other)
    }
    try put(evicted.map { $0.evicted() })
    return evicted
  }
}
