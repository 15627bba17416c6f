/// A problem in a sync configuration file: an error, or a probable mistake.
public struct SyncsConfigProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of problem.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unreadable, notJSON, wrongForm, missingKey, unknownKey, unknownSyncType, invalidTarget,
        unknownOption, nameTwice, bookkeepingField, unknownMergeMode, noFields, fieldNotDownloaded,
        fieldNotSent, fieldInOtherCase, fieldNotOnServer, differsFromStored
    }
    private let kind: Kind

    /// The file cannot be read.
    public static let unreadable = Code(kind: .unreadable)
    /// The file is not JSON.
    public static let notJSON = Code(kind: .notJSON)
    /// A value has the wrong type for its key.
    public static let wrongForm = Code(kind: .wrongForm)
    /// An entry lacks a required key.
    public static let missingKey = Code(kind: .missingKey)
    /// A key is unknown, probably misspelled. The entry is still used.
    public static let unknownKey = Code(kind: .unknownKey)
    /// A sync is neither a `syncDown` nor a `syncUp`.
    public static let unknownSyncType = Code(kind: .unknownSyncType)
    /// An option is unknown. A misspelled key `mergeMode` would be read as `OVERWRITE`, so the entry is
    /// not used.
    public static let unknownOption = Code(kind: .unknownOption)
    /// The target cannot be created.
    public static let invalidTarget = Code(kind: .invalidTarget)
    /// Two entries have the same name; the first is used.
    public static let nameTwice = Code(kind: .nameTwice)
    /// A list of fields to send names a field of sync or store, which the server does not know.
    public static let bookkeepingField = Code(kind: .bookkeepingField)
    /// The merge mode is unknown, so the entry is not used.
    public static let unknownMergeMode = Code(kind: .unknownMergeMode)
    /// A sync up has no list of fields to send, so every run will fail. The entry is still used.
    public static let noFields = Code(kind: .noFields)
    /// A sync up sends a field that no sync down of its soup downloads, probably misspelled. The entry is still used.
    public static let fieldNotDownloaded = Code(kind: .fieldNotDownloaded)
    /// A field is downloaded and no sync up of the soup sends it, so an edit stays on the device. The entries are
    /// still used.
    public static let fieldNotSent = Code(kind: .fieldNotSent)
    /// A sync up names a field in other letters than the entries have it, so nothing of it is sent. The entry is still used.
    public static let fieldInOtherCase = Code(kind: .fieldInOtherCase)
    /// A sync up sends a field that the cached description of the object does not have, probably misspelled. The entry is
    /// still used.
    public static let fieldNotOnServer = Code(kind: .fieldNotOnServer)
    /// The store has a sync of this name with another definition, which stays as it is.
    public static let differsFromStored = Code(kind: .differsFromStored)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of problem.
  public let code: Code
  /// The file's name.
  public let file: String
  /// The line, counted from 1.
  public let line: Int
  /// The column in bytes, counted from 1.
  public let column: Int
  /// The path in the JSON, such as `syncs[2].target`; empty for the file as a whole.
  public let path: String
  /// The problem and the remedy, and which sync is left out because of it.
  public internal(set) var message: String

  /// Whether the entry is used despite the problem.
  public var isWarning: Bool {
    [
      .unknownKey, .noFields, .fieldNotDownloaded, .fieldNotSent, .fieldInOtherCase,
      .fieldNotOnServer,
      .differsFromStored,
    ].contains(code)
  }

  /// `file:line:column: message (path)`.
  public var description: String {
    "\(file):\(line):\(column): \(isWarning ? "warning" : "error"): \(message)"
      + (path.isEmpty ? "" : " (\(path))")
  }
}

extension SyncsConfigProblem {
  init(code: Code, file: String, at place: SyncsConfig.Place, message: String) {
    self.init(
      code: code, file: file, line: place.line, column: place.column, path: place.path,
      message: message)
  }
}
