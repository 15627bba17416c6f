import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-31, BX-4: whichever write is the last before a process ends, the account works on.
@Suite struct RotationCrashTests {
  @Test func `CO-31 BX-4 a crash while a rotated token is kept leaves a usable account`()
    async throws
  {
    // 1: the refresh token is on disk and nothing else; then one write more each time.
    for last in 1...4 {
      let folder = try TemporaryFolder()
      let secrets = InMemorySecretStore()
      let org = TestOrg()
      org.state.withLock {
        $0.rotates = true
        $0.accessToken = "access-9"
      }
      try await EncryptedAccountDirectory(root: folder.url, secrets: secrets).save(org.account())
      let mortal = MortalSecretStore(secrets)
      let first = try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: mortal),
        transport: org.transport())
      mortal.writesLeft.withLock { $0 = last }
      _ = try? await first.refresh(TestOrg.identity)
      await first.close()

      // The next process: one request, and it is answered.
      let transport = org.transport()
      let second = try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: secrets),
        transport: transport)
      let account = try #require(await second.account(for: TestOrg.identity))
      #expect(account.loginState == .loggedIn, "\(last) writes")
      #expect(account.credentials.refreshToken == "refresh-2", "\(last) writes")
      let client = RestClient(account: account, accounts: second, transport: transport)
      #expect(try await client.send(.limits()).status == 200, "\(last) writes")
    }
  }
}

/// A secret store that fails for good after some changes, as if its process had ended.
private final class MortalSecretStore: SecretStore {
  let writesLeft = Mutex(Int.max)
  private let base: InMemorySecretStore

  init(_ base: InMemorySecretStore) { self.base = base }

  var protection: SecretProtection { base.protection }

  private func spend() throws(SecretStoreError) {
    let isDead = writesLeft.withLock { left in
      left -= 1
      return left < 0
    }
    if isDead { throw SecretStoreError(.inputOutput, "the process has ended") }
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
