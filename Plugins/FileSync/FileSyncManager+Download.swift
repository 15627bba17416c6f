import HTTPTypes
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// What a download may evict to make room.
enum Eviction: Sendable {
  /// Whatever no call works on.
  case everything
  /// Content that was neither used nor changed since the file itself changed.
  case olderContent
}

extension FileSyncManager {
  /// Downloads the newest version of a file, unless it is on this device already.
  ///
  /// It resumes what an earlier download left. An older version stays readable until the newer one is complete and
  /// verified. If the file changes on the server during the download, the download starts over with the new version.
  ///
  /// - Returns: The file, `available`, unless a refresh found a newer version since.
  /// - Throws: ``FileSyncError`` `unknownFile`, `quotaExceeded`, `verificationFailed`, `goneOnServer`, `server`,
  ///   `transport`, `unexpectedResponse`, `diskFull`, `inputOutput`, `store`, `closed`; `CancellationError`. After an
  ///   interruption the part stays, for the next download.
  @discardableResult
  public func download(_ id: String) async throws -> SyncedFile {
    try await download(id, evicting: .everything)
    return try await file(id)
  }

  func download(_ id: String, evicting eviction: Eviction) async throws {
    do {
      try await working(on: id) {
        defer { progress.end(id) }
        try await downloadAlone(id, eviction)
      }
      await announce([id])
    } catch {
      try? await note((error as? FileSyncError)?.message, of: id)
      await announce([id])
      throw error
    }
  }

  /// Stores what a download failed with.
  private func note(_ problem: String?, of id: String) async throws {
    try await catalog.write { transaction in
      guard var entry = try transaction.file(id) else { return }
      entry.problem = problem
      try transaction.put([entry])
    }
  }

  private func downloadAlone(_ id: String, _ eviction: Eviction) async throws {
    // A file that changes on the server as fast as it is downloaded is left to the next call.
    for _ in 0..<3 {
      guard let entry = try await catalog.read({ try $0.file(id) }) else { throw Self.unknown(id) }
      if entry.isAvailable {
        return try await use(id, eviction)
      }
      let part: StoredContent
      if let usable = entry.usablePart {
        part = usable
      } else {
        part = try await reserve(entry, eviction)
      }
      if try await fetch(part, entry, eviction) { return }
    }
    throw FileSyncError(
      .verificationFailed, "The file \(id) changed on the server during each attempt. Retry later.")
  }

  /// The content counts as used, if it was requested.
  private func use(_ id: String, _ eviction: Eviction) async throws {
    guard eviction == .everything else { return }
    let time = now()
    try await catalog.write { transaction in
      guard var entry = try transaction.file(id) else { return }
      entry.used = max(entry.used, time)
      entry.problem = nil
      try transaction.put([entry])
    }
  }

  // MARK: Quota

  /// Makes room for a new part of a file, and stores it. Evicted files go after the commit: a process that ends in
  /// between leaves files that no entry names, which the next opening removes.
  private func reserve(_ file: FileEntry, _ eviction: Eviction) async throws -> StoredContent {
    let part = StoredContent(of: file.version)
    let (quota, kept, time) = (options.quota, busyIds, now())
    let evicted = try await catalog.write { transaction -> [FileEntry] in
      guard var entry = try transaction.file(file.key) else { throw Self.unknown(file.key) }
      entry.begin(part)
      if eviction == .everything { entry.used = max(entry.used, time) }
      try transaction.put([entry])
      guard let quota else { return [] }
      let evicted = try transaction.evict(
        downTo: max(quota, 0), for: entry,
        usedBefore: eviction == .everything ? .max : entry.changed, kept)
      return evicted
    }
    let names = [file.part?.name].compactMap(\.self) + evicted.flatMap(\.names)
    folder.remove(names)
    await announce(evicted.map(\.key))
    return part
  }

  // MARK: Bytes

