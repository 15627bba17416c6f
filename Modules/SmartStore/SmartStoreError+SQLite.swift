import GRDB
import GRDBSQLite

extension SmartStoreError {
  /// Returns the kind of a SQLite result code. An extended code without an entry of its own has the
  /// kind of its primary code.
  static func code(forSQLite resultCode: Int32) -> Code {
    // The code of the encrypted file system for a page that the store did not write.
    if resultCode == StoreIOError.damagedPage { return .corrupt }
    return switch resultCode & 0xFF {
    case SQLITE_PERM, SQLITE_READONLY: .readOnly
    case SQLITE_ABORT, SQLITE_INTERRUPT: .interrupted
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_NOMEM: .outOfMemory
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOLFS: .io
    case SQLITE_CORRUPT: .corrupt
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_FULL: .diskFull
    case SQLITE_TOOBIG: .entryTooLarge
    case SQLITE_RANGE: .bindArgumentCount
    case SQLITE_AUTH: .refusedStatement
    case SQLITE_MISUSE: .closed
    default: .sql
    }
  }

  /// The error for a SQLite result, with `engineMessage` as the engine's own text.
  init(
    sqlite resultCode: Int32, _ engineMessage: String, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    var code = Self.code(forSQLite: resultCode)
    let limit = code == .sql ? QueryLimits.message(for: engineMessage) : nil
    if limit != nil { code = .limitExceeded }
    var detail: String?
    let message: String
    switch code {
    case .limitExceeded: message = limit ?? engineMessage
    case .sql, .bindArgumentCount, .refusedStatement:
      // SQLite's message repeats parts of the statement, which may contain user input.
      message = "SQLite refused the statement. The error's detail has the reason in its words."
      detail = engineMessage
    default: message = Self.message(code, engineMessage)
    }
    self.init(code, message, detail: detail, cause: cause, fileID: fileID, line: line)
  }

  /// Returns a message with the failure and the remedy, for codes that do not concern a statement.
  private static func message(_ code: Code, _ engineMessage: String) -> String {
    switch code {
    case .corrupt:
      "Database is corrupted: \(engineMessage). The files were left as they are; see with "
        + "'fieldforce store verify' what is damaged, and restore a backup."
    case .notADatabase:
      "The file is not a database: \(engineMessage). It was left as it is; look at what lies there."
    case .diskFull: "The disk is full: nothing was written. Free space and try again."
    case .io: "The file system refused the work (\(engineMessage)). Check the disk and try again."
    case .readOnly:
      "The store cannot be written (\(engineMessage)). Check the files' permissions."
    case .busy: "The store is in use by another connection (\(engineMessage)). Try again."
    case .closed: "Store is closed. Ask for a new instance."
    case .interrupted: "The work was interrupted and rolled back."
    case .entryTooLarge: "The value exceeds what one row can hold (\(engineMessage))."
    case .outOfMemory: "Memory ran out. Try again with smaller batches."
    default: engineMessage
    }
  }

  /// Converts an error that GRDB threw. A ``SmartStoreError`` is returned unchanged.
  init(grdb error: any Error, fileID: String = #fileID, line: Int = #line) {
    switch error {
    case let known as SmartStoreError:
      self = known
    case let database as DatabaseError:
      self.init(
        sqlite: database.extendedResultCode.rawValue,
        database.message ?? database.extendedResultCode.description,
        cause: error, fileID: fileID, line: line)
    case is CancellationError:
      self.init(
        .interrupted, "The work was cancelled and rolled back.", cause: error, fileID: fileID,
        line: line)
    default:
      self.init(.io, "The store could not do its work.", cause: error, fileID: fileID, line: line)
    }
  }
}
