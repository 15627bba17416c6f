import Crypto
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets

try await withMockOrg { org, server in
  try await org.load(plan: MockOrg.samplePlan)

  // sample: round-trip
  // An account, from tokens that the mock org issues.
  let transport = URLSessionTransport()
  let accounts = try await UserAccountManager(
    persister: InMemoryAccountPersister(), transport: transport)
  let account = try await accounts.logIn(
    .tokens(
      accessToken: server.info.accessToken, instance: LoginServer(server.info.instanceUrl),
      app: ConnectedApp(clientId: server.info.clientId, redirectURI: server.info.redirectUri)))

  // A soup in the account's encrypted store.
  let stores = SmartStoreManager(
    root: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString),
    encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))), accounts: accounts)
  guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else { return }
  try await store.registerSoup(
    withName: "accounts",
    withIndices: [
      SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
    ])

  // Sync down, edit without a network, sync up.
  let registry = SyncTargetRegistry()
  try StandardSyncTargets.register(into: registry)
  let managers = SyncManagerRegistry(registry: registry)
  let syncs = try await managers.sharedInstance(
    store: store,
    sender: RestClient(account: account, accounts: accounts, transport: transport))
  let down = try await syncs.syncDown(
    target: SoqlSyncDownTarget(query: "SELECT Name, Phone FROM Account"),
    options: SyncOptions(mergeMode: .leaveIfChanged),
    soupName: "accounts")
  print("down:", try await down.finished().totalSize)

  let records = try await store.query(
    using: .buildAllQuerySpec(soupName: "accounts", orderPath: "Id", pageSize: 1))
  if let id = records.first?["Id"]?.string {
    try await store.editRecord(id: id, in: "accounts") { $0["Phone"] = "555-0100" }
  }

  let up = try await syncs.syncUp(
    options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Phone"]), soupName: "accounts")
  print("up:", try await up.finished().totalSize)

  // Nothing is unsynced, so the logout removes the store. With an unsynced entry it throws.
  let report = try await accounts.logOut(account.identity, reason: .userLogout)
  print("logged out, unsynced records lost:", report.unsyncedRecords ?? 0)
  // end of sample
  try await stores.close()
}
