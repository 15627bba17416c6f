public import SalesforceSDKCommon

/// An error of a key, or of data that could not be encrypted, decrypted, stored or found.
///
/// Unreadable data is never deleted or replaced: each cause has its code, and the data stays as it
/// is.
public struct EncryptionError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case noEncryptionKey, keyLocked, keyMissing, keyDamaged, wrongKey, decryptionFailed,
        foreignStore
      case truncated, unknownFormat, invalidStoreName, emptyKey, notListed, notText, tooLarge
      case removed, diskFull, inputOutput, accountsMissing
    }
    private let kind: Kind
    /// No key was passed.
    public static let noEncryptionKey = Code(kind: .noEncryptionKey)
    /// The secret store is locked. Unlock it, then retry.
    public static let keyLocked = Code(kind: .keyLocked)
    /// Data exists, but its key is missing. Restore the keys from a backup.
    public static let keyMissing = Code(kind: .keyMissing)
    /// A key exists but cannot be read. Restore the keys from a backup.
    public static let keyDamaged = Code(kind: .keyDamaged)
    /// The data was encrypted with another key. Pass that key.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The data was changed, or belongs to another key or location.
    public static let decryptionFailed = Code(kind: .decryptionFailed)
    /// The files of a store belong to another account or store name, or do not match the record in
    /// the secret store. Put the right files in place, or remove the store.
    public static let foreignStore = Code(kind: .foreignStore)
    /// The data ends too early.
    public static let truncated = Code(kind: .truncated)
    /// The data has an unknown format, or was written by a newer version. Update the program.
    public static let unknownFormat = Code(kind: .unknownFormat)
    /// A store's name is empty, longer than 96 characters, or has other characters than letters, digits and
    /// `_`.
    public static let invalidStoreName = Code(kind: .invalidStoreName)
    /// The key of a value is empty.
    public static let emptyKey = Code(kind: .emptyKey)
    /// The store is of a version that does not keep the names of its values.
    public static let notListed = Code(kind: .notListed)
    /// A value that was requested as text is not text.
    public static let notText = Code(kind: .notText)
    /// A value is larger than the caller allows.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The store was removed. Open it again.
    public static let removed = Code(kind: .removed)
    /// A user's store was requested from an object that has no accounts. Create it with accounts.
    public static let accountsMissing = Code(kind: .accountsMissing)
    /// The disk, or this user's share of it, is full. Free space, then try again.
    public static let diskFull = Code(kind: .diskFull)
    /// The system refused to read or write; the message has its reason. Retrying may help.
    public static let inputOutput = Code(kind: .inputOutput)

    public var description: String { kind.rawValue }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its subject and the remedy; never a key, the name of a value or a part of a
  /// value.
  public let message: String
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that detected the failure.
  public let location: SourceLocation

  /// Creates an error; providers of keys throw these.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the secret store may be unlocked by then.
  public var isRetryable: Bool { code == .keyLocked }
}

extension EncryptionError {
  /// The error of a key for an error of the secret store.
  init(_ error: SecretStoreError, fileID: String = #fileID, line: Int = #line) {
    let code: Code =
      switch error.code {
      case .locked: .keyLocked
      case .missingMasterKey: .keyMissing
      case .authenticationFailed: .wrongKey
      case .corrupt, .damaged, .unknownFormat: .keyDamaged
      default: .inputOutput
      }
    self.init(code, error.message, cause: error, fileID: fileID, line: line)
  }

  /// The error for a failed step of work on a file.
  init(_ failure: FileFailure, fileID: String = #fileID, line: Int = #line) {
    self.init(
      failure.isDiskFull ? .diskFull : .inputOutput, "\(failure).", cause: failure, fileID: fileID,
      line: line)
  }
}
