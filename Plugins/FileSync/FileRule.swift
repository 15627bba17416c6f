public import SalesforceSDKCommon

/// A soup of synced records whose files are listed.
public struct FileSource: Sendable, Hashable {
  /// The soup.
  public var soupName: String
  /// The object type of its records, such as `Account`.
  public var objectType: String
  /// The field with the records' ids. Default: `Id`. It needs an index.
  public var idField: String

  /// Describes a source.
  public init(soupName: String, objectType: String, idField: String = "Id") {
    self.soupName = soupName
    self.objectType = objectType
    self.idField = idField
  }
}

/// A rule that says which files ``FileSyncManager/sync()`` downloads by itself. All other files are downloaded on demand.
///
/// A file comes along if every condition of one rule holds; a condition that is nil always holds.
public struct FileRule: Sendable, Hashable {
  /// The object types of records that the file belongs to; one of them is enough. Default: all.
  public var objectTypes: Set<String>?
  /// The extensions of file names, in lower case and without the point, such as `pdf`. Default: all.
  public var fileExtensions: Set<String>?
  /// The largest size in bytes. Default: any.
  public var maxBytes: Int64?
  /// The longest time since the last change of the content. Default: any. A file without a date has any age.
  public var maxAge: Duration?

  /// Creates a rule; without arguments, all files come along.
  public init(
    objectTypes: Set<String>? = nil, fileExtensions: Set<String>? = nil, maxBytes: Int64? = nil,
    maxAge: Duration? = nil
  ) {
    self.objectTypes = objectTypes
    self.fileExtensions = fileExtensions.map { Set($0.map { $0.lowercased() }) }
    self.maxBytes = maxBytes
    self.maxAge = maxAge
  }

  /// Whether a file comes along.
  ///
  /// - Parameter now: The time that ages are counted to.
  public func matches(_ file: SyncedFile, now: SalesforceDate) -> Bool {
    if let objectTypes, objectTypes.isDisjoint(with: file.records.map(\.objectType)) {
      return false
    }
    if let fileExtensions {
      guard let type = file.fileExtension?.lowercased(), fileExtensions.contains(type) else {
        return false
      }
    }
    if let maxBytes, file.version.size > maxBytes { return false }
    if let maxAge {
      guard let modified = file.version.modified else { return false }
      if Duration.milliseconds(now.milliseconds - modified.milliseconds) > maxAge { return false }
    }
    return true
  }
}

/// What a ``FileSyncManager`` lists, downloads and keeps.
public struct FileSyncOptions: Sendable {
  /// The soups whose records' files are listed.
  public var sources: [FileSource]
  /// Which files come along. Default: none; each file is downloaded on demand.
  public var rules: [FileRule]
  /// The most bytes of content that are kept, counted before encryption. Default: no limit.
  public var quota: Int64?
  /// Whether records of `Attachment`, which older orgs have, are listed too. Default: false.
  public var includesAttachments: Bool

  /// How long after an upload without a response the server may still create the file: until then, a search that finds
  /// nothing does not lead to a second upload. Default: 2 minutes.
  public var lateArrival = Duration.seconds(120)

  /// Creates options; each default is described at its property.
  public init(
    sources: [FileSource], rules: [FileRule] = [], quota: Int64? = nil,
    includesAttachments: Bool = false
  ) {
    self.sources = sources
    self.rules = rules
    self.quota = quota
    self.includesAttachments = includesAttachments
  }
}
