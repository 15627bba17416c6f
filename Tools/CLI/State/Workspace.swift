import FieldforceInspector
import Foundation
import MobileSync
import SalesforceAnalytics
import SalesforcePush
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets

/// An opened state folder: the accounts, keys and stores of one installation.
struct Workspace {
  let accounts: UserAccountManager
  let stores: SmartStoreManager
  /// The same stores, opened read-only, even while another process writes to them.
  let readers: SmartStoreManager
  let managers: SyncManagerRegistry
  /// The targets that syncs may name.
  let registry: SyncTargetRegistry
  /// The events of each user, which are published on request alone.
  let analytics: SalesforceAnalyticsManager
  /// The encryption of the stores.
  let encryption: StoreEncryption
  let transport: any HTTPTransport
  /// The devices that receive push notifications.
  let push: PushNotifications
  /// The managed configuration of this device.
  let managed = ManagedCommand.file()
  /// The login servers to choose from.
  let loginHosts: LoginHostStorage
  /// Locks the accounts and stores as orgs demand.
  let screenLock: ScreenLockManager
  /// The source of a passcode.
  let passcode: CommandPasscode
  /// The keys and tokens.
  let secrets: FileSecretStore
  /// The user agent of requests, with the id of the installation (CO-11).
  let userAgent: UserAgent

  /// Opens a folder, and makes it if it does not exist.
  ///
  /// - Parameter wantsPlaintext: Whether the stores of a folder that is made now are to be plain text, and
  ///   those of a folder that was made so are to be used.
  /// - Parameter keepers: The keepers that may store the master key.
  /// - Parameter passcode: The source of a passcode. Default: the user at the terminal.
  /// - Parameter recorder: Records the requests and events of the command.
  /// - Parameter isReadOnly: Whether nothing in the folder is created, finished or set aside. The folder exists, and
  ///   no account or store is changed by the caller.
  init(
    folder: URL, wantsPlaintext: Bool, keepers: KeeperChoice = KeeperChoice(),
    passcode: CommandPasscode = CommandPasscode(passcode: nil, new: nil),
    recorder: InspectorRecorder? = nil, isReadOnly: Bool = false
  ) async throws {
    let network = URLSessionTransport()
    if let recorder {
      transport = recorder.transport(network)
    } else {
      transport = network
    }
    secrets = FileSecretStore(
      in: folder, masterKey: try keepers.openKey(of: folder, isReadOnly: isReadOnly))
    let settings = try WorkspaceSettings.open(
      in: folder, secrets: secrets, wantsPlaintext: wantsPlaintext, isReadOnly: isReadOnly)
    userAgent = UserAgent(
      appVersion: SDKVersion.current,
      installationId: isReadOnly
        ? try InstallationId.existing(in: folder) ?? "" : try InstallationId.load(in: folder))
    var options = UserAccountManager.Options()
    options.managed = managed
    self.passcode = passcode
    var lockOptions = ScreenLockManager.Options()
    lockOptions.isStrict = true
    lockOptions.lastUse = LastUse.read(in: secrets)
    lockOptions.willForgetLastUse = { [secrets] in
      do throws(SecretStoreError) {
        try LastUse.forget(in: secrets)
      } catch {
        Console.say("warning: the next command may not be locked by this login: \(error)")
      }
    }
    screenLock = ScreenLockManager(
      authenticator: Self.authenticator(secrets, passcode), options: lockOptions)
    options.screenLock = screenLock
    // A list that cannot be had costs the choice, and no work that needs none; a login says why.
    let hosts = (try? managed.current.hostList()) ?? LoginHostList()
    let hostsFile = folder.appending(path: LoginHostStorage.fileName)
    loginHosts =
      isReadOnly
      ? try LoginHostStorage.reader(hosts, secrets: secrets)
      : try LoginHostStorage(hosts, in: hostsFile, secrets: secrets)
    let accountFolder = folder.appending(path: "accounts")
    accounts = try await UserAccountManager(
      persister: isReadOnly
        ? EncryptedAccountDirectory.reader(root: accountFolder, secrets: secrets)
        : EncryptedAccountDirectory(root: accountFolder, secrets: secrets),
      transport: transport, userAgent: userAgent, options: options, loginHosts: loginHosts)
    push = PushNotifications(secrets: secrets)
    analytics = SalesforceAnalyticsManager(
      folders: UserFolders(root: folder.appending(path: "analytics")), keys: KeyGenerator(secrets),
      accounts: accounts, transport: transport, userAgent: userAgent,
      options: AnalyticsOptions(publishMode: .manual))
    let events: any EventStore =
      if isReadOnly { DiscardingEventStore() } else if let recorder {
        recorder.eventStore(forwardingTo: analytics)
      } else { analytics }
    let root = Self.storeRoot(in: folder)
    encryption =
      settings.isPlaintext ? .plaintext : .encrypted(SecretStoreKeyProvider(secrets))
    stores = SmartStoreManager(
      root: root, encryption: encryption, options: SmartStoreOptions(events: events),
      accounts: accounts)
    readers = SmartStoreManager(
      root: root, encryption: encryption, options: SmartStoreOptions(isReadOnly: true),
      accounts: accounts)
    registry = try .standard()
    managers = SyncManagerRegistry(
      registry: registry, environment: SyncEnvironment(events: events))
    if isReadOnly { return }
    await push.takePart(in: accounts) { [accounts, transport, userAgent] account in
      RestClient(
        account: account, accounts: accounts, transport: transport, userAgent: userAgent)
    }
    await accounts.finishInterruptedLogouts()
  }

