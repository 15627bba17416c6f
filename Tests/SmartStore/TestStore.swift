import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import StoreSystem
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// A clock that only the test moves.
final class TestClock: Sendable {
  private let milliseconds = Mutex<Int64>(1_700_000_000_000)

  var now: Int64 { milliseconds.withLock { $0 } }

  func advance(by step: Int64 = 1) { milliseconds.withLock { $0 += step } }
}

/// The key of the tests' stores.
let testEncryption = StoreEncryption.encrypted(
  FixedKeyProvider(SymmetricKey(data: Data(repeating: 7, count: 32))))

/// Runs `body` with a new encrypted store in a folder of its own, and closes it.
func withStore(
  options: SmartStoreOptions = SmartStoreOptions(),
  _ body: (SmartStore) async throws -> Void
) async throws {
  try await TemporaryFolder.with { folder in
    let store = try await SmartStore.open(
      at: folder.file("store"), encryption: testEncryption, options: options)
    try await body(store)
    try await store.close()
  }
}

/// Expects `body` to fail with this code, with a message that begins so, and with this detail.
@discardableResult
func expectFailure(
  _ code: SmartStoreError.Code, _ prefix: String = "", detail: String? = nil,
  sourceLocation: Testing.SourceLocation = #_sourceLocation,
  _ body: () async throws -> Void
) async -> SmartStoreError? {
  do {
    try await body()
    Issue.record("no error was thrown", sourceLocation: sourceLocation)
  } catch let error as SmartStoreError {
    #expect(error.code == code, sourceLocation: sourceLocation)
    if let detail { #expect(error.detail == detail, sourceLocation: sourceLocation) }
    if !error.message.hasPrefix(prefix) {
      Issue.record(
        "\"\(error.message)\" does not begin with \"\(prefix)\"", sourceLocation: sourceLocation)
    }
    return error
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
  return nil
}

extension SmartStore {
  /// Rows of a statement that may also read the engine's own tables.
  func rows(_ sql: String, _ arguments: [JSONValue] = []) async throws -> [[JSONValue]] {
    try await query(
      using: .buildSmartQuerySpec(smartSql: sql, pageSize: 10_000), whereArgs: arguments
    ).map { $0.array ?? [] }
  }

  /// The first column of a statement's rows.
  func column(_ sql: String, _ arguments: [JSONValue] = []) async throws -> [JSONValue] {
    try await rows(sql, arguments).compactMap(\.first)
  }

  /// Runs SQL that changes the database behind the store's back. Its triggers run until the store is closed.
  ///
  /// - Parameter isDefensive: Whether SQLite protects what only damage changes.
  func unsafelyExecute(_ sql: String, isDefensive: Bool = false) async throws {
    try await inTransaction { transaction in
      let connection = transaction.access.database.sqliteConnection
        .map { UnsafeMutableRawPointer($0) }
      store_system_set(connection, StoreSystemDefensive, isDefensive ? 1 : 0)
      defer { store_system_set(connection, StoreSystemDefensive, 1) }
      store_system_set(connection, StoreSystemTriggers, 1)
      try transaction.access.execute(sql)
    }
  }

  /// The elements of a soup by entry id.
  func elements(of soup: String) async throws -> [JSONValue] {
    try await query(
      using: .buildAllQuerySpec(
        soupName: soup, orderPath: SmartStore.soupEntryId, pageSize: 100_000))
  }
}

/// A JSON text as a value.
func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

extension SoupIndex {
  /// A spec from `path:type`.
  init(_ text: String) {
    let parts = text.split(separator: ":").map(String.init)
    self.init(path: parts[0], type: SoupIndexType(rawValue: parts[1]))
  }
}

extension [SoupIndex] {
  /// Specs from `path:type` texts.
  init(_ texts: String...) { self = texts.map { SoupIndex($0) } }
}
