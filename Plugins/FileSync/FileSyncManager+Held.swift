import MobileSync
import SalesforceSDKCommon
import SmartStore

/// Decisions about queued files that are held.
extension FileSyncManager {
  /// Takes a file out of the queue, with its content. One that was sent without an acknowledgement may be on the server.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`, `closed`.
  public func removeQueued(_ id: String) async throws {
    let entry = try await changeQueued(id) { _, entry in entry = nil }
    folder.remove([entry.content.name])
    queueChanges.send(entry.left(.removed))
  }

  /// Queues a file again that the server refused, or that is orphaned.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`, `closed`; `invalidUpload` if it is in doubt.
  public func retry(_ id: String) async throws {
    _ = try await changeQueued(id) { _, entry in
      guard entry?.refusal?.kind != .inDoubt else { throw Self.inDoubt(id) }
      entry?.refusal = nil
    }
    await announceQueued([id])
  }

  /// Queues a file again for another record, such as after its own was deleted. A version becomes a new file.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`, `closed`; `invalidUpload` if the server may have it.
  public func move(_ id: String, to record: FileRecord) async throws {
    _ = try await changeQueued(id) { _, entry in
      guard entry?.mark == nil else { throw Self.inDoubt(id) }
      entry?.refusal = nil
      entry?.documentId = nil
      entry?.recordId = record.id
      entry?.objectType = record.objectType
    }
    await announceQueued([id])
  }

  /// Says what became of a file that is in doubt. The next upload finishes it, or sends it again.
  ///
  /// - Throws: ``FileSyncError`` `unknownFile`, `store`, `closed`; `invalidUpload` if it is not in doubt, or has no such
  ///   candidate.
  public func resolve(_ id: String, as resolution: QueuedFileResolution) async throws {
    _ = try await changeQueued(id) { _, entry in
      guard let refusal = entry?.refusal, refusal.kind == .inDoubt else {
        throw FileSyncError(
          .invalidUpload, "The file \(id) is not in doubt. List the queued files.")
      }
      switch resolution {
      case .isMissing: entry?.mark = nil
      case .isCandidate(let candidate):
        guard refusal.candidates.contains(where: { $0.id == candidate }) else {
          throw FileSyncError(
            .invalidUpload,
            "\(candidate) is no candidate for the file \(id). Choose one of its candidates.")
        }
        entry?.mark?.acceptedId = candidate
      }
      entry?.refusal = nil
    }
    await announceQueued([id])
  }

  private static func inDoubt(_ id: String) -> FileSyncError {
    FileSyncError(
      .invalidUpload,
      "The server may have the file \(id). Upload the queue, and resolve the file if it is in doubt."
    )
  }

  /// Changes or removes a queued file that no upload works on.
  ///
  /// - Returns: The file as it was.
  private func changeQueued(
    _ id: String,
    _ change: @Sendable (borrowing StoreTransaction, inout UploadEntry?) throws -> Void
  ) async throws -> UploadEntry {
    try await working(on: id) {
      try await step { transaction in
        guard let entry = try transaction.queued(id) else { throw Self.unqueued(id) }
        var changed: UploadEntry? = entry
        try change(transaction, &changed)
        if let changed { try transaction.put([changed]) } else { try transaction.removeQueued(id) }
        return entry
      }
    }
  }
}
