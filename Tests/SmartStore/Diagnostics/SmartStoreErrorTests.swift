import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// The errors' fixed numbers and the meaning of the engine's results.
@Suite struct SmartStoreErrorTests {
  @Test(
    .covers("SS-1"),
    arguments: [
      (SmartStoreError.Code.ambiguousMatch, 1), (.notIndexed, 2), (.externalIdMissing, 3),
      (.bindArgumentsNotAllowed, 5), (.unknownSoup, 999), (.invalidSoupName, 999), (.sql, 999),
      (.closed, 999), (.corrupt, 999), (.wrongKey, 999),
    ])
  func `each kind has its number in the store's domain`(
    code: SmartStoreError.Code, number: Int
  ) {
    let error = SmartStoreError(code, "text")
    #expect(error.number == number)
    #expect(error.domain == "com.salesforce.smartstore.error")
    #expect(error.location.fileID.hasSuffix("SmartStoreErrorTests.swift"))
    #expect(error.description == "\(code.name): text")
  }

  @Test(.covers("SS-41"))
  func `maintenance has numbers and a domain of its own`() {
    let codes: [SmartStoreError.Code] = [
      .attachFailed, .exportFailed, .detachFailed, .backupFailed, .replaceFailed,
      .verificationOpenFailed, .verificationReadFailed,
    ]
    #expect(codes.map(\.number) == Array(1...7))
    #expect(codes.allSatisfy { $0.domain == "com.salesforce.smartstore.db.error" })
  }

  private static let refused = "SQLite refused the statement"

  @Test(arguments: [
    (SQLITE_FULL, SmartStoreError.Code.diskFull, "The disk is full"),
    (SQLITE_CORRUPT, .corrupt, "Database is corrupted"),
    (SQLITE_CORRUPT | (1 << 8), .corrupt, "Database is corrupted"),
    (SQLITE_NOTADB, .notADatabase, "The file is not a database"),
    (SQLITE_IOERR | (4 << 8), .io, "The file system refused"),
    (SQLITE_CANTOPEN, .io, "The file system refused"), (SQLITE_BUSY, .busy, "The store is in use"),
    (SQLITE_READONLY, .readOnly, "The store cannot be written"),
    (SQLITE_INTERRUPT, .interrupted, "The work was interrupted"),
    (SQLITE_NOMEM, .outOfMemory, "Memory ran out"), (SQLITE_TOOBIG, .entryTooLarge, "The value"),
    (SQLITE_MISUSE, .closed, "Store is closed"), (SQLITE_ERROR, .sql, refused),
    (SQLITE_CONSTRAINT, .sql, refused), (SQLITE_AUTH, .refusedStatement, refused),
  ])
  func `each result of the engine has its kind`(
    result: Int32, code: SmartStoreError.Code, prefix: String
  ) {
    let error = SmartStoreError(sqlite: result, "engine")
    #expect(error.code == code)
    #expect(error.message.hasPrefix(prefix))
    // What quotes the statement is kept out of the message, which logs take.
    #expect(error.detail == (prefix == Self.refused ? "engine" : nil))
    let wrapped = SmartStoreError(
      grdb: DatabaseError(resultCode: ResultCode(rawValue: result), message: "engine"))
    #expect(wrapped.code == code)
    #expect(wrapped.cause is DatabaseError)
  }

  @Test func `a cause of the same kind is merged`() {
    let inner = SmartStoreError(.io, "inner", cause: CancellationError())
    let outer = SmartStoreError(.io, "outer", cause: inner)
    #expect(outer.cause is CancellationError)
    #expect(SmartStoreError(.corrupt, "outer", cause: inner).cause is SmartStoreError)
    #expect(SmartStoreError(grdb: inner).message == "inner")
  }
}
