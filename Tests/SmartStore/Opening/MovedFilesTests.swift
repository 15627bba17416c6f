import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Is a database that disappears under its writer noticed with the next write?
struct MovedFilesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(inMemory: true) }

  enum Loss: CaseIterable, Sendable {
    case database, log, folder, replacedDatabase, replacedLog, renamedFolder
  }

  private func lose(_ loss: Loss, at place: URL) throws {
    let files = FileManager.default
    let database = place.appending(path: "store.sqlite")
    let log = place.appending(path: "store.sqlite-wal")
    switch loss {
    case .database: try files.removeItem(at: database)
    case .log: try files.removeItem(at: log)
    case .folder: try files.removeItem(at: place)
    case .renamedFolder: try files.moveItem(at: place, to: place.appendingPathExtension("old"))
    case .replacedDatabase, .replacedLog:
      let file = loss == .replacedLog ? log : database
      let copy = file.appendingPathExtension("copy")
      try files.copyItem(at: file, to: copy)
      try files.removeItem(at: file)
      try files.moveItem(at: copy, to: file)
    }
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `a write after the files were removed or replaced fails and saves nothing`(
    loss: Loss, isPlaintext: Bool
  ) async throws {
    let place = folder.file("\(loss)-\(isPlaintext)")
    let store = try await SmartStore.open(
      at: place, encryption: isPlaintext ? .plaintext : testEncryption)
    try await store.registerSoup(withName: "notes", withIndices: .init("key:integer"))
    try await store.upsert(entries: [["key": 1]], forSoupNamed: "notes")
    try lose(loss, at: place)
    await expectFailure(.databaseMissing) {
      _ = try await store.upsert(entries: [["key": 2]], forSoupNamed: "notes")
    }
    // And so does every later one.
    await expectFailure(.databaseMissing) {
      _ = try await store.upsert(entries: [["key": 3]], forSoupNamed: "notes")
    }
    try? await store.close()
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `a write during whose commit the files are removed or replaced fails`(
    loss: Loss, isPlaintext: Bool
  ) async throws {
    let place = folder.file("commit-\(loss)-\(isPlaintext)")
    let store = try await SmartStore.open(
      at: place, encryption: isPlaintext ? .plaintext : testEncryption)
    try await store.registerSoup(withName: "notes", withIndices: .init("key:integer"))
    await expectFailure(.databaseMissing) {
      try await store.inTransaction { transaction in
        transaction.access.database.add(
          transactionObserver: AtCommit { try lose(loss, at: place) }, extent: .databaseLifetime)
        try transaction.upsert(entries: [["key": 2]], forSoupNamed: "notes")
      }
    }
    await expectFailure(.databaseMissing) {
      _ = try await store.upsert(entries: [["key": 3]], forSoupNamed: "notes")
    }
    try? await store.close()
  }
}

/// Does something when SQLite begins a commit, after the store's own checks.
private final class AtCommit: TransactionObserver {
  private var work: (() throws -> Void)?

  init(_ work: @escaping () throws -> Void) { self.work = work }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseWillCommit() throws {
    try work?()
    work = nil
  }

  func databaseDidCommit(_ database: Database) {}
  func databaseDidRollback(_ database: Database) {}
}
