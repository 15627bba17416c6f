// sample: first-program
import Foundation
import SalesforceSDKCommon
import SmartStore

let folder = FileManager.default.temporaryDirectory.appending(path: "orders")
let secrets = FileSecretStore(in: folder, masterKey: KeyFile(folder.appending(path: "key")))
let stores = SmartStoreManager(
  root: folder, encryption: .encrypted(SecretStoreKeyProvider(secrets)))
let store = try await stores.sharedGlobal()
try await store.registerSoup(
  withName: "orders", withIndices: [SoupIndex(path: "table", type: .integer)])

_ = try await store.upsert(
  entries: [["table": 7, "items": ["espresso", "water"]]], forSoupNamed: "orders")
let byTable = try QuerySpec.buildRangeQuerySpec(
  soupName: "orders", path: "table", beginKey: 5, orderPath: "table", pageSize: 10)
for order in try await store.queryEntries(using: byTable) {
  print("table \(order["table"]?.int64 ?? 0):", order["items"]?[0]?.string ?? "nothing")
}
try await stores.close()
// end of sample
