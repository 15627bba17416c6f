public import SalesforceSDKCommon

/// A version of a file's content on the server.
public struct FileVersion: Sendable, Hashable, Codable {
  /// The id of the `ContentVersion`, or of the `Attachment`.
  public let id: String
  /// The size in bytes.
  public let size: Int64
  /// The MD5 in 32 lower-case digits; nil for attachments, of which the platform gives none.
  public let checksum: String?
  /// The last change of the record, as the server writes it.
  let stamp: String?
  /// The last change of the content, as the server writes it.
  let changed: String?

  /// The last change of the content; nil if the server gives none.
  public var modified: SalesforceDate? { changed.flatMap(SalesforceDate.parse) }

  /// The version of content that the server does not have yet.
  static func local(size: Int64, checksum: String?) -> FileVersion {
    FileVersion(id: "", size: size, checksum: checksum, stamp: nil, changed: nil)
  }

  /// Whether the bytes are those of `sent`, as far as size and checksum show it.
  func hasBytes(of sent: FileVersion) -> Bool {
    size == sent.size && (checksum == nil || checksum == sent.checksum)
  }

  /// Whether two descriptions are of the same bytes. A document's title may change without them; of an attachment,
  /// only the date shows a change.
  func hasContent(of other: FileVersion) -> Bool {
    id == other.id && size == other.size && checksum == other.checksum
      && (checksum != nil || stamp == other.stamp)
  }
}

/// A record that a file belongs to.
public struct FileRecord: Sendable, Hashable, Codable {
  /// The record's id on the server; for a queued file, also the local id of a record that was created locally.
  public let id: String
  /// Its object type, by the source of the record.
  public let objectType: String

  /// Names a record.
  public init(id: String, objectType: String) {
    self.id = id
    self.objectType = objectType
  }
}

/// What a store has of a file's newest content.
public struct FileState: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case onServer, downloading, partial, outdated, available }
  private let kind: Kind

  /// Nothing. Becomes `downloading`.
  public static let onServer = FileState(kind: .onServer)
  /// A download runs. Becomes `available`, or `partial` if it is interrupted, or `onServer` if it fails.
  public static let downloading = FileState(kind: .downloading)
  /// A beginning, which the next download resumes. Becomes `downloading`, or `onServer` by eviction.
  public static let partial = FileState(kind: .partial)
  /// The content of an older version. Becomes `downloading`, or `onServer` by eviction.
  public static let outdated = FileState(kind: .outdated)
  /// All of it, verified. Becomes `outdated` by a change on the server, or `onServer` by eviction.
  public static let available = FileState(kind: .available)

  /// The name of the state.
  public var description: String { kind.rawValue }
}

/// A file of synced records: what the server says of it, and how much of it is on this device.
public struct SyncedFile: Sendable, Hashable, Identifiable {
  /// The id of the `ContentDocument`, or of the `Attachment`.
  public let id: String
  /// Whether it is an `Attachment` of an older org.
  public let isAttachment: Bool
  /// The title.
  public let title: String
  /// The extension of the file's name, without the point; nil if it has none.
  public let fileExtension: String?
  /// The newest version on the server, as of the last refresh.
  public let version: FileVersion
  /// The synced records that it belongs to, in order of their ids.
  public let records: [FileRecord]
  /// What is on this device.
  public let state: FileState
  /// The number of bytes of the newest version that are on this device.
  public let receivedBytes: Int64
  /// Whether ``FileSyncManager/content(of:)`` returns content, if only of an older version.
  public let hasContent: Bool
  /// What the last download failed with, as a sentence; nil if it did not fail.
  public let problem: String?
}

/// What a sync of files did.
public struct FileSyncReport: Sendable {
  /// What became of the queued files.
  public internal(set) var uploads = FileUploadReport()
  /// The number of files of the sources' records.
  public internal(set) var listed = 0
  /// The number of files that went away since the last refresh, with their content.
  public internal(set) var removed = 0
  /// The ids of files that were downloaded.
  public internal(set) var downloaded: [String] = []
  /// The ids of files that a rule names and the quota has no room for.
  public internal(set) var beyondQuota: [String] = []
  /// The ids of files that could not be downloaded, with the reason.
  public internal(set) var failed: [String: FileSyncError] = [:]
}
