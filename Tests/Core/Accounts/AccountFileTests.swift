import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What does a folder of accounts leave as it is?
@Suite struct AccountFileTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()

  @Test func `a file of a newer format is neither moved nor replaced by a login`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let file = folder.url.appending(
      path: "00D000000000001EAA/005000000000001AAA/UserAccount.sealed")
    var bytes = Array(try Data(contentsOf: file))
    bytes[4] = 9
    try Data(bytes).write(to: file)
    let error = await #expect(throws: AccountError.self) {
      try await persister(folder.url).save(account("005000000000001AAA"))
    }
    #expect(error?.code == .readFailed)
    #expect(try Array(Data(contentsOf: file)) == bytes)
  }

  @Test func `a note of the current user that cannot be read stays where it is`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "current-user.json")
    try FileManager.default.createDirectory(
      at: file.appending(path: "inner"), withIntermediateDirectories: true)
    let error = await #expect(throws: AccountError.self) {
      try await persister(folder.url).updateCurrent { _ in TestOrg.identity }
    }
    #expect(error?.code == .readFailed)
    // Nothing is to be moved, so a reader does not wait for those that may move it.
    let lock = folder.url.appending(path: "locks/current-user.lock").path
    let impatient = EncryptedAccountDirectory(
      root: folder.url, secrets: secrets, patience: .zero)
    let told = try await AccountLock.withLock(at: lock, patience: .zero) {
      await #expect(throws: AccountError.self) { _ = try await impatient.fetchAll() }
    }
    #expect(told?.code == .readFailed)
    #expect(FileManager.default.fileExists(atPath: file.appending(path: "inner").path))
  }

  @Test(.timeLimit(.minutes(1)))
  func `a file of 20 GB without content is refused and not read`() async throws {
    let folder = try TemporaryFolder()
    let directory = persister(folder.url)
    try await directory.save(account("005000000000001AAA"))
    _ = try await directory.updateCurrent { _ in TestOrg.identity }
    _ = try InstallationId.load(in: folder.url)
    for path in [
      "00D000000000001EAA/005000000000001AAA/UserAccount.sealed", "current-user.json",
      "installation-id",
    ] {
      let file = folder.url.appending(path: path)
      let bytes = try Data(contentsOf: file)
      try #require(truncate(file.path, 20 << 30) == 0)
      if path == "installation-id" {
        #expect(throws: AccountError.self) { try InstallationId.load(in: folder.url) }
      } else {
        do throws(AccountError) {
          let stored = try await directory.fetchAll()
          #expect(stored.unreadable.count == 1, "\(path)")
        } catch {
          #expect(error.code == .readFailed, "\(path)")
        }
      }
      try bytes.write(to: file)
    }
    #expect(try await directory.fetchAll().accounts.count == 1)
  }

  @Test func `an account that was never here is none, with or without a key`() async throws {
    let folder = try TemporaryFolder()
    #expect(try await persister(folder.url).fetch(TestOrg.identity) == nil)
    #expect(try secrets.list().isEmpty)
  }

  @Test func `what is as it shall be is not written again`() async throws {
    let folder = try TemporaryFolder()
    let counting = CountingSecrets()
    let directory = EncryptedAccountDirectory(root: folder.url, secrets: counting)
    let account = account("005000000000001AAA")
    try await directory.save(account)
    let writes = counting.writes.withLock { $0 }
    try await directory.save(account)
    #expect(counting.writes.withLock { $0 } == writes)

    try await directory.updateCurrent { _ in account.identity }
    let note = folder.url.appending(path: "current-user.json")
    func number() throws -> NSNumber? {
      try FileManager.default.attributesOfItem(atPath: note.path)[.systemFileNumber] as? NSNumber
    }
    let before = try number()
    // Keeps the file's number from being given to a new file.
    let link = folder.url.appending(path: "note")
    try FileManager.default.linkItem(at: note, to: link)
    try await directory.updateCurrent { $0 }
    #expect(try number() == before)
  }
}

/// Counts what is written.
private final class CountingSecrets: SecretStore {
  let writes = Mutex(0)
  private let base = InMemorySecretStore()

  var protection: SecretProtection { base.protection }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? { try base.read(name) }

  func update(
    _ name: SecretName, _ change: ([UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    writes.withLock { $0 += 1 }
    return try base.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    writes.withLock { $0 += 1 }
    try base.write(secret, for: name)
  }

  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    writes.withLock { $0 += 1 }
    return try base.remove(name)
  }

  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}