  /// Downloads a part to its end and verifies it.
  ///
  /// - Returns: False if the server has another version by now.
  private func fetch(
    _ part: StoredContent, _ entry: FileEntry, _ eviction: Eviction
  ) async throws -> Bool {
    let chunks = try part.chunks(in: folder.url)
    var writer = try ContentWriter(resuming: chunks)
    var isResumed = writer.storedBytes > 0
    _ = progress.update(entry.key, writer.storedBytes, of: chunks.size)
    await announce([entry.key])
    var interruptions = 0
    while writer.receivedBytes < chunks.size {
      try folder.checkOpen()
      let before = writer.storedBytes
      let interruption: FileSyncError?
      switch try await receive(into: writer, part, entry) {
      case .changed: return try await startOver(entry, part)
      case .refused(let error): return try await refuse(entry, part, isResumed, error)
      case .ended(let next):
        writer =
          next.receivedBytes == chunks.size ? next : try ContentWriter(resuming: chunks)
        interruption = FileSyncError(
          .transport,
          "The server sent less of the file \(entry.key) than was requested. Retry later.")
      case .interrupted(let error):
        writer = try ContentWriter(resuming: chunks)
        interruption = error
      }
      if writer.receivedBytes == chunks.size { break }
      // What has no checksum comes in one response, or not at all.
      if let interruption, part.version.checksum == nil { throw interruption }
      interruptions += 1
      isResumed = true
      if let interruption, writer.storedBytes <= before || interruptions > 9 { throw interruption }
    }
    let checksum = try writer.finish()
    if let expected = part.version.checksum {
      if checksum != expected {
        let error = FileSyncError(
          .verificationFailed,
          "The bytes of the file \(entry.key) do not have the checksum that the server announced. Retry later."
        )
        return try await refuse(entry, part, isResumed, error)
      }
    } else {
      let file = try await listing.file(entry.key, isAttachment: entry.isAttachment)
      if let file, !file.version.hasContent(of: part.version) {
        return try await startOver(entry, part, file)
      }
    }
    return try await complete(entry.key, part, eviction)
  }

  /// The bytes are not those that were announced: they were mixed from two versions, or the announcement is old, or the
  /// server is wrong.
  private func refuse(
    _ entry: FileEntry, _ part: StoredContent, _ resumed: Bool, _ error: FileSyncError
  ) async throws -> Bool {
    let file = try await listing.file(entry.key, isAttachment: entry.isAttachment)
    let isOld = file.map { !$0.version.hasContent(of: part.version) } ?? true
    _ = try await startOver(entry, part, file)
    guard isOld || resumed else { throw error }
    return false
  }

  /// Drops a part, and takes over what the server has now.
  ///
  /// - Returns: False.
  private func startOver(
    _ entry: FileEntry, _ part: StoredContent, _ found: ListedFile? = nil
  ) async throws -> Bool {
    var found = found
    if found == nil {
      found = try await listing.file(entry.key, isAttachment: entry.isAttachment)
    }
    let file = found
    try await catalog.write { transaction in
      guard var entry = try transaction.file(entry.key) else { return }
      if let file { entry.update(by: file) }
      if entry.part?.name == part.name { entry.dropPart() }
      try transaction.put([entry])
    }
    folder.remove([part.name])
    guard file != nil else {
      throw FileSyncError(
        .goneOnServer, "The server has the file \(entry.key) no more. Refresh to remove it.")
    }
    return false
  }

  /// The part becomes the content.
  ///
  /// - Returns: False if it was evicted in between.
  private func complete(
    _ id: String, _ part: StoredContent, _ eviction: Eviction
  ) async throws -> Bool {
    let time = now()
    let old = try await catalog.write { transaction -> [String]? in
      guard var entry = try transaction.file(id) else { throw Self.unknown(id) }
      guard entry.part?.name == part.name else { return nil }
      let old = [entry.content?.name].compactMap(\.self)
      entry.complete()
      if eviction == .everything { entry.used = max(entry.used, time) }
      try transaction.put([entry])
      return old
    }
    guard let old else { return false }
    folder.remove(old)
    return true
  }

