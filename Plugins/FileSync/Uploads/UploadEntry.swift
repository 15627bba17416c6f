import SalesforceSDKCommon

/// A queued file as the soup `syncs_file_uploads` keeps it.
///
/// The names follow those of synced records, so that what the SDK does with unsynced records includes it: a logout counts
/// it, a rescue bundle has it, and a sync up that gets a record's id from the server puts it into `recordId`.
struct UploadEntry: Codable, Sendable {
  /// What a request that was sent without an acknowledgement left.
  struct Mark: Codable, Sendable {
    /// What it was attached to, by the server's id.
    var parentId: String
    /// The attachments of the same name that the record had before; nil for other files.
    var before: [String]?
    /// When the request was known to be over, in milliseconds since 1970; nil while it runs, or if the process ended with it.
    var ended: Int64?
    /// Whether the server may still create the file.
    var mayArrive = true
    /// The id that the server gave it, if the response came.
    var acceptedId: String?
  }

  /// Why a file is held.
  struct Refusal: Codable, Sendable {
    enum Kind: String, Codable { case rejected, orphaned, inDoubt }
    let kind: Kind
    let errorCode: String?
    let message: String
    var candidates: [QueuedFile.Candidate] = []
  }

  private enum CodingKeys: String, CodingKey {
    case key = "Id"
    case isLocal = "__local__"
    case isCreated = "__locally_created__"
    case name, title, info, recordId, objectType, documentId, isAttachment, content, bytes, added
    case mark, refusal
  }

  /// Its id in the queue.
  let key: String
  private var isLocal = true
  private var isCreated = true
  let name: String
  let title: String
  /// The description.
  let info: String?
  /// The record's id, also a local one; nil for a version.
  var recordId: String?
  var objectType: String?
  /// The file that it is a version of: the server's id, or a key of the queue.
  var documentId: String?
  var isAttachment: Bool
  let content: StoredContent
  /// The number of bytes that it takes of the quota.
  let bytes: Int64
  let added: Int64
  var mark: Mark?
  var refusal: Refusal?

  private static let prefix = "file_"

  init(_ file: NewFile, _ content: StoredContent, added: Int64) {
    self.init(
      name: file.name, title: file.title, info: file.description, content: content, added: added)
    recordId = file.record.id
    objectType = file.record.objectType
    isAttachment = file.isAttachment
  }

  init(
    versionOf document: String, name: String, title: String, _ content: StoredContent, added: Int64
  ) {
    self.init(name: name, title: title, info: nil, content: content, added: added)
    documentId = document
  }

  private init(
    name: String, title: String, info: String?, content: StoredContent, added: Int64
  ) {
    // The name of the content is random, and not used twice.
    key = Self.prefix + content.name
    self.name = name
    self.title = title
    self.info = info
    self.content = content
    self.added = added
    bytes = content.version.size
    isAttachment = false
  }

  /// Whether an id is one of the queue.
  static func isKey(_ id: String) -> Bool { id.hasPrefix(prefix) }

  /// What marks the version on the server as this one: the folder of its path.
  var pathPrefix: String { "fieldforce/\(content.name)/" }
  var path: String { pathPrefix + name }

  var record: FileRecord? {
    guard let recordId, let objectType else { return nil }
    return FileRecord(id: recordId, objectType: objectType)
  }
}
