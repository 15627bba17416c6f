import SalesforceSDKCommon
import TestSupport

@testable import SmartStore

// The owners of the manager's tests, and a manager with a folder of its own.

let ada = StoreOwner.user(organizationId: "00D1", userId: "0051")
let adaInClub = StoreOwner.user(organizationId: "00D1", userId: "0051", communityId: "0DB1")
let bob = StoreOwner.user(organizationId: "00D1", userId: "0052")

/// Runs `body` with a manager of encrypted stores, and closes it.
func withManager(
  isLoggedIn: @escaping @Sendable (StoreOwner) async -> Bool = { _ in true },
  options: SmartStoreOptions = SmartStoreOptions(),
  _ body: (SmartStoreManager) async throws -> Void
) async throws {
  try await TemporaryFolder.with { folder in
    let manager = SmartStoreManager(
      root: folder.file("root"), encryption: testEncryption, options: options,
      isLoggedIn: isLoggedIn)
    try await body(manager)
    try await manager.close()
  }
}

/// Leaves a soup of this name, to know the store by.
func mark(_ store: SmartStore?, _ name: String) async throws {
  try await store?.registerSoup(withName: name, withIndices: [SoupIndex("x:string")])
}
