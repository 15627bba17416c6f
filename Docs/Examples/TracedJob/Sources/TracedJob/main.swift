import Crypto
import Foundation
import InMemoryTracing
import Metrics
import MetricsTestKit
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import Tracing

// Backends that keep everything in memory, to be printed at the end. A real job takes those of its tracing and metrics
// systems, such as exporters for OpenTelemetry and Prometheus.
// sample: tracing-bootstrap
let tracer = InMemoryTracer()
let metrics = TestMetrics()
InstrumentationSystem.bootstrap(tracer)
MetricsSystem.bootstrap(metrics)
// end of sample

try await withMockOrg { org, server in
  try await org.load(plan: MockOrg.samplePlan)
  try await Job(org: org, server: server).run()
}

print("spans:")
for (depth, span) in tracer.finishedSpans.tree {
  let indent = String(repeating: "  ", count: depth + 1)
  print("\(indent)\(span.operationName) \(span.details)")
}
print("metrics:")
for line in metrics.lines { print("  \(line)") }

/// The job: login, sync down, an edit, sync up, logout.
struct Job {
  let org: MockOrg
  let server: MockOrgServer

  func run() async throws {
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    let account = try await accounts.logIn(
      .tokens(
        accessToken: server.info.accessToken, refreshToken: server.info.refreshToken,
        instance: LoginServer(server.info.instanceUrl),
        app: ConnectedApp(
          clientId: server.info.clientId, redirectURI: server.info.redirectUri,
          usesHybridGrants: false)))
    // One request finds an expired token, and one is refused for a moment.
    org.expireAccessTokens()
    org.add(MockOrgFault(path: "/query", action: .status(503)))
    let stores = SmartStoreManager(
      root: FileManager.default.temporaryDirectory.appending(path: UUID().uuidString),
      encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))), accounts: accounts)
    guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else { return }
    try await store.registerSoup(
      withName: "accounts",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
      ])
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let client = RestClient(account: account, accounts: accounts, transport: transport)
    let syncs = try await SyncManagerRegistry(registry: registry)
      .sharedInstance(store: store, sender: client)
    // A span of the job's own is the parent of what the libraries do in it.
    try await withSpan("nightly job") { _ in
      _ = try await syncs.syncDown(
        target: SoqlSyncDownTarget(query: "SELECT Name, Phone FROM Account"),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: "accounts"
      ).finished()
      let records = try await store.query(
        using: .buildAllQuerySpec(soupName: "accounts", orderPath: "Id", pageSize: 1))
      if let id = records.first?["Id"]?.string {
        try await store.editRecord(id: id, in: "accounts") { $0["Phone"] = "555-0100" }
      }
      _ = try await syncs.syncUp(
        options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Phone"]), soupName: "accounts"
      ).finished()
    }
    try await accounts.logOut(account.identity)
    try await stores.close()
    await accounts.close()
  }
}
