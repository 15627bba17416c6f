import ArgumentParser
import Crypto
import Foundation
import HybridServer
import MobileSync
import SalesforceHybridSDK
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets

/// The bridge of hybrid apps with encrypted stores, for clients in Node and pages in Chromium; and the same work
/// without the bridge.
struct HybridCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hybrid",
    subcommands: [
      HybridServe.self, HybridEntries.self, HybridWrite.self, HybridSync.self,
    ])

  /// The soup of all contenders. Its indexes are those of the rows of `store`.
  static let soup = "accounts"
  static let syncedFields =
    "Id, Name, AccountNumber, Industry, Type, Phone, BillingStreet, BillingCity, "
    + "BillingPostalCode, NumberOfEmployees, AnnualRevenue, Website, Description, LastModifiedDate"

  /// Runs `body` with the accounts and stores of a program.
  ///
  /// - Parameter org: The text that a mock org printed at its start, whose user is logged in; nil
  ///   for no user.
  static func withHost<R>(
    org: String? = nil, _ body: (HybridHost) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "fieldforce-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    if let org { try await logIn(to: JSONSlice(parsing: org), accounts) }
    let stores = SmartStoreManager(
      root: folder, encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))),
      isLoggedIn: { _ in true })
    let store = try await stores.sharedGlobal()
    try await store.registerSoup(withName: soup, withIndices: StoreCommand.indexes)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let syncs = SyncManagerRegistry(registry: registry)
    let result = try await body(
      HybridHost(accounts: accounts, stores: stores, syncs: syncs, transport: transport))
    await syncs.removeSharedInstances()
    try await stores.close()
    await accounts.close()
    return result
  }

  private static func logIn(to org: JSONSlice, _ accounts: UserAccountManager) async throws {
    func text(_ key: String) throws -> String {
      guard let text = org[key]?.string else { throw ValidationError("The org names no \(key).") }
      return text
    }
    _ = try await accounts.logIn(
      .tokens(
        accessToken: try text("accessToken"), refreshToken: try text("refreshToken"),
        instance: try LoginServer(try text("instanceUrl")),
        app: ConnectedApp(
          clientId: try text("clientId"), redirectURI: try text("redirectUri"),
          usesHybridGrants: false)))
  }
}

/// Serves until standard input ends.
struct HybridServe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "serve")
  @Option var www: String?
  @Option var org: String?

  func run() async throws {
    try await HybridCommand.withHost(org: org) { host in
      let server = try await HybridServer.start(
        bridge: try HybridBridge.standard(host: host), www: www.map { URL(filePath: $0) })
      print(server.info)
      fflush(nil)
      while readLine() != nil {}
      await server.stop()
    }
  }
}

/// Writes the entries of all contenders as a JSON array.
struct HybridEntries: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "entries")
  @Option var count = 10_000
  @Option var out: String

  func run() throws {
    let texts = (0..<count).map { SamplePage.record($0).text }
    try Data("[\(texts.joined(separator: ","))]".utf8).write(to: URL(filePath: out))
    try Measurement(records: count).print()
  }
}

/// Upserts the entries of a file through the Swift API, reading their text included.
struct HybridWrite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "write")
  @Argument var file: String

  func run() async throws {
    let text = [UInt8](try Data(contentsOf: URL(filePath: file)))
    try await HybridCommand.withHost { host in
      let store = try await host.stores.sharedGlobal()
      let start = ContinuousClock.now
      let entries = Array(try JSONSlice(parsing: text).elements)
      try await store.upsert(slices: entries, soup: HybridCommand.soup)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      try Measurement(seconds: seconds, records: entries.count).print()
    }
  }
}

/// Syncs all accounts of a mock org down, as `fieldforce sync down` does.
struct HybridSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "sync")
  @Option var org: String

  func run() async throws {
    try await HybridCommand.withHost(org: org) { host in
      let accounts = host.accounts
      guard let account = await accounts.current,
        let store = try await host.stores.shared(forUserAccount: StoreOwner(account))
      else { throw ValidationError("No user is logged in.") }
      try await store.registerSoup(
        withName: HybridCommand.soup,
        withIndices: StoreCommand.indexes + [
          SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
        ])
      let client = RestClient(
        account: account, accounts: accounts, transport: URLSessionTransport())
      let manager = try await host.syncs.sharedInstance(store: store, sender: client)
      let start = ContinuousClock.now
      let run = try await manager.syncDown(
        targetJSON: [
          "type": "soql", "query": .string("SELECT \(HybridCommand.syncedFields) FROM Account"),
        ], options: SyncOptions(mergeMode: .overwrite), soupName: HybridCommand.soup)
      let state = try await run.finished()
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      try Measurement(
        seconds: seconds, records: state.totalSize, peakMegabytes: peakMegabytes()
      ).print()
    }
  }
}
