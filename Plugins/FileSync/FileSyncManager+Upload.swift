import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

extension FileSyncManager {
  /// Uploads the files of the queue in order, each by one request that sends its content while it is decrypted.
  ///
  /// A file that was sent without an acknowledgement is searched on the server before anything is sent: it is uploaded once.
  /// What the server refuses stays in the queue with the reason, and does not keep others back.
  ///
  /// - Throws: ``FileSyncError`` `transport`, `server` if the server cannot be reached or used now; `store`, `inputOutput`,
  ///   `closed`; errors of the session; `CancellationError`. The files stay in the queue, in their states.
  @discardableResult
  public func upload() async throws -> FileUploadReport {
    try await working(on: Self.queueLock) {
      var report = FileUploadReport()
      for key in try await catalog.read({ try $0.queuedKeys() }) {
        try Task.checkCancellation()
        try folder.checkOpen()
        try await working(on: key) { try await upload(key, &report) }
      }
      return report
    }
  }

  private func upload(_ key: String, _ report: inout FileUploadReport) async throws {
    let sources = options.sources
    var found = try await catalog.read { try $0.queuedFile(key, sources) }
    if let (entry, standing) = found, standing == .unacknowledged {
      guard try await recover(entry, &report) else { return }
      found = try await catalog.read { try $0.queuedFile(key, sources) }
    }
    guard let (entry, standing) = found else { return }
    switch standing {
    case .ready(let parentId): try await send(entry, to: parentId, &report)
    case .waitingForRecord, .waitingForFile: report.waiting.append(key)
    case .unacknowledged: report.unacknowledged.append(key)
    case .orphaned(let reason): report.orphaned[key] = reason
    case .held: report.add(key, entry.refusal)
    }
  }

  // MARK: Sending

  private func send(
    _ entry: UploadEntry, to parentId: String, _ report: inout FileUploadReport
  ) async throws {
    let content: FileContent?
    do {
      content = try FileContent(entry.content, in: folder.url)
    } catch {
      content = nil
    }
    guard let content else {
      return try await hold(
        entry.key,
        UploadEntry.Refusal(
          kind: .rejected, errorCode: nil,
          message: "The stored content is missing. Remove the file, and add it again."), &report)
    }
    var before: [String]?
    if entry.isAttachment {
      before = try await listing.attachments(
        where: "ParentId = \(SOQLLiteral.text(parentId))"
      ).map(\.file.id)
    }
    let mark = UploadEntry.Mark(parentId: parentId, before: before)
    let sources = options.sources
    let isMarked = try await step { transaction in
      guard var entry = try transaction.queued(entry.key),
        try transaction.standing(of: entry, sources) == .ready(parentId: parentId)
      else { return false }
      entry.mark = mark
      try transaction.put([entry])
      return true
    }
    guard isMarked else {
      report.waiting.append(entry.key)
      return
    }
    let id: String
    do {
      id = try await send(entry.request(to: parentId, content), of: entry)
    } catch {
      return try await fail(entry, mark, error, &report)
    }
    await announceQueued([entry.key])
    do {
      try onStep()
      let found = try await search.file(id, of: entry)
      if let version = found?.file.version, !version.hasBytes(of: entry.content.version) {
        return try await hold(
          entry.key,
          UploadEntry.Refusal(
            kind: .inDoubt, errorCode: nil, message: "The server has other bytes than were sent.",
            candidates: [QueuedFile.Candidate(version)]), &report)
      }
      try await finish(entry, found?.file, found?.isLatest ?? false, versionId: id, &report)
    } catch {
      // The response is not lost with this.
      try await step { transaction in
        guard var entry = try transaction.queued(entry.key) else { return }
        entry.mark?.acceptedId = id
        entry.mark?.ended = 0
        try transaction.put([entry])
      }
      throw error
    }
  }

