import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Is there one writer at most, whatever happens to the files that say so?
struct StoreLockTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Gives no key, once it may.
  private struct LateFailure: StoreKeyProvider {
    let began: Latch
    let mayEnd: Latch

    func key() throws(SmartStoreError) -> SymmetricKey? {
      began.open()
      mayEnd.waitBlocking()
      throw SmartStoreError(.keyLocked, "The key store is locked.")
    }

    func createKey() throws(SmartStoreError) -> SymmetricKey { SymmetricKey(size: .bits256) }
  }

  /// ```
  /// first    lock, folder made ... no key: folder removed
  /// second             waits for the lock ................ opens
  /// third                                                         is refused
  /// ```
  @Test func `a first opening that fails leaves its lock to the next one alone`() async throws {
    let (began, mayEnd) = (Latch(), Latch())
    let failing = LateFailure(began: began, mayEnd: mayEnd)
    let place = folder.store
    let first = Task {
      await StoreQueue.run {
        Result { try StoreDatabase.open(at: place, encryption: .encrypted(failing)) }
      }
    }
    await began.wait()
    let lock = folder.file("store.lock").path
    let before = openFiles(at: lock)
    #expect(before == 1)
    let key = folder.key
    var options = StoreDatabaseOptions()
    // As long as it takes this test to see it wait.
    options.lockPatience = .seconds(300)
    let second = Task { [options] in
      await StoreQueue.run {
        Result {
          try StoreDatabase.open(
            at: place, encryption: .encrypted(FixedKeyProvider(key)), options: options)
        }
      }
    }
    try await poll { openFiles(at: lock) != before }
    mayEnd.open()
    let outcome = await first.value
    #expect(throws: SmartStoreError.self) { _ = try outcome.get() }
    let store = try await second.value.get()
    let error = #expect(throws: SmartStoreError.self) { _ = try folder.open() }
    #expect(error?.code == .busyOtherProcess)
    try store.fill(3)
    try store.close()
    let again = try folder.open()
    #expect(try again.count() == 3)
    try again.close()
  }

  @Test func `connections wait for another process that recovers the log`() throws {
    var options = StoreDatabaseOptions()
    options.busyTimeout = 1.5
    let store = try folder.open(options)
    let wait = try store.writer.writeWithoutTransaction {
      try Int.fetchOne($0, sql: "PRAGMA busy_timeout")
    }
    #expect(wait == 1500)
    try store.close()
  }
}
