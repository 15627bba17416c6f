import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-76 to CO-98: accounts that survive restarts, several at once, and files that cannot be read.
@Suite struct AccountTests {
  private let secrets = InMemorySecretStore()

  private func manager(_ folder: URL, secrets: (any SecretStore)? = nil) async throws
    -> UserAccountManager
  {
    try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder, secrets: secrets ?? self.secrets),
      transport: TestOrg().transport())
  }

  private func persister(_ folder: URL) -> EncryptedAccountDirectory {
    EncryptedAccountDirectory(root: folder, secrets: secrets)
  }

  private func account(_ user: String, org: String = "00D000000000001EAA") -> UserAccount {
    var account = TestOrg().account(
      accessToken: "access \(user)", refreshToken: "refresh \(user)",
      identity: UserAccountIdentity(userId: user, organizationId: org))
    account.credentials.webSession = ["lightning_sid": "sid \(user)", "lightning_domain": "d"]
    account.credentials.scopes = ["api", "id"]
    account.credentials.issuedAtMilliseconds = 1_600_000_000_123
    account.credentials.communityId = "0DB000000000001GAA"
    account.credentials.communityURL = URL(string: "https://acme.force.com/x")
    account.profile = UserProfile(
      username: "\(user)@example.com", displayName: "Ünï \(user)", email: "e",
      raw: ["custom_attributes": ["a": "b"], "n": 1.5])
    return account
  }

  private func files(_ folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      !$0.hasPrefix("locks") && $0.contains(".")
    }.sorted()
  }

  @Test func `CO-76 CO-81 CO-94 accounts and the current user survive a restart`() async throws {
    let folder = try TemporaryFolder()
    let first = account("005000000000001AAA"), second = account("005000000000002AAA")
    let persister = persister(folder.url)
    try await persister.save(first)
    try await persister.save(second)
    let before = try await manager(folder.url)
    try await before.setCurrent(second.identity)
    let after = try await manager(folder.url)
    #expect(await after.accounts == [first, second])
    #expect(await after.current == second)
    #expect(await after.unreadableAccounts.isEmpty)
    try await after.setCurrent(nil)
    #expect(try await manager(folder.url).current == nil)
  }

  @Test func `CO-61 CO-94 no file shows a token, a name or an address`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let files = try files(folder.url)
    #expect(files == ["00D000000000001EAA/005000000000001AAA/UserAccount.sealed"])
    for file in files {
      let url = folder.url.appending(path: file)
      let content = String(decoding: try Data(contentsOf: url), as: UTF8.self)
      for word in ["access", "refresh", "sid", "example.com", "client-1", "acme"] {
        #expect(!content.contains(word), "\(word)")
      }
      let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      let parent = try FileManager.default.attributesOfItem(
        atPath: url.deletingLastPathComponent().path)
      #expect((parent[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }
    // The sealed text does not hold them either: they are in the secret store alone.
    let text = try AccountDocument.text(
      of: account("005000000000001AAA"), secrets: ["access_token"])
    let document = String(decoding: text, as: UTF8.self)
    for secret in ["access 005", "refresh 005", "sid 005"] { #expect(!document.contains(secret)) }
  }

  @Test(arguments: [0, 4, 5, 12, 13, 30, -1])
  func `CO-95 a damaged account file is kept aside and reported`(position: Int) async throws {
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
    default: #expect(report.error.code == .damagedFile)
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

  @Test(arguments: ["", "{", "[]", #"{"userId":"005000000000001AAA"}"#])
  func `CO-95 a damaged note of the current user is kept aside and reported`(
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
    #expect(report.error.message.contains("switch to an account"))
    #expect(try String(contentsOf: report.url, encoding: .utf8) == text)
    // It is told once, and the way out works.
    try await manager.setCurrent(good.identity)
    let next = try await self.manager(folder.url)
    #expect(await next.unreadableAccounts.isEmpty)
    #expect(await next.current?.identity == good.identity)
  }

  @Test(arguments: [0, 1, 13, 40])
  func `CO-95 a cut account file is kept aside and reported`(length: Int) async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let file = folder.url.appending(
      path: "00D000000000001EAA/005000000000001AAA/UserAccount.sealed")
    try Data(try Data(contentsOf: file).prefix(length)).write(to: file)
    let manager = try await manager(folder.url)
    #expect(await manager.accounts.isEmpty)
    #expect(await manager.unreadableAccounts.map(\.error.code) == [.damagedFile])
  }

  @Test func `CO-94 a file in another user's place is refused`() async throws {
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

  @Test func `ruling 1: without the key nothing is touched, and nothing is made`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    let before = try files(folder.url)
    let other = InMemorySecretStore()
    let error = await #expect(throws: AccountError.self) {
      try await manager(folder.url, secrets: other)
    }
    #expect(error?.code == .keyMissing)
    await #expect(throws: AccountError.self) {
      try await EncryptedAccountDirectory(root: folder.url, secrets: other)
        .save(account("005000000000002AAA"))
    }
    #expect(try other.list().isEmpty)
    #expect(try files(folder.url) == before)
    #expect(try await manager(folder.url).accounts.count == 1)
  }

  @Test func `ruling 1: a wrong key reports the file and leaves it`() async throws {
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

  @Test func `ruling 1: a locked secret store is told, and passes`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    secrets.setLocked(true)
    let error = await #expect(throws: AccountError.self) { try await manager(folder.url) }
    #expect(error?.code == .keyUnavailable)
    #expect(error?.code.isTransient == true)
    secrets.setLocked(false)
    #expect(try await manager(folder.url).accounts.count == 1)
  }

  @Test func `CO-63 ruling 1: tokens that cannot be read make their account alone log in again`()
    async throws
  {
    let folder = try TemporaryFolder()
    let damaged = account("005000000000001AAA"), whole = account("005000000000002AAA")
    try await persister(folder.url).save(damaged)
    try await persister(folder.url).save(whole)
    let before = try files(folder.url)
    let store = DamagedSecretStore(base: secrets, damaged: damaged.credentials.identifier) { true }
    let manager = try await manager(folder.url, secrets: store)
    #expect(await manager.accounts.map(\.loginState) == [.notLoggedIn, .loggedIn])
    #expect(await manager.account(for: whole.identity) == whole)
    let report = try #require(await manager.unreadableAccounts.first)
    #expect(await manager.unreadableAccounts.count == 1)
    #expect(report.error.code == .readFailed && !report.error.code.isTransient)
    #expect(report.error.message.contains("log in again"))
    #expect(try files(folder.url) == before)
    // A change of the account keeps what the store may give again.
    try await manager.setCustomData("north", forKey: "region", of: damaged.identity)
    let restored = try #require(try await persister(folder.url).fetch(damaged.identity))
    #expect(restored.credentials == damaged.credentials)
    #expect(restored.customData["region"] == "north")
  }

  @Test(arguments: [false, true])
  func `CO-63 a cut secret store hides no account, and a login heals it`(
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
    try Data(try Data(contentsOf: secrets.url).dropLast(5)).write(to: secrets.url)
    func manager() async throws -> UserAccountManager {
      try await UserAccountManager(persister: persister, transport: org.transport())
    }
    let first = try await manager()
    #expect(await first.unreadableAccounts.isEmpty)
    let found = try #require(await first.accounts.first)
    #expect(found.loginState == .loggedIn && found.credentials.refreshToken == "refresh-1")
    #expect(found.credentials.accessToken == (hasWebSession ? "access-1" : nil))
    #expect(try await first.refresh(account.identity).credentials.accessToken == "access-2")
    // The bytes that nobody can read are still there.
    #expect(throws: SecretStoreError.self) { try secrets.read(SecretName(service: "absent")) }
    let entered = try await first.logIn(
      accessToken: "access-2", refreshToken: "refresh-9", instance: .production)
    let second = try await manager()
    #expect(await second.accounts.map(\.credentials) == [entered.credentials])
    #expect(await second.unreadableAccounts.isEmpty)
    try await second.logOut(account.identity)
    #expect(try await manager().accounts.isEmpty)
  }

  @Test func `CO-63 what a running manager knows outlives damage of the secret store`() async throws
  {
    let folder = try TemporaryFolder()
    let org = TestOrg()
    let account = org.account()
    try await persister(folder.url).save(account)
    let isDamaged = Flag()
    let store = DamagedSecretStore(base: secrets, damaged: account.credentials.identifier) {
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
    let store = SlowSecretStore(base: secrets, slow: slow.credentials.identifier)
    let manager = try await manager(folder.url, secrets: store)
    store.isSlow.withLock { $0 = true }
    let refresh = Task { try await manager.refresh(slow.identity) }
    await until { store.isWaiting.withLock { $0 } }
    #expect(try await manager.session(of: other.identity) == other)
    store.isSlow.withLock { $0 = false }
    store.goOn.signal()
    _ = await refresh.result
  }

  @Test(.ownThreads) func `CO-98 what other processes remove meanwhile stops no start`()
    async throws
  {
    let folder = try TemporaryFolder()
    let url = folder.url
    async let others: Void = {
      for _ in 0..<500 {
        let inner = url.appending(path: "00D000000000009EAA")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try FileManager.default.removeItem(at: inner)
      }
    }()
    for _ in 0..<500 { _ = try AccountDisk.folders(in: url) }
    try await others
  }

  @Test func `CO-63 a secret that is gone makes the account log in again`() async throws {
    let folder = try TemporaryFolder()
    try await persister(folder.url).save(account("005000000000001AAA"))
    for name in try secrets.list() where name.service.hasSuffix("oauth.refresh") {
      try secrets.remove(name)
    }
    let account = try #require(await manager(folder.url).accounts.first)
    #expect(account.credentials.refreshToken == nil)
    #expect(account.credentials.accessToken == "access 005000000000001AAA")
  }

  @Test
  func `CO-96 a deleted account leaves no file and no secret, and deleting twice is no error`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let account = account("005000000000001AAA")
    try await persister.save(account)
    try await persister.delete(account)
    try await persister.delete(account)
    #expect(try await persister.fetchAll().accounts.isEmpty)
    #expect(try secrets.list().map(\.service) == ["com.salesforce.userAccount.encryptionKey"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test func `CO-87 what others keep in the user's folder stays`() async throws {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let account = account("005000000000001AAA")
    try await persister.save(account)
    let other = persister.folders.folder(of: account.identity).appending(path: "store.db")
    try Data("x".utf8).write(to: other)
    try await persister.delete(account)
    #expect(FileManager.default.fileExists(atPath: other.path))
  }

  @Test func `CO-94 a login again under a new identifier removes the former secrets`() async throws
  {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let first = account("005000000000001AAA"), second = account("005000000000001AAA")
    #expect(first.credentials.identifier != second.credentials.identifier)
    try await persister.save(first)
    try await persister.save(second)
    let owners = Set(try secrets.list().compactMap(\.account))
    #expect(owners == [second.credentials.identifier])
  }

  @Test func `CO-98 another process's tokens are taken instead of a refresh`() async throws {
    let folder = try TemporaryFolder()
    let org = TestOrg()
    org.state.withLock { $0.rotates = true }
    let persister = persister(folder.url)
    try await persister.save(org.account())
    let transport = org.transport()
    // Two managers as in two processes, with one account between them.
    let one = try await UserAccountManager(persister: persister, transport: transport)
    let two = try await UserAccountManager(persister: persister, transport: transport)
    let refreshed = try await one.refreshedSession(
      of: TestOrg.identity, replacing: "access-1")
    let taken = try await two.refreshedSession(of: TestOrg.identity, replacing: "access-1")
    #expect(taken.credentials == refreshed.credentials)
    #expect(org.state.withLock { $0.refreshes } == 1)
    // The rotated token serves the next refresh, whoever makes it.
    try await two.refresh(TestOrg.identity)
    #expect(org.state.withLock { $0.refreshes } == 2)
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.refreshToken == "refresh-3")
  }

  @Test func `CO-98 reading the accounts again shows what another process did`() async throws {
    let folder = try TemporaryFolder()
    let here = try await manager(folder.url)
    let there = try await manager(folder.url)
    let account = try await there.logIn(
      accessToken: "access-1", instance: try LoginServer("https://acme.my.salesforce.com"))
    #expect(await here.accounts.isEmpty)
    try await here.reload()
    #expect(await here.accounts.map(\.identity) == [account.identity])
    #expect(await here.current?.credentials.accessToken == "access-1")
    try await there.logOut(account.identity)
    try await here.reload()
    #expect(await here.accounts.isEmpty)
    #expect(await here.current == nil)
  }

  @Test func `CO-98 one at a time holds an account's lock`() async throws {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let crowd = Crowd()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await persister.withExclusiveAccess(to: TestOrg.identity) {
            crowd.enter()
            await Task.yield()
            crowd.leave()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(crowd.most == 1)
  }

  @Test func `CO-77 both forms of an id are one user, in sets too`() {
    let short = UserAccountIdentity(userId: "005B0000001AbCd", organizationId: "00DB00000000abc")
    let long = UserAccountIdentity(
      userId: SalesforceId.longForm(of: "005B0000001AbCd") ?? "",
      organizationId: SalesforceId.longForm(of: "00DB00000000abc") ?? "")
    #expect(short == long)
    #expect(Set([short, long]).count == 1)
    #expect(
      UserAccountIdentity(userId: "Portal", organizationId: "X")
        == UserAccountIdentity(userId: "portal", organizationId: "x"))
    #expect(
      UserAccountIdentity(userId: "2", organizationId: "1")
        < UserAccountIdentity(userId: "1", organizationId: "2"))
  }

  @Test func `CO-80 accounts are found by org, host and login domain`() async throws {
    let org = TestOrg()
    let here = account("005000000000001AAA")
    var there = account("005000000000002AAA", org: "00D000000000002EAA")
    there.credentials.instanceURL = URL(string: "https://other.my.salesforce.com")
    there.credentials.loginServer = .sandbox
    let manager = try await org.manager([there, here])
    #expect(await manager.accounts == [here, there])
    #expect(await manager.accounts(inOrganization: "00D000000000001") == [here])
    #expect(await manager.accounts(onInstanceHost: "OTHER.my.salesforce.com") == [there])
    #expect(await manager.accounts(withLoginDomain: "TEST.salesforce.com") == [there])
    #expect(await manager.accounts(inOrganization: "00D0").isEmpty)
  }

  @Test func `CO-81 CO-83 only a known account becomes current, and switching is told once`()
    async throws
  {
    let first = account("005000000000001AAA"), second = account("005000000000002AAA")
    let manager = try await TestOrg().manager([first, second])
    let events = await manager.events()
    #expect(await manager.current == nil)
    try await manager.setCurrent(first.identity)
    try await manager.setCurrent(first.identity)
    try await manager.setCurrent(second.identity)
    let error = await #expect(throws: AccountError.self) {
      try await manager.setCurrent(UserAccountIdentity(userId: "x", organizationId: "y"))
    }
    #expect(error?.code == .unknownAccount)
    #expect(await manager.current == second)
    await manager.close()
    var told: [String] = []
    for await event in events {
      told.append("\("\(event.kind)".prefix { $0 != "(" }) \(event.account.userId)")
    }
    #expect(
      told == [
        "willBecomeCurrent \(first.userId)", "didBecomeCurrent \(first.userId)",
        "willBecomeCurrent \(second.userId)", "didBecomeCurrent \(second.userId)",
      ])
  }

  @Test(arguments: [
    ("00D000000000001EAA", "00D000000000001EAA"), ("00D000000000001", "00D000000000001EAA"),
    (#"a/b\c?d%e*f|g"h<i>j:k@l"#, "a_b_c_d_e_f_g_h_i_j_k_l"), ("..", "_.."), ("", "_"),
  ])
  func `CO-88 parts of paths are safe`(id: String, part: String) {
    #expect(UserFolders.part(id) == part)
  }

  @Test func `CO-88 a community has a folder of its own`() {
    let folders = UserFolders(root: URL(filePath: "/root"))
    var account = account("005000000000001AAA")
    #expect(
      folders.communityFolder(of: account).path
        == "/root/00D000000000001EAA/005000000000001AAA/0DB000000000001GAA")
    for community in [nil, "", "000000000000000AAA"] {
      account.credentials.communityId = community
      #expect(folders.communityFolder(of: account).lastPathComponent == "internal")
    }
  }

  @Test func `CO-11 an installation keeps its name, and every folder has its own`() throws {
    let folder = try TemporaryFolder(), other = try TemporaryFolder()
    let id = try InstallationId.load(in: folder.url)
    #expect(UUID(uuidString: id) != nil)
    #expect(try InstallationId.load(in: folder.url) == id)
    #expect(try InstallationId.load(in: other.url) != id)
  }

  @Test func `ruling 1: a folder of accounts that is none is told, not taken for empty`()
    async throws
  {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "accounts")
    try Data().write(to: file)
    let error = await #expect(throws: AccountError.self) { try await manager(file) }
    #expect(error?.code == .readFailed)
  }

  @Test func `CO-78 legal changes of the login state`() {
    let states: [UserAccount.LoginState] = [.notLoggedIn, .loggedIn, .loggingOut]
    #expect(states.map { $0.allows(.loggedIn) } == [true, true, false])
    #expect(states.map { $0.allows(.loggingOut) } == [true, true, false])
    #expect(states.map { $0.allows(.notLoggedIn) } == [true, true, true])
  }
}

