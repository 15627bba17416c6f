import Crypto
import Foundation
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// Does a key in the secret store open what it sealed, and is none made over another?
struct SecretStoreKeyProviderTests {
  let folder: StoreFolder
  let secrets = InMemorySecretStore()

  init() throws { folder = try StoreFolder() }

  private func open(_ name: String = "defaultStore") throws(SmartStoreError) -> StoreDatabase {
    try StoreDatabase.open(
      at: folder.url.appendingPathComponent(name),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)))
  }

  @Test(.covers("SS-28.1"))
  func `the first store makes one key of 256 bits, which all stores share`() throws {
    let name = SecretName(service: "com.salesforce.smartstore.encryption.keyLabel")
    #expect(SecretStoreKeyProvider.defaultName == name)
    try open().close()
    let key = try #require(try secrets.read(name))
    #expect(key.count == 32)
    try open("other").close()
    #expect(try secrets.read(name) == key)
    let records = SecretName(service: name.service + ".stores")
    #expect(try Set(secrets.list()) == [name, records])
    try open().close()
  }

  @Test(.covers("SS-30"))
  func `a lost key is reported, and no new store makes another one`() throws {
    let store = try open()
    try store.fill(10)
    try store.close()
    let key = try #require(try secrets.read(SecretStoreKeyProvider.defaultName))
    try secrets.remove(SecretStoreKeyProvider.defaultName)
    var error = #expect(throws: SmartStoreError.self) { _ = try open() }
    #expect(error?.code == .keyMissing)
    #expect(try !secrets.list().contains(SecretStoreKeyProvider.defaultName))

    error = #expect(throws: SmartStoreError.self) { _ = try open("other") }
    #expect(error?.code == .keyMissing)
    #expect(try !secrets.list().contains(SecretStoreKeyProvider.defaultName))

    try secrets.write(key, for: SecretStoreKeyProvider.defaultName)
    let restored = try open()
    #expect(try restored.count() == 10)
    try restored.close()
  }

  @Test(.covers("SS-12.4"))
  func `a locked secret store is reported, and its unlocking is all it takes`() throws {
    let store = try open()
    try store.fill(10)
    try store.close()
    secrets.setLocked(true)
    let error = #expect(throws: SmartStoreError.self) { _ = try open() }
    #expect(error?.code == .keyLocked)
    secrets.setLocked(false)
    let unlocked = try open()
    #expect(try unlocked.count() == 10)
    try unlocked.close()
  }
}
