public import SalesforceSDKCommon

/// A file that is to be uploaded to a record, as the caller describes it.
public struct NewFile: Sendable, Hashable {
  /// The file's name with its extension, such as `roof.jpg`. The server derives the file's type from it.
  public var name: String
  /// The title. Default: the name without its extension.
  public var title: String
  /// The record that the file is attached to. Its id may be the local id of a record that was created locally.
  public var record: FileRecord
  /// The description. Default: none.
  public var description: String?
  /// Whether an `Attachment` is created, which older orgs have, in the place of a file. Default: false.
  public var isAttachment: Bool

  /// Describes a file; each default is described at its property.
  public init(
    name: String, title: String? = nil, record: FileRecord, description: String? = nil,
    isAttachment: Bool = false
  ) {
    self.name = name
    self.title = title ?? Self.title(of: name)
    self.record = record
    self.description = description
    self.isAttachment = isAttachment
  }

  static func title(of name: String) -> String {
    guard let point = name.lastIndex(of: "."), point > name.startIndex else { return name }
    return String(name[..<point])
  }
}

/// What a queued file waits for, or what became of it.
public struct QueuedFileState: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String {
    case queued, waitingForRecord, waitingForFile, uploading, unacknowledged, inDoubt, rejected
    case orphaned, uploaded, removed
  }
  private let kind: Kind

  /// The next upload sends it. Becomes `uploading`.
  public static let queued = QueuedFileState(kind: .queued)
  /// Its record was created locally and has no id of the server's yet. Becomes `queued` by a sync up.
  public static let waitingForRecord = QueuedFileState(kind: .waitingForRecord)
  /// It is a version of a file, of which an earlier version is queued. Becomes `queued` once that is uploaded.
  public static let waitingForFile = QueuedFileState(kind: .waitingForFile)
  /// A request sends it. Becomes `uploaded`, `unacknowledged`, `rejected`, `orphaned`, or `queued` if nothing was sent.
  public static let uploading = QueuedFileState(kind: .uploading)
  /// It was sent, and no response came: the server may have it. The next upload searches it before anything is sent.
  public static let unacknowledged = QueuedFileState(kind: .unacknowledged)
  /// It was sent, and the server has what may be it, or cannot be searched. Becomes `uploaded` or `queued` by
  /// ``FileSyncManager/resolve(_:as:)``.
  public static let inDoubt = QueuedFileState(kind: .inDoubt)
  /// The server refused it, or its content is damaged. Becomes `queued` by ``FileSyncManager/retry(_:)``.
  public static let rejected = QueuedFileState(kind: .rejected)
  /// Its record, or the file that it is a version of, is deleted. Becomes `queued` by
  /// ``FileSyncManager/move(_:to:)``, or once the record is there again.
  public static let orphaned = QueuedFileState(kind: .orphaned)
  /// The server has it, and it has left the queue.
  public static let uploaded = QueuedFileState(kind: .uploaded)
  /// It was removed from the queue before the server had it.
  public static let removed = QueuedFileState(kind: .removed)

  /// The name of the state.
  public var description: String { kind.rawValue }
}

/// A new file, or a new version of one, that is to be uploaded.
public struct QueuedFile: Sendable, Hashable, Identifiable {
  /// What the server has that may be this file, after its upload was not acknowledged.
  public struct Candidate: Sendable, Hashable, Codable {
    /// The id of the `ContentVersion`, or of the `Attachment`.
    public let id: String
    /// The size in bytes.
    public let size: Int64
    /// The MD5 in 32 lower-case digits; nil for attachments.
    public let checksum: String?

    init(_ version: FileVersion) {
      (id, size, checksum) = (version.id, version.size, version.checksum)
    }
  }

  /// The id in the queue. The server gives the file another one.
  public let id: String
  /// The file's name with its extension.
  public let name: String
  /// The title.
  public let title: String
  /// The record; nil for a version of a file.
  public let record: FileRecord?
  /// The file that it is a version of: the id of a `ContentDocument`, or that of another queued file; nil for a new file.
  public let versionOf: String?
  /// Whether it becomes an `Attachment`.
  public let isAttachment: Bool
  /// The size in bytes.
  public let size: Int64
  /// When it was queued.
  public let added: SalesforceDate
  /// What it waits for.
  public let state: QueuedFileState
  /// The number of bytes that the running request has sent.
  public let sentBytes: Int64
  /// Why it is held, as a sentence: of the server, if that refused it. Nil if it is not held.
  public let problem: String?
  /// The server's code of a refusal, such as `STORAGE_LIMIT_EXCEEDED`.
  public let errorCode: String?
  /// What the server has that may be this file. Only if it is `inDoubt`.
  public let candidates: [Candidate]
  /// The id of the file on the server. Only if it is `uploaded`.
  public let fileId: String?
}

/// What to do with a file that is in doubt.
public enum QueuedFileResolution: Sendable, Hashable {
  /// The server has it, as this candidate.
  case isCandidate(String)
  /// The server does not have it: it is queued again.
  case isMissing
}

/// What became of the queued files in an upload, each by its id in the queue.
public struct FileUploadReport: Sendable, Hashable {
  /// The files that the server has now, with their ids there.
  public internal(set) var uploaded: [String: String] = [:]
  /// The files that wait for the server's id of a record, or for an earlier version.
  public internal(set) var waiting: [String] = []
  /// The files that were sent without an acknowledgement and not found by a search, which may be too early.
  public internal(set) var unacknowledged: [String] = []
  /// The files that need a decision: ``FileSyncManager/resolve(_:as:)``.
  public internal(set) var inDoubt: [String] = []
  /// The files that the server refused, with its reason.
  public internal(set) var rejected: [String: String] = [:]
  /// The files whose records, or earlier versions, are deleted, with a reason.
  public internal(set) var orphaned: [String: String] = [:]
  /// The files that the server could not accept now, with its reason. They stay queued.
  public internal(set) var delayed: [String: String] = [:]

  /// Whether no file is left in the queue.
  public var isComplete: Bool {
    waiting.isEmpty && unacknowledged.isEmpty && inDoubt.isEmpty && rejected.isEmpty
      && orphaned.isEmpty && delayed.isEmpty
  }
}