  /// What one response brought.
  private enum Arrival: Sendable {
    /// Bytes up to the end of the response.
    case ended(ContentWriter)
    /// The connection ended before the response did.
    case interrupted(FileSyncError)
    /// The response is of another content than was announced.
    case changed
    /// More bytes than were announced.
    case refused(FileSyncError)
  }

  /// Receives one response.
  private nonisolated func receive(
    into writer: ContentWriter, _ part: StoredContent, _ entry: FileEntry
  ) async throws -> Arrival {
    do {
      return try await client.withStream(to: request(for: part, entry, from: writer.storedBytes)) {
        stream in
        try await self.take(stream, writer, part.version.size, of: entry.key)
      }
    } catch {
      if let error = error as? RestError, error.code == .server(416) { return .changed }
      let known = FileSyncError.sending(error, of: "the content of the file \(entry.key)")
      if let known = known as? FileSyncError {
        if known.code == .transport { return .interrupted(known) }
        if known.code == .verificationFailed { return .refused(known) }
      }
      throw known
    }
  }

  private nonisolated func request(
    for part: StoredContent, _ entry: FileEntry, from start: Int64
  ) -> RestRequest {
    let path =
      entry.isAttachment
      ? "Attachment/\(PercentEncoding.encode(entry.key))/Body"
      : "ContentVersion/\(PercentEncoding.encode(part.version.id))/VersionData"
    var request = RestRequest(path: "/{v}/sobjects/\(path)", headers: [.acceptEncoding: "identity"])
    request.maxResponseBytes = Int(clamping: RestClient.defaultMaxDownloadBytes)
    if start > 0 { request.headers[.range] = "bytes=\(start)-" }
    return request
  }

  /// Appends the body of a response.
  private nonisolated func take(
    _ stream: RestStream, _ start: ContentWriter, _ size: Int64, of id: String
  ) async throws -> Arrival {
    var writer = start
    if stream.status != 206, let length = stream.expectedBytes, length != size { return .changed }
    if stream.status == 206 {
      let range = ContentRange(stream.headers[.contentRange] ?? "")
      guard let range, writer.storedBytes > 0, range.first == writer.storedBytes,
        range.total == size
      else { return .changed }
    } else if writer.storedBytes > 0 {
      // The server does not send ranges.
      try writer.restart()
    }
    for try await piece in stream.body {
      try folder.checkOpen()
      try writer.append(piece)
      try onPiece(writer.receivedBytes)
      if progress.update(id, writer.receivedBytes, of: size) { await announce([id]) }
    }
    return .ended(writer)
  }
}

/// The range of a partial response.
private struct ContentRange {
  let first: Int64
  let total: Int64

  /// Reads `bytes 100-199/5000`; nil for another form.
  init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/")
    guard parts.count == 2, let total = Int64(parts[1]),
      let first = parts[0].split(separator: "-").first.flatMap({ Int64($0) })
    else { return nil }
    (self.first, self.total) = (first, total)
  }
}

extension StoreTransaction {
  /// Evicts content until what is kept fits, the least recently used first.
  ///
  /// - Returns: The files as they were.
  /// - Throws: ``FileSyncError`` `quotaExceeded`.
  fileprivate borrowing func evict(
    downTo quota: Int64, for file: FileEntry, usedBefore limit: Int64, _ kept: Set<String>
  ) throws -> [FileEntry] {
    var excess = try usedBytes() - quota
    var evicted: [FileEntry] = []
    if excess <= 0 { return [] }
    for other in try filesWithContent(usedBefore: limit) {
      if excess <= 0 { break }
      if kept.contains(other.key) { continue }
      excess -= other.bytes
      evicted.append(other)
    }
    if excess > 0 {
      throw FileSyncError(
        .quotaExceeded,
        "The file \(file.key) has \(file.version.size) bytes, \(excess) more than the quota of \(quota) bytes has "
          + "room for. Raise the quota, or evict files.")
    }
    try put(evicted.map { $0.evicted() })
    return evicted
  }
}