  /// The secret store of a folder, which is created with its first secret.
  static func secrets(in folder: URL, _ keepers: KeeperChoice) throws -> FileSecretStore {
    FileSecretStore(in: folder, masterKey: try keepers.openKey(of: folder))
  }

  private static func storeRoot(in folder: URL) -> URL { folder.appending(path: "stores") }

  /// Encrypts the stores of a plaintext folder, which counts as encrypted from then on.
  ///
  /// - Returns: The number of encrypted stores.
  static func encrypt(_ folder: URL, keepers: KeeperChoice) async throws -> Int {
    let secrets = try secrets(in: folder, keepers)
    try WorkspaceSettings.checkPlaintext(folder, secrets: secrets)
    let stores = SmartStoreManager(
      root: storeRoot(in: folder), encryption: .encrypted(SecretStoreKeyProvider(secrets)),
      isLoggedIn: { _ in true })
    let count = try await stores.encryptPlaintextStores()
    try WorkspaceSettings.didEncrypt(folder, secrets: secrets)
    return count
  }

  /// Closes managers, stores and accounts, in this order.
  func close() async throws {
    await managers.removeSharedInstances()
    try await readers.close()
    try await stores.close()
    await accounts.close()
  }

  /// The current user's account, for work with the user's data: unlocked first.
  func currentAccount() async throws -> UserAccount {
    let account = try await lockedAccount()
    try await unlock()
    return account
  }

  /// The current user's account, whether or not it is locked.
  func lockedAccount() async throws -> UserAccount {
    guard let account = await accounts.current else {
      throw CommandFailure(
        "notLoggedIn", "No user is logged in. Run 'fieldforce login --url URL --browser' first.")
    }
    return account
  }

  /// A REST client with the session of the current user.
  func client() async throws -> RestClient { client(of: try await currentAccount()) }

  /// A REST client with the session of a user.
  func client(of account: UserAccount) -> RestClient {
    RestClient(
      account: account, accounts: accounts, transport: transport, userAgent: userAgent,
      options: RestClient.Options(interceptors: [BulkUse.shared]))
  }

  /// Checks the store that the options name.
  func verify(_ options: StoreOptions) async throws -> StoreReport {
    let owner = try await options.global ? .global : StoreOwner(currentAccount())
    let encryption = encryption
    return try await stores.withClosedStore(
      named: options.store ?? SmartStore.defaultStoreName, owner: owner
    ) { try $0.verify(encryption) }
  }

  /// Accepts the files of the store that the options name, although the secret store knows others.
  func acceptRestoredFiles(_ options: StoreOptions) async throws {
    try await withFiles(options) { try $0.acceptRestoredFiles($1) }
  }

  /// Encrypts every page of the store that the options name with a new data key.
  func reencrypt(_ options: StoreOptions) async throws {
    try await withFiles(options) { try $0.reencrypt(from: $1, to: $1) }
  }

