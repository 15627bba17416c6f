import FieldforceInspector
import Foundation
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport
import Testing

/// Does the guide's sample work?
struct GuideTests {
  @Test(.covers("HT-70"))
  func `an app embeds the inspector with its accounts, syncs and requests`() async throws {
    let fixture = try await AppFixture()
    try await fixture.setUp()
    let (stores, accounts, managers) = (fixture.stores, fixture.accounts, fixture.managers)
    let targets = SyncTargetRegistry()
    try StandardSyncTargets.register(into: targets)
    // sample: inspector
    let recorder = InspectorRecorder()
    let transport = recorder.transport(URLSessionTransport())

    var app = InspectedApp(name: "Field Notes", stores: stores)
    app.accounts = accounts
    app.syncTargets = targets
    app.syncs = InspectedApp.SyncRunner(managers: managers) { account in
      RestClient(account: account, accounts: accounts, transport: transport)
    }
    app.recorder = recorder
    let inspector = try await Inspector.start(showing: app, access: .readWrite)
    print(inspector.url)
    // end of sample
    let client = InspectorClient(inspector)
    let status = try await client.get("status")
    #expect(status["application"]?.string == "Field Notes")
    #expect(status["access"]?.string == "readWrite")
    #expect(status["sources"]?["requests"]?.kind == .null)
    #expect(status["sources"]?["logs"]?["message"]?.string?.isEmpty == false)
    let store = try await client.store()
    #expect(
      inspector.url(ofStore: SmartStore.defaultStoreName, owner: StoreOwner(fixture.account))
        .absoluteString
        == "\(inspector.url.absoluteString)&/\(store.replacing("stores", with: "store"))/soups")
    await inspector.stop()
    try await fixture.close()
  }
}
