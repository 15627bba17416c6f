import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-63, CO-94, CO-95, ruling 1: files, secrets and folders that cannot be read, or come slowly.
@Suite struct UnreadableAccountTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()

  @Test(.covers("CO-95", "CO-94.4"), arguments: [0, 4, 5, 12, 13, 30, -1])
  func `a damaged account file is kept aside and reported`(position: Int) async throws {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let good = account("005000000000001AAA"), bad = account("005000000000002AAA")
    try await persister.save(good)
    try await persister.save(bad)
    let file = folder.url.appending(
      path: "00D000000000001EAA/005000000000002AAA/UserAccount.sealed")
    var bytes = Array(try Data(contentsOf: file))
    bytes[position < 0 ? bytes.count - 1 : position] ^= 0xFF
    try Data(bytes).write(to: file)
    let manager = try await manager(folder.url)
    #expect(await manager.accounts.map(\.identity) == [good.identity])
    let report = try #require(await manager.unreadableAccounts.first)
    #expect(await manager.unreadableAccounts.count == 1)
    // Bytes 4 and 5...12 name format and key; those files stay, since nothing says they are damaged.
    let isDamage = position < 4 || position > 12
    switch position {
    case 4: #expect(report.error.code == .readFailed)
    case 5...12: #expect(report.error.code == .wrongKey)
    default:
      #expect(report.error.code == .damagedFile)
      #expect(report.error.number == 10001 && AccountError.domain == "SFUserAccountManager")
    }
    #expect(FileManager.default.fileExists(atPath: file.path) == !isDamage)
    #expect(try Array(Data(contentsOf: report.url)) == bytes)
    // The user logs in again; the old bytes are still there under their new name.
    guard position != 4 else { return }
    try await persister.save(bad)
    #expect(try await self.manager(folder.url).accounts.count == 2)
    let kept = try files(folder.url).filter { $0.contains(".unreadable-") }
    #expect(kept.count == 1)
  }

  @Test(.covers("CO-95"), arguments: ["", "{", "[]", #"{"userId":"005000000000001AAA"}"#])
  func `a damaged note of the current user is kept aside and reported`(
    text: String
  ) async throws {
    let folder = try TemporaryFolder()
    let good = account("005000000000001AAA")
    try await persister(folder.url).save(good)
    try await persister(folder.url).updateCurrent { _ in good.identity }
    let file = folder.url.appending(path: "current-user.json")
    try Data(text.utf8).write(to: file)
    let manager = try await manager(folder.url)
    #expect(await manager.current == nil)
    #expect(await manager.accounts.map(\.identity) == [good.identity])
    let report = try #require(await manager.unreadableAccounts.first)
    #expect(report.error.code == .damagedFile)
    #expect(report.error.message.contains("Switch to an account"))
    #expect(try String(contentsOf: report.url, encoding: .utf8) == text)
    // It is reported once, and the way out works.
    try await manager.setCurrent(good.identity)
    let next = try await self.manager(folder.url)
    #expect(await next.unreadableAccounts.isEmpty)
    #expect(await next.current?.identity == good.identity)
  }

  @Test(.covers("CO-95"))
  func `a file of another kind is damaged, and not of a newer format`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let file = folder.url.appending(
      path: "00D000000000001EAA/005000000000001AAA/UserAccount.sealed")
    try Data("somebody's notes, of some length".utf8).write(to: file)
    let manager = try await manager(folder.url)
    #expect(await manager.unreadableAccounts.map(\.error.code) == [.damagedFile])
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(.covers("CO-95"), arguments: [0, 1, 4, 5, 12, 13, 40])
  func `a cut account file is kept aside and reported`(length: Int) async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let file = folder.url.appending(
      path: "00D000000000001EAA/005000000000001AAA/UserAccount.sealed")
    try Data(try Data(contentsOf: file).prefix(length)).write(to: file)
    let manager = try await manager(folder.url)
    #expect(await manager.accounts.isEmpty)
    #expect(await manager.unreadableAccounts.map(\.error.code) == [.damagedFile])
  }

  @Test(.covers("CO-94.2"))
  func `a file in another user's place is refused`() async throws {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    try await persister.save(account("005000000000001AAA"))
    try await persister.save(account("005000000000002AAA"))
    let users = folder.url.appending(path: "00D000000000001EAA")
    let content = try Data(
      contentsOf: users.appending(path: "005000000000001AAA/UserAccount.sealed"))
    try content.write(to: users.appending(path: "005000000000002AAA/UserAccount.sealed"))
    let manager = try await manager(folder.url)
    #expect(await manager.accounts.map(\.userId) == ["005000000000001AAA"])
    #expect(await manager.unreadableAccounts.map(\.error.code) == [.damagedFile])
  }

  @Test(.covers("CO-94.4"))
  func `without the key nothing is touched, and nothing is made`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let before = try files(folder.url)
    let other = InMemorySecretStore()
    let error = await #expect(throws: AccountError.self) {
      try await manager(folder.url, secrets: other)
    }
    #expect(error?.code == .keyMissing && error?.number == 10003)
    await #expect(throws: AccountError.self) {
      try await EncryptedAccountDirectory(root: folder.url, secrets: other)
        .save(account("005000000000002AAA"))
    }
    #expect(try other.list().isEmpty)
    #expect(try files(folder.url) == before)
    #expect(try await manager(folder.url).accounts.count == 1)
  }

  @Test func `a wrong key reports the file and leaves it`() async throws {
    let folder = try TemporaryFolder(), elsewhere = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let other = InMemorySecretStore()
    try await EncryptedAccountDirectory(root: elsewhere.url, secrets: other)
      .save(account("005000000000001AAA"))
    let before = try files(folder.url)
    let manager = try await manager(folder.url, secrets: other)
    #expect(await manager.accounts.isEmpty)
    #expect(await manager.unreadableAccounts.map(\.error.code) == [.wrongKey])
    #expect(try files(folder.url) == before)
    #expect(try await self.manager(folder.url).accounts.count == 1)
  }

  @Test func `a locked secret store is reported, and passes`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    secrets.setLocked(true)
    let error = await #expect(throws: AccountError.self) { try await manager(folder.url) }
    #expect(error?.code == .keyUnavailable)
    #expect(error?.code.isRetryable == true)
    secrets.setLocked(false)
    #expect(try await manager(folder.url).accounts.count == 1)
  }

  @Test(.covers("CO-63"))
  func `tokens that cannot be read make their account alone log in again`()
    async throws
  {
    let folder = try TemporaryFolder()
    let damaged = account("005000000000001AAA"), whole = account("005000000000002AAA")
    try await persister(folder.url).save(damaged)
    try await persister(folder.url).save(whole)
    let before = try files(folder.url)
    let store = InterceptedSecretStore(base: secrets, damaged: damaged.credentials.identifier)
    let manager = try await manager(folder.url, secrets: store)
    #expect(await manager.accounts.map(\.loginState) == [.notLoggedIn, .loggedIn])
    #expect(await manager.account(for: whole.identity) == whole)
    let report = try #require(await manager.unreadableAccounts.first)
    #expect(await manager.unreadableAccounts.count == 1)
    #expect(report.error.code == .readFailed && !report.error.code.isRetryable)
    #expect(report.error.message.contains("Log in again"))
    #expect(try files(folder.url) == before)
    // A change of the account keeps what the store may give again.
    try await manager.setCustomData("north", forKey: "region", of: damaged.identity)
    let restored = try #require(try await persister(folder.url).fetch(damaged.identity))
    #expect(restored.credentials == damaged.credentials)
    #expect(restored.customData["region"] == "north")
  }

  @Test(.covers("CO-63"), arguments: [false, true])
  func `a cut secret store hides no account, and a login heals it`(
    hasWebSession: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let secrets = FileSecretStore(
      in: folder.url, masterKey: CallerMasterKey(.random()))
    let root = folder.file("accounts")
    let org = TestOrg()
    var account = org.account()
    if hasWebSession { account.credentials.webSession = ["csrf_token": "csrf"] }
    let persister = EncryptedAccountDirectory(root: root, secrets: secrets)
    try await persister.save(account)
    // What was written last is lost: a value for web content, or the access token.
    let cut = try Data(contentsOf: secrets.url).dropLast(5)
    try Data(cut).write(to: secrets.url)
    func manager() async throws -> UserAccountManager {
      try await UserAccountManager(persister: persister, transport: org.transport())
    }
    let first = try await manager()
    #expect(await first.unreadableAccounts.isEmpty)
    let found = try #require(await first.accounts.first)
    #expect(found.loginState == .loggedIn && found.credentials.refreshToken == "refresh-1")
    #expect(found.credentials.accessToken == (hasWebSession ? "access-1" : nil))
    #expect(try await first.refresh(account.identity).credentials.accessToken == "access-2")
    // The unreadable bytes are still there.
    #expect(try Data(contentsOf: secrets.url).range(of: cut.suffix(20)) != nil)
    let entered = try await first.logIn(
      .tokens(accessToken: "access-2", refreshToken: "refresh-9", instance: .production))
    let second = try await manager()
    #expect(await second.accounts.map(\.credentials) == [entered.credentials])
    #expect(await second.unreadableAccounts.isEmpty)
    try await second.logOut(account.identity)
    #expect(try await manager().accounts.isEmpty)
  }

  @Test(.covers("CO-63"))
  func `what a running manager knows outlives damage of the secret store`() async throws {
    let folder = try TemporaryFolder()
    let org = TestOrg()
    let account = org.account()
    try await persister(folder.url).save(account)
    let isDamaged = Flag()
    let store = InterceptedSecretStore(base: secrets, damaged: account.credentials.identifier) {
      isDamaged.value.withLock { $0 }
    }
    let manager = try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder.url, secrets: store),
      transport: org.transport())
    isDamaged.value.withLock { $0 = true }
    #expect(try await manager.refresh(account.identity).credentials.accessToken == "access-2")
    isDamaged.value.withLock { $0 = false }
    let stored = try await persister(folder.url).fetch(account.identity)
    #expect(stored?.credentials.accessToken == "access-2")
    #expect(stored?.credentials.refreshToken == "refresh-1")
  }

  @Test(.timeLimit(.minutes(1)))
  func `a secret store that makes one account wait holds up no other`() async throws {
    let folder = try TemporaryFolder()
    let slow = account("005000000000001AAA"), other = account("005000000000002AAA")
    try await persister(folder.url).save(slow)
    try await persister(folder.url).save(other)
    let isSlow = Flag(), isWaiting = Flag(), goOn = Latch()
    let store = InterceptedSecretStore(base: secrets) { name in
      guard name.account == slow.credentials.identifier, isSlow.value.withLock({ $0 }) else {
        return
      }
      isWaiting.value.withLock { $0 = true }
      goOn.waitOnThread()
    }
    let manager = try await manager(folder.url, secrets: store)
    isSlow.value.withLock { $0 = true }
    let refresh = Task { try await manager.refresh(slow.identity) }
    await until { isWaiting.value.withLock { $0 } }
    #expect(try await manager.session(of: other.identity) == other)
    isSlow.value.withLock { $0 = false }
    goOn.open()
    _ = await refresh.result
  }

  @Test func `a secret store that locks while accounts are read hides none of them`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let store = InterceptedSecretStore(base: secrets) { (name) throws(SecretStoreError) in
      if name.account != nil { throw SecretStoreError(.locked, "locked") }
    }
    let error = await #expect(throws: AccountError.self) {
      try await manager(folder.url, secrets: store)
    }
    #expect(error?.code == .keyUnavailable)
  }

  @Test(.covers("CO-63"))
  func `a token that an account never had is not missed in a damaged secret store`()
    async throws
  {
    let folder = try TemporaryFolder()
    let account = TestOrg().account(refreshToken: nil)
    try await persister(folder.url).save(account)
    let store = InterceptedSecretStore(base: secrets) { (name) throws(SecretStoreError) in
      if name.service == OAuthKeys.refreshService { throw SecretStoreError(.corrupt, "damaged") }
    }
    let manager = try await manager(folder.url, secrets: store)
    #expect(await manager.accounts == [account])
    #expect(await manager.unreadableAccounts.isEmpty)
  }

  @Test func `a key of the wrong length is no key, and no file is blamed for it`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    for name in try secrets.list() where name.account == nil {
      try secrets.write([UInt8](repeating: 1, count: 16), for: name)
    }
    let error = await #expect(throws: AccountError.self) { try await manager(folder.url) }
    #expect(error?.code == .keyUnavailable)
  }

  @Test(.covers("CO-95", "CO-98"))
  func `a damaged note stays where it is while another process holds its lock`()
    async throws
  {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "current-user.json")
    try Data("{".utf8).write(to: file)
    let directory = EncryptedAccountDirectory(
      root: folder.url, secrets: secrets, patience: .milliseconds(20))
    let lock = folder.url.appending(path: "locks/current-user.lock").path
    try await AccountLock.withLock(at: lock, patience: .zero) {
      let error = await #expect(throws: AccountError.self) { try await directory.fetchAll() }
      #expect(error?.code == .busy)
    }
    #expect(try Data(contentsOf: file) == Data("{".utf8))
  }

  @Test(.covers("CO-63"))
  func `a secret that is gone makes the account log in again`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    for name in try secrets.list() where name.service.hasSuffix("oauth.refresh") {
      try secrets.remove(name)
    }
    let account = try #require(await manager(folder.url).accounts.first)
    #expect(account.credentials.refreshToken == nil)
    #expect(account.credentials.accessToken == "access 005000000000001AAA")
  }

  @Test func `a folder of accounts that is none is reported, not taken for empty`()
    async throws
  {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "accounts")
    try Data().write(to: file)
    let error = await #expect(throws: AccountError.self) { try await manager(file) }
    #expect(error?.code == .readFailed)
  }
}

