import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What does a switch of the current user change for what was made before?
@Suite struct AccountSwitchTests {
  private let first = TestOrg().account(accessToken: "access of 1", refreshToken: "refresh of 1")
  private let second = TestOrg().account(
    accessToken: "access of 2", refreshToken: "refresh of 2",
    identity: UserAccountIdentity(
      userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))

  @Test(.covers("CO-83.3", "BX-31.2"))
  func `what was made for the former user goes on working for that user`()
    async throws
  {
    let folder = try TemporaryFolder()
    let isExpired = Mutex(false)
    let transport = ScriptedTransport { request in
      if request.url.path() == "/services/oauth2/token" {
        return RestResponse(json: #"{"access_token":"new access of 1"}"#)
      }
      let isStale =
        isExpired.withLock { $0 } && request.headers[.authorization] == "Bearer access of 1"
      return isStale ? RestResponse(status: 401) : RestResponse(json: "{}")
    }
    let manager = try await TestOrg().manager([first, second], transport: transport)
    try await manager.setCurrent(first.identity)
    let client = RestClient(account: first, accounts: manager, transport: transport)
    let stores = KeyValueStores(
      folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()),
      accounts: manager)
    let store = try stores.store(named: "notes", for: first)
    try store.saveValue("of 1", forKey: "a")

    try await manager.setCurrent(second.identity)
    _ = try await client.send(.limits())
    isExpired.withLock { $0 = true }
    _ = try await client.send(.limits())
    let sent = transport.requests.map {
      $0.headers[.authorization] ?? form($0)["refresh_token"] ?? ""
    }
    #expect(
      sent == [
        "Bearer access of 1", "Bearer access of 1", "refresh of 1", "Bearer new access of 1",
      ])
    #expect(await manager.current == second)
    try store.saveValue("still of 1", forKey: "a")
    #expect(try stores.store(named: "notes", for: first).readValue(forKey: "a") == "still of 1")
    #expect(try stores.store(named: "notes", for: second).readValue(forKey: "a") == nil)
    // No logout of the current user takes them away either.
    try await manager.logOut(second.identity)
    #expect(try store.readValue(forKey: "a") == "still of 1")
    _ = try await client.send(.limits())
  }
}
