package import SmartStore

/// What a store has of files, read without a manager: for tools that look into a store while a program uses it.
///
/// States do not know of downloads that run, nor of records whose soups only the program names.
package struct FileOverview: Sendable {
  /// A file of the server.
  package struct File: Sendable {
    package let id: String
    package let title: String
    package let fileExtension: String?
    package let isAttachment: Bool
    /// The size of the newest version in bytes.
    package let size: Int64
    /// The number of bytes that its content and an interrupted download take here.
    package let storedBytes: Int64
    package let state: FileState
    package let recordIds: [String]
    /// What the last download failed with.
    package let problem: String?
  }

  /// A file that waits for its upload.
  package struct Queued: Sendable {
    package let id: String
    package let name: String
    package let size: Int64
    /// `queued`, `unacknowledged`, or why it is held: `rejected`, `orphaned`, `inDoubt`.
    package let state: QueuedFileState
    /// The record, or the file of which it is a version.
    package let parentId: String?
    /// Why it is held.
    package let reason: String?
  }

  /// The files that changed last first.
  package let files: [File]
  /// The number of all files.
  package let fileCount: Int
  /// In the order of the queue.
  package let queued: [Queued]
  package let usedBytes: Int64

  /// Reads the overview; nil if the store has no files.
  ///
  /// - Parameter limit: The maximum number of files in ``files``.
  package static func read(from store: SmartStore, limit: Int) async throws -> FileOverview? {
    guard try await store.soupExists(forName: FileCatalog.files),
      try await store.soupExists(forName: UploadQueue.soupName)
    else { return nil }
    return try await store.read { reader in
      let ids = try reader.fileIds()
      let shown = Array(ids.prefix(limit))
      let entries = Dictionary(
        try reader.files(shown).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      let records = try reader.records(ofFiles: shown)
      return FileOverview(
        files: shown.compactMap { id in
          entries[id].map { File($0, records[id]?.map(\.id) ?? []) }
        }, fileCount: ids.count, queued: try reader.queuedFiles().map(Queued.init),
        usedBytes: try reader.usedBytes())
    }
  }
}

extension FileOverview.File {
  fileprivate init(_ entry: FileEntry, _ recordIds: [String]) {
    id = entry.key
    title = entry.title
    fileExtension = entry.fileExtension
    isAttachment = entry.isAttachment
    size = entry.version.size
    storedBytes = entry.bytes
    state =
      entry.isAvailable
      ? .available
      : entry.part != nil ? .partial : entry.content != nil ? .outdated : .onServer
    self.recordIds = recordIds
    problem = entry.problem
  }
}

extension FileOverview.Queued {
  fileprivate init(_ entry: UploadEntry) {
    id = entry.key
    name = entry.name
    size = entry.bytes
    parentId = entry.recordId ?? entry.documentId
    reason = entry.refusal?.message
    state =
      entry.refusal != nil
      ? UploadStanding.held.state(of: entry) : entry.mark != nil ? .unacknowledged : .queued
  }
}