private final class Flag: Sendable {
  let value = Mutex(false)
}

/// A secret store that a test steps into before a secret is read, unless it was written here since.
private final class InterceptedSecretStore: SecretStore {
  private let base: InMemorySecretStore
  private let beforeReading: @Sendable (SecretName) throws(SecretStoreError) -> Void
  private let renewed = Mutex<Set<SecretName>>([])

  init(
    base: InMemorySecretStore,
    beforeReading: @escaping @Sendable (SecretName) throws(SecretStoreError) -> Void
  ) {
    self.base = base
    self.beforeReading = beforeReading
  }

  /// The secrets of `account` are damaged for as long as `isDamaged` says.
  convenience init(
    base: InMemorySecretStore, damaged account: String,
    isDamaged: @escaping @Sendable () -> Bool = { true }
  ) {
    self.init(base: base) { (name: SecretName) throws(SecretStoreError) in
      if name.account == account, isDamaged() { throw SecretStoreError(.corrupt, "damaged") }
    }
  }

  var protection: SecretProtection { base.protection }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    if !renewed.withLock({ $0.contains(name) }) { try beforeReading(name) }
    return try base.read(name)
  }

  func update(
    _ name: SecretName, _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try base.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    renewed.withLock { _ = $0.insert(name) }
    try base.write(secret, for: name)
  }

  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool { try base.remove(name) }

  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}
