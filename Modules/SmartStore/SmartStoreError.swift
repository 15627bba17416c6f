public import SalesforceSDKCommon

/// An error of a store, with a message that says what to do.
///
/// ``Code`` distinguishes the kinds in code; `domain` and ``number`` are the fixed pair that bridges to other
/// languages report. Messages never hold entry content, index values or keys; the underlying error, if there
/// is one, is ``cause``.
public struct SmartStoreError: FieldforceError {
  /// The kind of a failure. Later versions may add kinds: compare with the constants, do not list
  /// them all.
  public struct Code: Sendable, Hashable {
    private enum Kind: String {
      case keyLocked, keyMissing, wrongKey, corruptKeyFile, foreignStore, keyExhausted
      case corrupt, corruptLog, notADatabase, databaseMissing, diskFull, io, readOnly, outOfMemory
      case busyOtherProcess, busy, interrupted, closed
      case invalidStoreName, invalidSoupName, noIndexSpecs, invalidIndexSpec, unknownSoup
      case notIndexed, ambiguousMatch, externalIdMissing
      case invalidEntry, noSuchEntry, entryTooLarge
      case unfinishedOperation, externalFileUnreadable
      case invalidQuerySpec, bindArgumentsNotAllowed, bindArgumentCount
      case refusedStatement, limitExceeded, invalidReference, sql
      case notDecodable, invalidCursor, cursorAtEnd
      case attachFailed, exportFailed, detachFailed, backupFailed, replaceFailed
      case verificationOpenFailed, verificationReadFailed
      case accountsMissing, screenLocked
    }
    private let kind: Kind