/// Counts how many are inside at once.
private final class Crowd: Sendable {
  private let counts = Mutex((now: 0, most: 0))
  var most: Int { counts.withLock { $0.most } }

  func enter() {
    counts.withLock { counts in
      counts.now += 1
      counts.most = max(counts.most, counts.now)
    }
  }

  func leave() { counts.withLock { $0.now -= 1 } }
}

private final class Flag: Sendable {
  let value = Mutex(false)
}

/// A secret store in which the secrets of one login are damaged; writing one anew heals it.
private final class DamagedSecretStore: SecretStore {
  private let base: InMemorySecretStore
  private let damaged: String
  private let isDamaged: @Sendable () -> Bool
  private let healed = Mutex<Set<SecretName>>([])

  init(base: InMemorySecretStore, damaged: String, isDamaged: @escaping @Sendable () -> Bool) {
    self.base = base
    self.damaged = damaged
    self.isDamaged = isDamaged
  }

  var protection: SecretProtection { base.protection }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    if name.account == damaged, isDamaged(), !healed.withLock({ $0.contains(name) }) {
      throw SecretStoreError(.corrupt, "damaged")
    }
    return try base.read(name)
  }

  func update(
    _ name: SecretName, _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try base.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    healed.withLock { _ = $0.insert(name) }
    try base.write(secret, for: name)
  }

  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool { try base.remove(name) }

  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}

/// A secret store that can make the readers of one login's secrets wait.
private final class SlowSecretStore: SecretStore {
  let isSlow = Mutex(false)
  let isWaiting = Mutex(false)
  let goOn = DispatchSemaphore(value: 0)
  private let base: InMemorySecretStore
  private let slow: String

  init(base: InMemorySecretStore, slow: String) {
    self.base = base
    self.slow = slow
  }

  var protection: SecretProtection { base.protection }

  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    if name.account == slow, isSlow.withLock({ $0 }) {
      isWaiting.withLock { $0 = true }
      goOn.wait()
    }
    return try base.read(name)
  }

  func update(
    _ name: SecretName, _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try base.update(name, change)
  }

  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try base.write(secret, for: name)
  }

  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool { try base.remove(name) }

  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}