  /// Sends a request, whose progress the file's value has.
  ///
  /// - Returns: The id of what was created.
  private func send(_ request: RestRequest, of entry: UploadEntry) async throws -> String {
    let (key, size, client, transfer) = (entry.key, entry.bytes, client, TransferProgress())
    _ = progress.update(key, 0, of: size)
    defer { progress.end(key) }
    await announceQueued([key])
    try onStep()
    let watch = Task {
      for await amounts in transfer.updates() where amounts.toSend > 0 {
        // The request has a head of its fields.
        let sent = min(max(amounts.sent - (amounts.toSend - size), 0), size)
        if self.progress.update(key, sent, of: size) { await self.announceQueued([key]) }
      }
    }
    let task = Task { try await client.send(request, progress: transfer) }
    sending = task
    defer { sending = nil }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    await watch.value
    try onStep()
    guard let id = try result.get().json()["id"]?.string, !id.isEmpty else {
      throw RestError(.malformedResponse, "The response to an upload has no id.")
    }
    return id
  }

  // MARK: Outcomes

  /// The server has the file: it leaves the queue, and its content becomes that of the listed file.
  private func finish(
    _ entry: UploadEntry, _ version: ListedFile?, _ isLatest: Bool, versionId: String,
    _ report: inout FileUploadReport
  ) async throws {
    var listed = version
    if let version, !isLatest {
      listed = try await listing.file(version.id, isAttachment: false) ?? version
    }
    let (uploaded, newest, parentId) = (version, listed, entry.mark?.parentId)
    let sources = options.sources
    let body: () async throws -> [StoredContent] = {
      try await self.step { transaction in
        guard let entry = try transaction.queued(entry.key) else { return [] }
        try transaction.removeQueued(entry.key)
        try transaction.claim(versionId, in: entry)
        guard let uploaded, let newest else { return [entry.content] }
        for var next in try transaction.queuedVersions(of: entry.key) {
          next.documentId = uploaded.id
          try transaction.put([next])
        }
        var file = try transaction.file(uploaded.id) ?? FileEntry(newest)
        file.update(by: newest)
        // A candidate that the caller chose may have other bytes.
        let old =
          uploaded.version.hasBytes(of: entry.content.version)
          ? file.take(entry.content.known(as: uploaded.version)) : [entry.content]
        try transaction.put([file])
        if let parent = parentId ?? entry.mark?.parentId, let type = entry.objectType,
          sources.contains(where: { $0.objectType == type })
        {
          try transaction.put([
            FileLink(
              file: uploaded.id, record: FileRecord(id: parent, objectType: type), run: "uploaded")
          ])
        }
        return old
      }
    }
    let old = if let uploaded { try await working(on: uploaded.id, body) } else { try await body() }
    folder.remove(old.map(\.name))
    report.uploaded[entry.key] = version?.id ?? versionId
    queueChanges.send(entry.left(.uploaded, as: version?.id ?? versionId))
    if let uploaded { await announce([uploaded.id]) }
  }

  /// The request did not succeed.
  private func fail(
    _ entry: UploadEntry, _ mark: UploadEntry.Mark, _ error: any Error,
    _ report: inout FileUploadReport
  ) async throws {
    switch UploadFailure(error) {
    case .refused(let refusal): try await hold(entry.key, refusal, &report)
    case .notSent(let error):
      try await unmark(entry.key)
      await announceQueued([entry.key])
      throw try closedOr(error)
    case .delayed(let message):
      try await unmark(entry.key)
      await announceQueued([entry.key])
      report.delayed[entry.key] = message
    case .unknown(let error, let mayArrive):
      var left = mark
      left.ended = now()
      left.mayArrive = mayArrive
      let ended = left
      let key = entry.key
      try await step { transaction in
        guard var entry = try transaction.queued(key) else { return }
        entry.mark = ended
        try transaction.put([entry])
      }
      await announceQueued([key])
      if error is CancellationError { throw try closedOr(error) }
      if (error as? FileSyncError)?.code == .transport { throw error }
      report.unacknowledged.append(key)
    }
  }

  /// The request was ended by ``close()``.
  private func closedOr(_ error: any Error) throws -> any Error {
    try folder.checkOpen()
    return error
  }

  /// Nothing was created.
  private func unmark(_ key: String) async throws {
    try await step { transaction in
      guard var entry = try transaction.queued(key) else { return }
      entry.mark = nil
      try transaction.put([entry])
    }
  }

