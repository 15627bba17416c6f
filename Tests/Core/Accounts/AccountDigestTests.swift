import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Is the file of an account the one that was written last, whatever a writer without the key does to the folder?
@Suite struct AccountDigestTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()
  private let folder: TemporaryFolder
  private let policy = LockPolicy(timeoutMinutes: 1, passcodeLength: 6)

  init() throws { folder = try TemporaryFolder() }

  private var persister: EncryptedAccountDirectory { persister(folder.url) }

  private func file(_ account: UserAccount) -> URL {
    persister.folders.folder(of: account.identity).appending(path: "UserAccount.sealed")
  }

  private func digest(_ account: UserAccount) -> SecretName {
    SecretName(service: "com.salesforce.userAccount.file", account: "\(account.identity)")
  }

  /// A change of the folder by a writer without the key.
  enum Attack: CaseIterable {
    case older, removed, ofAnotherUser
  }

  @Test(.covers("CO-94.2", "CO-95"), arguments: Attack.allCases)
  func `an account file that is not the one written last is reported, and a login ends that`(
    attack: Attack
  ) async throws {
    var account = account("005000000000001AAA")
    let other = self.account("005000000000002AAA")
    try await persister.save(account)
    let old = try Data(contentsOf: file(account))
    account.lockPolicy = policy
    try await persister.save(account)
    try await persister.save(other)
    let present = try Data(contentsOf: file(account))
    switch attack {
    case .older: try old.write(to: file(account))
    case .removed: try FileManager.default.removeItem(at: file(account))
    case .ofAnotherUser: try Data(contentsOf: file(other)).write(to: file(account))
    }
    let put = try? Data(contentsOf: file(account))
    #expect(put != present)
    if attack != .ofAnotherUser {
      let error = await #expect(throws: AccountError.self) {
        try await persister.fetch(account.identity)
      }
      #expect(error?.code == .replacedFile && error?.message.contains("Log in again") == true)
    }
    let manager = try await manager(folder.url)
    #expect(await manager.accounts == [other])
    let report = try #require(await manager.unreadableAccounts.first)
    #expect(await manager.unreadableAccounts.count == 1)
    #expect(report.error.code == (attack == .ofAnotherUser ? .damagedFile : .replacedFile))
    // The file is kept, and the lock that it demanded stays.
    if let put { #expect(try Data(contentsOf: report.url) == put) }
    #expect(await manager.lockPolicies == [account.identity: policy])
    // It is reported until the user logs in again.
    #expect(try await persister.fetchAll().unreadable.count == 1)
    try await persister.save(account)
    let healed = try await persister.fetchAll()
    #expect(healed.accounts == [account, other] && healed.unreadable.isEmpty)
    #expect(healed.heldPolicies.isEmpty)
  }

  @Test(.covers("CO-96"))
  func `a deleted account is not missed, and its file does not come back`() async throws {
    let account = account("005000000000001AAA")
    try await persister.save(account)
    let old = try Data(contentsOf: file(account))
    try await persister.delete(account)
    #expect(try await persister.fetchAll().unreadable.isEmpty)
    try FileManager.default.createDirectory(
      at: file(account).deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try old.write(to: file(account))
    let stored = try await persister.fetchAll()
    #expect(stored.accounts.isEmpty && stored.unreadable.map(\.error.code) == [.replacedFile])
  }

  @Test(.covers("CO-95"))
  func `a digest that is lost hides its account alone`() async throws {
    let account = self.account("005000000000001AAA"), other = self.account("005000000000002AAA")
    try await persister.save(account)
    try await persister.save(other)
    try secrets.remove(digest(account))
    let stored = try await persister.fetchAll()
    #expect(stored.accounts == [other])
    #expect(stored.unreadable.map(\.error.code) == [.replacedFile])
    try await persister.save(account)
    #expect(try await persister.fetchAll().accounts == [account, other])
  }

  @Test(.covers("CO-95"), arguments: [false, true])
  func `a record that is cut out of the file of secrets hides its account alone`(
    cutsMark: Bool
  ) async throws {
    let secrets = FileSecretStore(in: folder.url, masterKey: CallerMasterKey(.random()))
    let persister = EncryptedAccountDirectory(root: folder.file("accounts"), secrets: secrets)
    let first = account("005000000000001AAA"), second = account("005000000000002AAA")
    try await persister.save(first)
    let before = try Data(contentsOf: secrets.url).count
    try await persister.save(second)
    let frame = Data("FFsr".utf8)
    var bytes = try Data(contentsOf: secrets.url)
    var starts: [Int] = []
    while let found = bytes.range(of: frame, in: (starts.last.map { $0 + 4 } ?? 0)..<bytes.count) {
      starts.append(found.lowerBound)
    }
    // The order of the first writes: key, mark, digest and tokens of the first account.
    #expect(before < bytes.count)
    let cut = cutsMark ? starts[1]..<starts[3] : starts[2]..<starts[3]
    bytes.removeSubrange(cut)
    try bytes.write(to: secrets.url)
    let stored = try await persister.fetchAll()
    #expect(stored.accounts == [second])
    #expect(stored.unreadable.map(\.error.code) == [.replacedFile])
  }

  @Test(.covers("CO-94"))
  func `files of an earlier version get their digests when they are read first`() async throws {
    let account = self.account("005000000000001AAA"), other = self.account("005000000000002AAA")
    try await persister.save(account)
    let old = try Data(contentsOf: file(account))
    var changed = account
    changed.customData = ["region": "north"]
    try await persister.save(changed)
    try await persister.save(other)
    // As an earlier version leaves them.
    for name in try secrets.list() where name.service.hasPrefix("com.salesforce.userAccount.file") {
      try secrets.remove(name)
    }
    #expect(try await persister.fetchAll().accounts == [changed, other])
    #expect(try secrets.read(digest(account)) != nil && secrets.read(digest(other)) != nil)
    try old.write(to: file(account))
    #expect(try await persister.fetchAll().accounts == [other])
  }

  @Test(.covers("CO-94"))
  func `the first write after an update leaves the other accounts readable`() async throws {
    let account = self.account("005000000000001AAA"), other = self.account("005000000000002AAA")
    try await persister.save(account)
    try await persister.save(other)
    for name in try secrets.list() where name.service.hasPrefix("com.salesforce.userAccount.file") {
      try secrets.remove(name)
    }
    try await persister.save(account)
    #expect(try await persister.fetchAll().accounts == [account, other])
  }

  @Test(.covers("CO-94"))
  func `an equal account is not written again`() async throws {
    let account = account("005000000000001AAA")
    try await persister.save(account)
    let before = try Data(contentsOf: file(account))
    try await persister.save(account)
    #expect(try Data(contentsOf: file(account)) == before)
    var changed = account
    changed.profile = UserProfile(username: "other@example.com")
    try await persister.save(changed)
    #expect(try Data(contentsOf: file(account)) != before)
  }
}