    /// The key store is locked. Retrying after it is unlocked helps.
    public static let keyLocked = Code(kind: .keyLocked)
    /// There is no key for an existing database. Retrying does not help; restore the key.
    public static let keyMissing = Code(kind: .keyMissing)
    /// The key does not open this database. Retrying with the right key helps.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The file that holds the wrapped data-encryption key is damaged. Restore it from a backup.
    public static let corruptKeyFile = Code(kind: .corruptKeyFile)
    /// The files belong to another account, or to a store of another name, or differ from the files
    /// that the secret store has recorded under this name. Restore the right files; if you restored
    /// these from a backup, call ``StoreMaintenance/acceptRestoredFiles(_:)``.
    public static let foreignStore = Code(kind: .foreignStore)
    /// The data-encryption key has encrypted the highest number of pages that is safe. The store
    /// can still be read. Give it a new key with ``StoreMaintenance/reencrypt(from:to:)``.
    public static let keyExhausted = Code(kind: .keyExhausted)
    /// The database opens but its content is damaged. Retrying does not help.
    public static let corrupt = Code(kind: .corrupt)
    /// The write-ahead log (WAL) was removed, cut or exchanged outside the store, so that transactions are
    /// missing. Restore all files from one backup, or accept the loss with
    /// ``StoreMaintenance/acceptLostLog(_:)``.
    public static let corruptLog = Code(kind: .corruptLog)
    /// The file at the store's path is not a database. Retrying does not help.
    public static let notADatabase = Code(kind: .notADatabase)
    /// The store's database is missing, or there is none to read. Retrying does not help; restore it, or
    /// remove the store to start over.
    public static let databaseMissing = Code(kind: .databaseMissing)
    /// The disk is full; nothing was written. Retrying after freeing space helps.
    public static let diskFull = Code(kind: .diskFull)
    /// The file system refused a read or write. Retrying may help.
    public static let io = Code(kind: .io)
    /// The store cannot be written with these permissions. Correct them first.
    public static let readOnly = Code(kind: .readOnly)
    /// Memory ran out. Retrying with smaller batches may help.
    public static let outOfMemory = Code(kind: .outOfMemory)
    /// Another process writes this store. Retrying after it ended helps.
    public static let busyOtherProcess = Code(kind: .busyOtherProcess)
    /// Another connection held a lock for too long. Retrying helps.
    public static let busy = Code(kind: .busy)
    /// The work was interrupted and rolled back. Retrying helps.
    public static let interrupted = Code(kind: .interrupted)
    /// The store was closed or removed. Request a new instance.
    public static let closed = Code(kind: .closed)
    /// An account's store was requested from a manager that has no accounts. Create the manager with accounts.
    public static let accountsMissing = Code(kind: .accountsMissing)
    /// The app is locked, as an org requires, and returns no content. Retrying after it is unlocked
    /// helps.
    public static let screenLocked = Code(kind: .screenLocked)
    /// The name cannot be a folder's name. Choose another.
    public static let invalidStoreName = Code(kind: .invalidStoreName)
    /// The soup's name is empty. Choose another.
    public static let invalidSoupName = Code(kind: .invalidSoupName)
    /// A soup needs at least one index spec.
    public static let noIndexSpecs = Code(kind: .noIndexSpecs)
    /// An index spec lacks its path or names an unknown type. Correct it first.
    public static let invalidIndexSpec = Code(kind: .invalidIndexSpec)
    /// No soup has this name. Register it first.
    public static let unknownSoup = Code(kind: .unknownSoup)
    /// The path of an external id or a look-up is not indexed. Alter the soup first.
    public static let notIndexed = Code(kind: .notIndexed)
    /// More than one entry has this value where one was expected.
    public static let ambiguousMatch = Code(kind: .ambiguousMatch)
    /// An entry has no value at the external id's path.
    public static let externalIdMissing = Code(kind: .externalIdMissing)
    /// An entry is not a JSON object, or has a value that JSON cannot represent.
    public static let invalidEntry = Code(kind: .invalidEntry)
    /// No entry has this entry id.
    public static let noSuchEntry = Code(kind: .noSuchEntry)
    /// An entry is larger than SQLite can store in one value, or than 256 MiB, the largest JSON
    /// that can be read back.
    public static let entryTooLarge = Code(kind: .entryTooLarge)
    /// An alter of the soup was interrupted. Finish it with `resumeLongOperations()`, or open the
    /// store again. In maintenance: a re-encryption was interrupted after the new key had become
    /// valid. Repeat it.
    public static let unfinishedOperation = Code(kind: .unfinishedOperation)
    /// The file of an externally stored entry is missing or damaged. Restore it from a backup.
    public static let externalFileUnreadable = Code(kind: .externalFileUnreadable)
    /// A query spec contradicts itself. Correct it first.
    public static let invalidQuerySpec = Code(kind: .invalidQuerySpec)
    /// Bind arguments were given to a query that is not a smart query.
    public static let bindArgumentsNotAllowed = Code(kind: .bindArgumentsNotAllowed)
    /// The number of bind arguments differs from the number of placeholders.
    public static let bindArgumentCount = Code(kind: .bindArgumentCount)
    /// The statement is not one single SELECT.
    public static let refusedStatement = Code(kind: .refusedStatement)
    /// A query exceeds a limit that protects the program's memory and time; the message names it. Change the query.
    public static let limitExceeded = Code(kind: .limitExceeded)
    /// A `{soup:path}` reference is malformed, or not allowed at its position.
    public static let invalidReference = Code(kind: .invalidReference)
    /// SQLite refused the statement; ``SmartStoreError/detail`` has SQLite's message.
    public static let sql = Code(kind: .sql)
    /// A stored value does not fit the requested type. Correct the type or the entry.
    public static let notDecodable = Code(kind: .notDecodable)
    /// No open cursor of this store has this id. Open one first.
    public static let invalidCursor = Code(kind: .invalidCursor)
    /// The cursor is at its last page, or at its first, and cannot move further.
    public static let cursorAtEnd = Code(kind: .cursorAtEnd)
    /// Maintenance: the new file could not be attached.
    public static let attachFailed = Code(kind: .attachFailed)
    /// Maintenance: the content could not be exported.
    public static let exportFailed = Code(kind: .exportFailed)
    /// Maintenance: the new file could not be detached.
    public static let detachFailed = Code(kind: .detachFailed)
    /// Maintenance: the original could not be set aside.
    public static let backupFailed = Code(kind: .backupFailed)
    /// Maintenance: the new file could not be moved into place.
    public static let replaceFailed = Code(kind: .replaceFailed)
    /// Maintenance: the new file does not open.
    public static let verificationOpenFailed = Code(kind: .verificationOpenFailed)
    /// Maintenance: the new file opens but cannot be read.
    public static let verificationReadFailed = Code(kind: .verificationReadFailed)