  private func withFiles(
    _ options: StoreOptions,
    _ body: @escaping @Sendable (StoreMaintenance, any StoreKeyProvider) throws -> Void
  ) async throws {
    let owner = try await options.global ? .global : StoreOwner(currentAccount())
    let name = options.store ?? SmartStore.defaultStoreName
    guard case .encrypted(let keys) = encryption else {
      throw CommandFailure(
        "plaintextState",
        "The stores of this folder are plaintext and have no key. 'fieldforce store encrypt' encrypts them."
      )
    }
    guard try stores.storeExists(withName: name, forUserAccount: owner) else {
      throw CommandFailure(
        "unknownStore", "There is no store '\(name)'. 'fieldforce store list' lists the stores.")
    }
    // The store derives its owner's provider from this one.
    try await stores.withClosedStore(named: name, owner: owner) { try body($0, keys) }
  }

  /// Makes the store that the options name usable again although transactions of its log are missing.
  func acceptLostLog(_ options: StoreOptions) async throws -> StoreReport {
    let owner = try await options.global ? .global : StoreOwner(currentAccount())
    let encryption = encryption
    return try await stores.withClosedStore(
      named: options.store ?? SmartStore.defaultStoreName, owner: owner
    ) { try $0.acceptLostLog(encryption) }
  }

  /// The records that have several entries in a soup of the store that the options name.
  func doubledRecords(_ options: StoreOptions) async throws -> [DoubledRecord] {
    try await storeToRead(options).doubledRecords(registry: registry)
  }

  /// The manager of the syncs of the store that the options name, whose requests are the current user's.
  func syncManager(_ options: StoreOptions) async throws -> SyncManager {
    try await managers.sharedInstance(store: try await store(options), sender: try await client())
  }

  /// The store that the options name, for reading its syncs.
  ///
  /// A sync that is stored as running may be that of a process that died: then no process holds the store for
  /// writing, and a manager stops it.
  func storeOfSyncsToRead(_ options: StoreOptions) async throws -> SmartStore {
    let store = try await storeToRead(options)
    if try await store.syncs(with: .running).isEmpty { return store }
    do {
      return try await syncManager(options).store
    } catch let error as SmartStoreError where error.code == .busyOtherProcess {
      return store
    }
  }

  /// The store that the options name, to be read alone. One that is not there yet, or has something
  /// to be finished first, is opened for writing.
  func storeToRead(_ options: StoreOptions) async throws -> SmartStore {
    let owner = options.global ? StoreOwner.global : StoreOwner(try await currentAccount())
    let name = options.store ?? SmartStore.defaultStoreName
    guard let store = try await storeToRead(named: name, owner) else {
      throw CommandFailure(
        "notLoggedIn", "\(try await currentAccount()) has no session. Log in again.")
    }
    return store
  }

  /// A store, opened read-only; `nil` if its user has no session.
  func storeToRead(named name: String, _ owner: StoreOwner) async throws -> SmartStore? {
    try await unlock()
    if try stores.storeExists(withName: name, forUserAccount: owner) {
      do {
        return try await store(named: name, owner, of: readers)
      } catch let error as SmartStoreError where error.code == .readOnly {}
    }
    return try await store(named: name, owner, of: stores)
  }

  /// The store that the options name.
  func store(_ options: StoreOptions) async throws -> SmartStore {
    let owner = options.global ? StoreOwner.global : StoreOwner(try await currentAccount())
    try await unlock()
    let name = options.store ?? SmartStore.defaultStoreName
    guard let store = try await store(named: name, owner, of: stores) else {
      throw CommandFailure(
        "notLoggedIn", "\(try await currentAccount()) has no session. Log in again.")
    }
    return store
  }

  private func store(
    named name: String, _ owner: StoreOwner, of stores: SmartStoreManager
  ) async throws -> SmartStore? {
    owner.isGlobal
      ? try await stores.sharedGlobal(withName: name)
      : try await stores.shared(withName: name, forUserAccount: owner)
  }
}

extension SyncTargetRegistry {
  /// A registry of the package's own targets.
  static func standard() throws -> SyncTargetRegistry {
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    return registry
  }
}
