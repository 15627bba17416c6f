import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-31, BX-4: whichever write is the last before a process ends, the account works on.
@Suite struct RotationCrashTests {
  /// What a process leaves behind that ends in the middle of a refresh.
  private struct Remains {
    let folder: TemporaryFolder
    let secrets: InMemorySecretStore
    let org: TestOrg
    /// The secrets that it wrote.
    let writes: Int
    let file: URL
  }

  /// A process that can write so many secrets, and the account's file after them or not.
  private func crash(after writes: Int, writesFile: Bool = true) async throws -> Remains {
    let folder = try TemporaryFolder()
    let secrets = InMemorySecretStore()
    let org = TestOrg()
    org.state.withLock {
      $0.rotates = true
      $0.accessToken = "access-9"
    }
    let directory = EncryptedAccountDirectory(root: folder.url, secrets: secrets)
    try await directory.save(org.account())
    let file = directory.folders.folder(of: TestOrg.identity)
      .appending(path: "UserAccount.sealed")
    let new = URL(filePath: file.path + ".new")
    if !writesFile {
      // A folder in the place of the file that is written before it takes the name.
      try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
    }
    let mortal = MortalSecretStore(secrets, lifetime: writes)
    let manager = try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder.url, secrets: mortal),
      transport: org.transport())
    let result = await Task { try await manager.refresh(TestOrg.identity) }.result
    let isWhole = (try? result.get()) != nil
    #expect(isWhole == (writesFile && mortal.writes <= writes))
    if !writesFile {
      // What such a write leaves: the start of a file.
      try FileManager.default.removeItem(at: new)
      try Data(try Data(contentsOf: file).prefix(40)).write(to: new)
    }
    // No orderly end: a process that is killed has none.
    return Remains(
      folder: folder, secrets: secrets, org: org, writes: min(mortal.writes, writes), file: file)
  }

  /// The next process: one request, and it succeeds.
  private func expectUsable(_ remains: Remains) async throws {
    let transport = remains.org.transport()
    let manager = try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: remains.folder.url, secrets: remains.secrets),
      transport: transport)
    let account = try #require(await manager.account(for: TestOrg.identity))
    #expect(await manager.unreadableAccounts.isEmpty)
    #expect(account.loginState == .loggedIn, "\(remains.writes) writes")
    #expect(account.credentials.refreshToken == "refresh-2", "\(remains.writes) writes")
    let client = RestClient(account: account, accounts: manager, transport: transport)
    #expect(try await client.send(.limits()).status == 200, "\(remains.writes) writes")
  }

  @Test(.covers("CO-31", "BX-4"))
  func `a crash while a rotated token is kept leaves a usable account`()
    async throws
  {
    // The refresh token and the access token, with the first of which the account lives, and the digest of the file
    // before it is written and after that.
    let all = try await crash(after: .max)
    #expect(all.writes == 4)
    try await expectUsable(all)
    for writes in 1...3 { try await expectUsable(try await crash(after: writes)) }
  }

  @Test(.covers("CO-31", "BX-4", "CO-94.2"))
  func `a crash while the account's file is written leaves a usable account`()
    async throws
  {
    let remains = try await crash(after: .max, writesFile: false)
    #expect(remains.writes == 3)
    try await expectUsable(remains)
  }
}

/// A secret store that fails for good after some changes, as if its process had ended.
private final class MortalSecretStore: SecretStore {
  private let base: InMemorySecretStore
  private let lifetime: Int
  private let count = Mutex(0)

  init(_ base: InMemorySecretStore, lifetime: Int) {
    self.base = base
    self.lifetime = lifetime
  }

  /// The number of changes requested.
  var writes: Int { count.withLock { $0 } }

  var protection: SecretProtection { base.protection }

  private func spend() throws(SecretStoreError) {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number > lifetime { throw SecretStoreError(.inputOutput, "the process has ended") }
  }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? { try base.read(name) }

  @discardableResult
  func update(
    _ name: SecretName, _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try spend()
    return try base.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try spend()
    try base.write(secret, for: name)
  }

  @discardableResult
  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try spend()
    return try base.remove(name)
  }

  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}
