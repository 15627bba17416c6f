import Foundation
import MobileSync
import SalesforceAnalytics
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// What does an org learn from the events of an app?
@Suite struct AnalyticsTests {
  private static let names: Set = [
    "addUser", "tokenRefresh", "userSmartStoreInit", "globalSmartStoreInit", "registerSoup",
    "SmartStoreJSONSerializationError", "syncDown", "syncUp", "cleanResyncGhosts",
  ]

  /// Lets the device do everything that leaves an event.
  private func work(_ device: FieldDevice) async throws {
    let id = try await device.org.create(
      "Account", ["Name": "canary record", "Phone": "555-canary"])
    _ = try await device.syncDown().finished()
    try await device.edit(id, ["Name": "canary edit"])
    _ = try await device.syncUp().finished()
    _ = try? await device.manager.syncDown(
      targetJSON: ["type": "soql", "query": "SELECT canaryField FROM Account"],
      options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup,
      syncName: "canary sync"
    ).finished()
    _ = try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName)
    try await device.accounts.refresh(device.account.identity)
    _ = try await device.stores.sharedGlobal(withName: "canarystore")
    try await device.store.registerSoup(
      withName: "canarysoup", withIndices: [SoupIndex(path: "canary", type: .fullText)])
    _ = try? await device.store.upsert(
      entries: [["canary": .double(.nan)]], forSoupNamed: "canarysoup")
  }

  @Test(.covers("CA-47", "CA-45", "CA-36", "CA-42", "BX-101"))
  func `what is published names no user, org, instance, token, soup or record`() async throws {
    // Names that no random id contains by chance.
    let user = MockOrgUser(
      username: "xylo@private.example", firstName: "Xylofirst", lastName: "Xylolast")
    try await FieldDevice.with({ $0.user = user }) { device in
      try await work(device)
      let report = await device.analytics.publish(for: device.account)
      let lines = device.org.analyticsLines
      #expect(report.published == lines.count && report.kept == 0)
      let names = Set(lines.compactMap { $0.payload["eventSource"]?.string })
      #expect(names == Self.names)

      let account = try #require(await device.accounts.account(for: device.account.identity))
      let before = device.account.credentials
      let secrets: [String?] = [
        account.username, account.profile.displayName, account.profile.email,
        account.profile.firstName, account.profile.lastName, account.userId,
        String(account.userId.prefix(15)), account.organizationId,
        String(account.organizationId.prefix(15)), account.credentials.accessToken,
        before.accessToken, account.credentials.refreshToken, before.refreshToken, "canary",
        FieldDevice.soup, FieldDevice.downName, device.folder.lastPathComponent,
      ]
      for line in lines {
        var payload = line.payload
        #expect(line.code == "ailtn" && line.schemaType == "LightningInteraction")
        if payload["eventSource"] == "addUser" {
          // The one exception: the list of login servers.
          var attributes = payload["attributes"]?.object ?? [:]
          #expect(attributes["loginServers"]?.array?.isEmpty == false)
          attributes["loginServers"] = nil
          payload["attributes"] = .object(attributes)
        }
        let text = JSONValue.object(payload).text.lowercased()
        for secret in secrets.compactMap({ $0?.lowercased() }) where !secret.isEmpty {
          #expect(!text.contains(secret), "\(secret) in \(payload)")
        }
        let host = try #require(account.credentials.instanceURL?.host())
        #expect(!text.contains(host))
      }
    }
  }

  @Test(.covers("CA-42", "CA-43"))
  func `events outlive the process, and are published once`() async throws {
    try await FieldDevice.with { device in
      try await work(device)
      let restarted = try await device.restarted()
      let stored = try #require(restarted.analytics.manager(for: restarted.account))
      let count = await stored.store.numStoredEvents
      #expect(count > Self.names.count)
      // Twice refused, by a fault and by a server that is away for a moment.
      device.org.add(MockOrgFault(path: "app-analytics-logging", action: .status(500, body: "[]")))
      #expect(await restarted.analytics.publish(for: restarted.account).kept == count)
      #expect(device.org.analyticsLines.isEmpty)
      device.org.expireAccessTokens()
      let report = await restarted.analytics.publish(for: restarted.account)
      #expect(report.published == count && device.org.analyticsLines.count == count)
      #expect(Set(device.org.analyticsLines.compactMap { $0.payload["id"]?.string }).count == count)
      try await restarted.close()
    }
  }
}
