import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets

/// One run of the job: login, sync down, work, sync up.
public struct Job: Sendable {
  private let folder: URL
  private let server: LoginServer
  private let clientId: String
  private let username: String
  private let key: JWTSigningKey

  /// - Parameters:
  ///   - folder: What the job keeps between runs: keys, the account, the store.
  ///   - loginURL: The login server.
  ///   - key: The private key (PEM) of the connected app.
  public init(
    in folder: URL, loginURL: String, clientId: String, username: String, key: String
  ) throws {
    self.folder = folder
    server = try LoginServer(loginURL)
    self.clientId = clientId
    self.username = username
    self.key = try JWTSigningKey(pem: key)
  }

  /// Runs once.
  ///
  /// - Returns: The number of records that were uploaded, and of those that the server did not accept.
  public func run() async throws -> (uploaded: Int, failed: Int) {
    let secrets = FileSecretStore(
      in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: EncryptedAccountDirectory(
        root: folder.appending(path: "accounts"), secrets: secrets), transport: transport)
    let stores = SmartStoreManager(
      root: folder.appending(path: "stores"),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)), accounts: accounts)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let managers = SyncManagerRegistry(registry: registry)

    func close() async {
      await managers.removeSharedInstances()
      try? await stores.close()
      await accounts.close()
    }
    do {
      let account = try await accounts.logIn(
        .grant(.jwtBearer(clientId: clientId, username: username, key: key), to: server))
      guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else {
        throw JobError.noSession
      }
      let client = RestClient(account: account, accounts: accounts, transport: transport)
      let result = try await sync(
        try await managers.sharedInstance(store: store, sender: client), store)
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }

  private func sync(
    _ manager: SyncManager, _ store: SmartStore
  ) async throws -> (uploaded: Int, failed: Int) {
    try await store.registerSoup(
      withName: "tasks",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: "Status", type: .string),
        SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: SyncKeys.syncId, type: .integer),
      ])
    let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Status"])
    if try await !manager.hasSync(forName: "tasks-down") {
      _ = try await manager.createSyncDown(
        target: SoqlSyncDownTarget(
          query: "SELECT Id, Subject, Status, LastModifiedDate FROM Task"),
        options: options, soupName: "tasks", syncName: "tasks-down")
      _ = try await manager.createSyncUp(
        options: options, soupName: "tasks", syncName: "tasks-up")
    }
    _ = try await manager.reSync(named: "tasks-down").finished()
    try await work(on: store)
    let up = try await manager.reSync(named: "tasks-up").finished()
    let counts = try await manager.outcomeCounts(forId: up.id)
    return (counts.succeeded, counts.failed + counts.skipped)
  }

  /// What the job is for: completes the tasks that wait for others.
  private func work(on store: SmartStore) async throws {
    let rows = try await store.query(
      "SELECT {tasks:Id} FROM {tasks} WHERE {tasks:Status} = 'Waiting on someone else'")
    for id in rows.compactMap({ $0[0]?.string }) {
      try await store.editRecord(id: id, in: "tasks") { $0["Status"] = "Completed" }
    }
  }
}

/// What the job itself reports.
public enum JobError: Error, CustomStringConvertible {
  case noSession

  public var description: String { "The login gave no session. Log in again." }
}
