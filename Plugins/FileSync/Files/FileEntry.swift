import SalesforceSDKCommon

/// A file as the soup `syncs_files` keeps it.
struct FileEntry: Codable, Sendable {
  /// The file's id.
  let key: String
  let isAttachment: Bool
  var title: String
  var fileExtension: String?
  /// The newest version on the server.
  var version: FileVersion
  /// When that was changed last, in milliseconds since 1970; 0 if the server gives no date.
  var changed: Int64
  /// The verified content.
  private(set) var content: StoredContent?
  /// The content that is being downloaded.
  private(set) var part: StoredContent?
  /// How recent the content counts as, in milliseconds since 1970: when it was opened last, or changed.
  var used: Int64
  /// The number of bytes that content and part take of the quota.
  private(set) var bytes: Int64 = 0
  /// What the last download failed with.
  var problem: String?

  init(_ listed: ListedFile) {
    key = listed.id
    isAttachment = listed.isAttachment
    title = listed.title
    fileExtension = listed.fileExtension
    version = listed.version
    changed = listed.version.modified?.milliseconds ?? 0
    used = changed
  }

  /// Takes what the server says now.
  mutating func update(by listed: ListedFile) {
    title = listed.title
    fileExtension = listed.fileExtension
    version = listed.version
    changed = listed.version.modified?.milliseconds ?? 0
  }

  /// Whether the content is of the newest version.
  var isAvailable: Bool { content.map { $0.version.hasContent(of: version) } ?? false }

  /// The part that can be resumed. Without a checksum, nothing would show that the rest is of another version: dates
  /// have whole seconds.
  var usablePart: StoredContent? {
    part.flatMap { $0.version.checksum != nil && $0.version.hasContent(of: version) ? $0 : nil }
  }

  mutating func begin(_ part: StoredContent) {
    self.part = part
    count()
  }

  mutating func dropPart() {
    part = nil
    count()
  }

  /// The part is complete and verified.
  mutating func complete() {
    content = part
    part = nil
    problem = nil
    count()
  }

  /// Takes content that was uploaded from this device, unless what is here is of a later version.
  ///
  /// - Returns: The content that is not needed any more.
  mutating func take(_ uploaded: StoredContent) -> [StoredContent] {
    if isAvailable, !uploaded.version.hasContent(of: version) { return [uploaded] }
    var old = [content].compactMap(\.self)
    content = uploaded
    if isAvailable {
      old += [part].compactMap(\.self)
      part = nil
      problem = nil
    }
    count()
    return old
  }

  /// The same file without content.
  func evicted() -> FileEntry {
    var entry = self
    entry.content = nil
    entry.part = nil
    entry.count()
    return entry
  }

  /// The names of its files in the folder.
  var names: [String] { [content?.name, part?.name].compactMap(\.self) }

  private mutating func count() {
    bytes = (content?.version.size ?? 0) + (part?.version.size ?? 0)
  }
}

/// A file as a listing of the server has it.
struct ListedFile: Sendable {
  let id: String
  let isAttachment: Bool
  let title: String
  let fileExtension: String?
  let version: FileVersion
}

/// A file's link to a record, as the soup `syncs_file_links` keeps it.
struct FileLink: Codable, Sendable {
  let key: String
  let file: String
  let record: String
  let objectType: String
  /// The refresh that listed it last.
  let run: String

  init(file: String, record: FileRecord, run: String) {
    key = "\(file) \(record.id)"
    self.file = file
    self.record = record.id
    objectType = record.objectType
    self.run = run
  }
}
