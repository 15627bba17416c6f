import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-76 to CO-98: accounts that survive restarts, and several at once.
@Suite struct AccountTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()

  @Test(.covers("CO-76.1", "CO-81.1", "CO-94.1", "HT-89.1"))
  func `accounts and the current user survive a restart`()
    async throws
  {
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

  @Test(.covers("CO-61.2", "CO-94.1", "BX-33.2"))
  func `no file shows a token, a name or an address`() async throws {
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

  @Test(.covers("CO-98"), .ownThreads)
  func `what other processes remove during a start does not stop it`()
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

  @Test(.covers("CO-96"))
  func `a deleted account leaves no file and no secret, and deleting twice is no error`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let account = account("005000000000001AAA")
    try await persister.save(account)
    try await persister.delete(account)
    try await persister.delete(account)
    #expect(try await persister.fetchAll().accounts.isEmpty)
    #expect(try Set(secrets.list()) == AccountSecretNames.withoutAccounts)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test(.covers("CO-84", "CO-94.4"))
  func `a file that cannot be removed keeps its secrets, which a logout is to end`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let account = account("005000000000001AAA")
    try await persister.save(account)
    let before = Set(try secrets.list())
    // A folder in the place of the file.
    let file = persister.folders.folder(of: account.identity).appending(path: "UserAccount.sealed")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let error = await #expect(throws: AccountError.self) { try await persister.delete(account) }
    #expect(error?.code == .writeFailed && error?.number == 10004)
    #expect(Set(try secrets.list()) == before)
  }

  @Test(.covers("CO-61.3"))
  func `a secret that the session has no more leaves the secret store`() async throws {
    let folder = try TemporaryFolder()
    var account = account("005000000000001AAA")
    try await persister(folder.url).save(account)
    let before = try secrets.list().count
    account.credentials.webSession["lightning_sid"] = nil
    try await persister(folder.url).save(account)
    #expect(try secrets.list().count == before - 1)
  }

  @Test(.covers("CO-87"))
  func `what others keep in the user's folder stays`() async throws {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let account = account("005000000000001AAA")
    try await persister.save(account)
    let other = persister.folders.folder(of: account.identity).appending(path: "store.db")
    try Data("x".utf8).write(to: other)
    try await persister.delete(account)
    #expect(FileManager.default.fileExists(atPath: other.path))
  }

  @Test(.covers("CO-94", "CO-60.3"))
  func `a login again under a new identifier removes the former secrets`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = persister(folder.url)
    let first = account("005000000000001AAA"), second = account("005000000000001AAA")
    #expect(first.credentials.identifier != second.credentials.identifier)
    try await persister.save(first)
    try await persister.save(second)
    #expect(try AccountSecretNames.logins(in: secrets) == [second.credentials.identifier])
  }

  @Test(.covers("CO-98", "HT-79.1"))
  func `another process's tokens are taken instead of a refresh`() async throws {
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
    // The rotated token serves the next refresh, in any process.
    try await two.refresh(TestOrg.identity)
    #expect(org.state.withLock { $0.refreshes } == 2)
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.refreshToken == "refresh-3")
  }

  @Test(.covers("CO-98"))
  func `reading the accounts again shows what another process did`() async throws {
    let folder = try TemporaryFolder()
    let here = try await manager(folder.url)
    let there = try await manager(folder.url)
    let account = try await there.logIn(
      .tokens(accessToken: "access-1", instance: try LoginServer("https://acme.my.salesforce.com")))
    #expect(await here.accounts.isEmpty)
    try await here.reload()
    #expect(await here.accounts.map(\.identity) == [account.identity])
    #expect(await here.current?.credentials.accessToken == "access-1")
    try await there.logOut(account.identity)
    try await here.reload()
    #expect(await here.accounts.isEmpty)
    #expect(await here.current == nil)
  }

  @Test(.covers("CO-98"))
  func `one at a time holds an account's lock`() async throws {
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

  @Test(.covers("CO-77"))
  func `both forms of an id are one user, in sets too`() {
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

  @Test(.covers("CO-80", "HT-75.1"))
  func `accounts are found by org, host and login domain`() async throws {
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
    #expect(await manager.accounts(onInstanceHost: "none").isEmpty)
    #expect(await manager.accounts(withLoginDomain: "none").isEmpty)
    #expect(await manager.account(for: there.identity) == there)
    let short = UserAccountIdentity(
      userId: String(here.userId.prefix(15)),
      organizationId: String(here.organizationId.prefix(15)))
    #expect(await manager.account(for: short) == here)
    let unknown = UserAccountIdentity(
      userId: here.userId, organizationId: there.organizationId)
    #expect(await manager.account(for: unknown) == nil)
  }

  @Test(.covers("CO-81.2", "CO-83.1", "CO-8.1"))
  func `only a known account becomes current, and switching is reported once`()
    async throws
  {
    let first = account("005000000000001AAA"), second = account("005000000000002AAA")
    let manager = try await TestOrg().manager([first, second])
    let events = manager.events()
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

  @Test(
    .covers("CO-88"),
    arguments: [
      ("00D000000000001EAA", "00D000000000001EAA"), ("00D000000000001", "00D000000000001EAA"),
      (#"a/b\c?d%e*f|g"h<i>j:k@l"#, "a_b_c_d_e_f_g_h_i_j_k_l"), ("..", "_.."), ("", "_"),
    ])
  func `parts of paths are safe`(id: String, part: String) {
    #expect(UserFolders.part(id) == part)
  }

  @Test(.covers("CO-88"))
  func `a community has a folder of its own`() {
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

  @Test(.covers("CO-11.1"))
  func `an installation keeps its name, and every folder has its own`() throws {
    let folder = try TemporaryFolder(), other = try TemporaryFolder()
    let id = try InstallationId.load(in: folder.url)
    #expect(UUID(uuidString: id) != nil)
    #expect(try InstallationId.load(in: folder.url) == id)
    #expect(try InstallationId.load(in: other.url) != id)
    // A file that something else left empty is no name.
    let empty = try TemporaryFolder()
    try Data().write(to: empty.file("installation-id"))
    let name = try InstallationId.load(in: empty.url)
    #expect(!name.isEmpty)
    #expect(try InstallationId.load(in: empty.url) == name)
  }

  @Test(.covers("CO-78"))
  func `legal changes of the login state`() {
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