  private func hold(
    _ key: String, _ refusal: UploadEntry.Refusal, _ report: inout FileUploadReport
  ) async throws {
    try await step { transaction in
      guard var entry = try transaction.queued(key) else { return }
      entry.refusal = refusal
      if refusal.kind != .inDoubt { entry.mark = nil }
      try transaction.put([entry])
    }
    report.add(key, refusal)
    await announceQueued([key])
  }

  // MARK: Recovery

  /// Searches for what became of a file that was sent without an acknowledgement.
  ///
  /// - Returns: Whether the server does not have it, so that it is queued again.
  private func recover(
    _ entry: UploadEntry, _ report: inout FileUploadReport
  ) async throws -> Bool {
    guard var mark = entry.mark else { return true }
    // The mark of a file from another device may have the record's local id.
    if SyncKeys.isLocalId(mark.parentId), let id = entry.recordId {
      mark.parentId = try await catalog.read { try $0.serverId(ofLocalId: id) ?? id }
    }
    switch try await search.find(entry, mark) {
    case .found(let file, let isLatest):
      try await finish(entry, file, isLatest, versionId: file.version.id, &report)
      return false
    case .inDoubt(let candidates, let reason):
      try await hold(
        entry.key,
        UploadEntry.Refusal(
          kind: .inDoubt, errorCode: nil, message: reason, candidates: candidates), &report)
      return false
    case .missing:
      if let id = mark.acceptedId {
        // It was accepted, and is deleted or hidden since.
        try await finish(entry, nil, false, versionId: id, &report)
        return false
      }
      if mark.mayArrive, try await mayStillArrive(entry.key) {
        report.unacknowledged.append(entry.key)
        return false
      }
      try await unmark(entry.key)
      return true
    }
  }

  /// Whether the time has not passed in which the server may still create a file whose request is over.
  private func mayStillArrive(_ key: String) async throws -> Bool {
    let time = now()
    let ended = try await step { transaction -> Int64 in
      guard var entry = try transaction.queued(key) else { return time }
      // A clock that was set back since must not hold the file for long.
      if let ended = entry.mark?.ended, ended <= time { return ended }
      entry.mark?.ended = time
      try transaction.put([entry])
      return time
    }
    return Duration.milliseconds(time - ended) < options.lateArrival
  }

  private var search: UploadSearch { UploadSearch(listing: listing, client: client) }

  /// Notes when requests of a process that ended were certainly over.
  func endInterruptedUploads() async throws {
    let time = now()
    let isNeeded = try await catalog.read { reader in
      try reader.queuedFiles().contains { $0.mark.map { $0.ended == nil } ?? false }
    }
    guard isNeeded else { return }
    try await catalog.write { transaction in
      for var entry in try transaction.queuedFiles() {
        guard let mark = entry.mark, mark.ended == nil else { continue }
        entry.mark?.ended = time
        try transaction.put([entry])
      }
    }
  }
}

extension FileUploadReport {
  fileprivate mutating func add(_ key: String, _ refusal: UploadEntry.Refusal?) {
    guard let refusal else { return }
    switch refusal.kind {
    case .rejected: rejected[key] = refusal.message
    case .orphaned: orphaned[key] = refusal.message
    case .inDoubt: inDoubt.append(key)
    }
  }
}

extension UploadEntry {
  /// The last value of the file.
  func left(_ state: QueuedFileState, as fileId: String? = nil) -> QueuedFile {
    QueuedFile(
      id: key, name: name, title: title, record: record, versionOf: documentId,
      isAttachment: isAttachment, size: bytes, added: SalesforceDate(milliseconds: added),
      state: state, sentBytes: state == .uploaded ? bytes : 0, problem: nil, errorCode: nil,
      candidates: [], fileId: fileId)
  }
}

extension StoreTransaction {
  /// An attachment that is one upload's is no candidate of another's.
  fileprivate borrowing func claim(_ id: String, in entry: UploadEntry) throws {
    guard entry.isAttachment else { return }
    for var other in try queuedFiles() {
      guard other.mark?.before != nil else { continue }
      other.mark?.before?.append(id)
      try put([other])
    }
  }
}