    /// The number that the original reports for this kind: 1, 2, 3, 5 or 999 in the store's domain,
    /// 1 to 7 in the maintenance domain.
    public var number: Int {
      switch kind {
      case .ambiguousMatch, .attachFailed: 1
      case .notIndexed, .exportFailed: 2
      case .externalIdMissing, .detachFailed: 3
      case .backupFailed: 4
      case .bindArgumentsNotAllowed, .replaceFailed: 5
      case .verificationOpenFailed: 6
      case .verificationReadFailed: 7
      default: 999
      }
    }

    /// The domain that ``number`` belongs to.
    public var domain: String {
      switch kind {
      case .attachFailed, .exportFailed, .detachFailed, .backupFailed, .replaceFailed,
        .verificationOpenFailed, .verificationReadFailed:
        SmartStoreError.maintenanceDomain
      default: SmartStoreError.domain
      }
    }

    /// The kind's name, such as `unknownSoup`.
    public var name: String { kind.rawValue }
  }

  /// The domain of every failure of a store.
  public static let domain = "com.salesforce.smartstore.error"
  /// The domain of failures while a database is encrypted, decrypted or re-keyed.
  public static let maintenanceDomain = "com.salesforce.smartstore.db.error"

  /// The kind of the failure.
  public let code: Code
  /// The failure, its object and the remedy. After a failed change of keys also the key that opens
  /// the store.
  public var message: String {
    guard !keyStates.isEmpty else { return sentences }
    return sentences + (sentences.hasSuffix(".") ? " " : ". ") + StoreKeyState.sentence(keyStates)
  }
  private let sentences: String
  /// The message of the platform or of SQLite if it quotes an entry or a statement; otherwise nil. Show it to
  /// the user, do not log it. ``debugDescription`` shows it.
  public let detail: String?
  /// The underlying error.
  public let cause: (any Error)?
  /// The line of the package that detected the failure.
  public let location: SourceLocation
  /// After a failed change of keys or encryption: the key that opens each store of the call,
  /// including each changed store. Empty for every other failure, and if there is no store.
  public internal(set) var keyStates: [StoreKeyState] = []

  /// The domain of ``number``.
  public var domain: String { code.domain }
  /// The number that bridges report; see ``Code/number``.
  public var number: Int { code.number }
  /// Whether a retry may succeed, because the store may be free then, or its key unlocked.
  public var isRetryable: Bool {
    [.busy, .busyOtherProcess, .interrupted, .keyLocked].contains(code)
  }

  package init(
    _ code: Code, _ message: String, detail: String? = nil, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    // A cause of the same kind adds nothing: keep the error below it.
    if let inner = cause as? SmartStoreError, inner.code == code {
      self.cause = inner.cause
    } else {
      self.cause = cause
    }
    self.code = code
    sentences = message
    self.detail = detail
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}

extension SmartStoreError.Code: CustomStringConvertible {
  public var description: String { name }
}

extension SmartStoreError: CustomDebugStringConvertible {
  /// The description with the detail, the cause and the source location.
  public var debugDescription: String {
    let quoting = detail.map { " (\($0))" } ?? ""
    let below = cause.map { " (cause: \(String(reflecting: $0)))" } ?? ""
    return "\(domain) \(number) \(description)\(quoting)\(below) at \(location)"
  }
}
