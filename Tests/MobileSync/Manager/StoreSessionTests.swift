import Foundation
import HTTPTypes
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import TestSupport
import Testing

/// As which user does the sync of a store send its requests?
@Suite struct StoreSessionTests {
  private static let organization = "00D000000000001EAA"
  private static let users = ["005000000000001AAA", "005000000000002AAA"]

  private func identity(_ userId: String) -> UserAccountIdentity {
    UserAccountIdentity(userId: userId, organizationId: Self.organization)
  }

  private func account(_ userId: String) -> UserAccount {
    UserAccount(
      identity: identity(userId),
      credentials: OAuthCredentials(
        clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production,
        accessToken: "token-of-\(userId)", instanceURL: URL(string: "https://\(userId).example")),
      profile: UserProfile(username: userId))
  }

  @Test(.covers("MS-8"))
  func `requests carry the session of the store's user, and not that of the current one`()
    async throws
  {
    let folder = try TemporaryFolder()
    let transport = ScriptedTransport { _ in
      RestResponse(json: #"{"totalSize": 0, "done": true, "records": []}"#)
    }
    let persister = InMemoryAccountPersister()
    for user in Self.users { try await persister.save(account(user)) }
    let accounts = try await UserAccountManager(persister: persister, transport: transport)
    let stores = SmartStoreManager(root: folder.url, encryption: .plaintext, accounts: accounts)
    let targets = SyncTargetRegistry()
    try StandardSyncTargets.register(into: targets)
    let managers = SyncManagerRegistry(registry: targets)
    var syncs: [(user: String, manager: SyncManager)] = []
    for user in Self.users {
      let store = try #require(
        try await stores.shared(
          forUserAccount: .user(organizationId: Self.organization, userId: user)))
      try await store.registerSoup(
        withName: Device.soup,
        withIndices: ["Id", SyncKeys.local].map { SoupIndex(path: $0, type: .string) })
      let client = RestClient(account: account(user), accounts: accounts, transport: transport)
      syncs.append((user, try await managers.sharedInstance(store: store, sender: client)))
    }
    for current in Self.users {
      try await accounts.setCurrent(identity(current))
      for (user, manager) in syncs {
        let before = transport.requests.count
        _ = try await manager.syncDown(
          target: try SoqlSyncDownTarget(query: Device.query),
          options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
        ).finished()
        let sent = transport.requests.dropFirst(before)
        #expect(sent.count == 1)
        for request in sent {
          #expect(request.headers[.authorization] == "Bearer token-of-\(user)")
          #expect(request.url.host() == "\(user).example")
        }
      }
    }
    await managers.removeSharedInstances()
    try await stores.close()
  }

  @Test(.covers("MS-8"))
  func `without a session a run fails with noRestClient and sends nothing`() async throws {
    let transport = ScriptedTransport([])
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    // An account that has been logged out since the client was made.
    let client = RestClient(
      account: account(Self.users[0]), accounts: accounts, transport: transport)
    let device = try await Device.open(InMemoryOrg(), sender: client)
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .noRestClient)
    #expect(transport.requests.isEmpty)
  }
}
