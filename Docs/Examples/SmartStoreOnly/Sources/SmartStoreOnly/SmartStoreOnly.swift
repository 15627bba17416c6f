import Foundation
import SalesforceSDKCommon
import SmartStore

@main
struct SmartStoreOnly {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }

    let secrets = FileSecretStore(
      in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
    let stores = SmartStoreManager(
      root: folder.appending(path: "stores"),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)))
    let store = try await stores.sharedGlobal()

    try await store.registerSoup(
      withName: "orders", withIndices: [SoupIndex(path: "table", type: .integer)])
    _ = try await store.upsert(
      entries: [
        ["table": 4, "items": ["soup of the day", "bread"]],
        ["table": 7, "items": ["espresso"]],
      ], forSoupNamed: "orders")

    let open = try QuerySpec.buildRangeQuerySpec(
      soupName: "orders", path: "table", beginKey: 5, orderPath: "table", pageSize: 10)
    for order in try await store.queryElements(using: open) {
      print("table \(order["table"]?.int64 ?? 0):", order["items"]?[0]?.string ?? "nothing")
    }
    try await stores.close()
  }
}
