import FieldforceInspector
import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// Are syncs, outcomes and conflicts shown as they are, and do the buttons do what they say?
struct SyncPageTests {
  /// An app whose account was edited on both sides.
  private func conflictingApp() async throws -> (AppFixture, id: String) {
    let fixture = try await AppFixture()
    let id = fixture.org.create("Account", ["Name": "Harbor", "Phone": "1"])
    try await fixture.setUp()
    let manager = try await fixture.syncManager()
    try await manager.store.editRecord(id: id, in: "accounts") {
      $0["Phone"] = "2"
      $0["Name"] = "Here"
    }
    fixture.org.update("Account", id, ["Phone": "3", "Name": "There"])
    _ = try await manager.reSync(named: "down").finished()
    return (fixture, id)
  }

  @Test(.covers("HT-70"))
  func `syncs have their state, their records and their outcomes`() async throws {
    let (fixture, id) = try await conflictingApp()
    let manager = try await fixture.syncManager()
    let up = try await manager.syncUp(
      targetJSON: [:], options: SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"]),
      soupName: "accounts", syncName: "up")
    _ = try await up.finished()
    try await fixture.inspect { client in
      let store = try await client.store()
      let syncs = try #require(try await client.get("\(store)/syncs")["syncs"])
      #expect(syncs.elements.map { $0["name"]?.string } == ["down", "up"])
      let down = try #require(syncs[0])
      #expect(down["type"]?.string == "syncDown")
      #expect(down["status"]?.string == "DONE")
      #expect(down["dirty"]?.int64 == 1)
      #expect(down["conflictCount"]?.int64 == 1)
      #expect(down["error"]?.kind == .null)
      #expect(syncs[1]?["unsentCount"]?.int64 == 1)
      let number = try #require(syncs[1]?["id"]?.int64)
      let outcomes = try await client.get("\(store)/syncs/\(number)/outcomes")["outcomes"]
      #expect(outcomes?.count == 1)
      #expect(outcomes?[0]?["outcome"]?.string == "conflict")
      #expect(outcomes?[0]?["conflict"]?.string == "accounts/1")
      #expect(outcomes?[0]?["recordId"]?.string == id)
      #expect((outcomes?[0]?["time"]?.int64 ?? 0) > 0)
      let none = try await client.get(
        "\(store)/syncs/\(number)/outcomes", ["outcome": "succeeded"])
      #expect(none["outcomes"]?.count == 0)
      #expect(try await client.call("\(store)/syncs/987654").error == "doesNotExist")
      #expect(try await client.call("\(store)/syncs/x").error == "doesNotExist")
    }
  }

  @Test(.covers("HT-70"))
  func `a conflict has both sides and the base, and takes a choice for each field`() async throws {
    let (fixture, id) = try await conflictingApp()
    try await fixture.inspect { client in
      let store = try await client.store()
      let conflicts = try #require(try await client.get("\(store)/conflicts")["conflicts"])
      let conflict = try #require(conflicts[0])
      #expect(conflict["kind"]?.string == "fields")
      #expect(conflict["resolutions"]?.elements.map(\.string) == ["mine", "theirs", "values"])
      let phone = try #require(conflict["fields"]?.elements.first { $0["name"]?.string == "Phone" })
      #expect(phone["base"]?.string == "1")
      #expect(phone["mine"]?.string == "2")
      #expect(phone["theirs"]?.string == "3")
      let entries = try await client.entries("accounts")
      #expect(InspectorClient.ids(try await client.get(entries, ["state": "conflict"])) == [1])
      #expect(
        try await client.get(entries)["entries"]?[0]?["conflict"]?.string == "fields")
      let shown = try await client.get("\(entries)/1")
      #expect(shown["base"]?["Phone"]?.string == "1")
      #expect(shown["conflict"]?["key"]?.string == "accounts/1")
      #expect(shown["recordId"]?.string == id)
      let version = JSONValue.string(conflict["version"]?.string ?? "")
      for (body, error) in [
        (["key": "accounts/1", "version": "other", "resolution": "mine"], "conflictChanged"),
        (["key": "accounts/9", "version": version, "resolution": "mine"], "conflictChanged"),
        (["key": "accounts/1", "version": version, "resolution": "create"], "invalidResolution"),
        (["key": "accounts/1", "version": version, "resolution": "values"], "invalidRequest"),
        (
          [
            "key": "accounts/1", "version": version, "resolution": "values",
            "fields": ["Fax": "mine"],
          ], "invalidResolution"
        ),
        (
          [
            "key": "accounts/1", "version": version, "resolution": "values",
            "fields": ["Phone": "both"],
          ], "invalidResolution"
        ),
      ] as [(JSONValue, String)] {
        let response = try await client.post("\(store)/conflicts/resolve", body)
        #expect(response.error == error, "\(body) \(response.text)")
      }
      let resolved = try await client.post(
        "\(store)/conflicts/resolve",
        [
          "key": "accounts/1", "version": version, "resolution": "values",
          "fields": ["Phone": ["value": "4"], "Name": "mine"],
        ])
      #expect(resolved.status == 200, "\(resolved.text)")
      #expect(try await client.get("\(store)/conflicts")["conflicts"]?.count == 0)
      let entry = try await client.get("\(entries)/1")["entry"]
      #expect(entry?["Phone"]?.string == "4")
      #expect(entry?["Name"]?.string == "Here")
      let undone = try await client.post("\(entries)/1/undo")
      #expect(undone.status == 200, "\(undone.text)")
      #expect(try await client.get("\(entries)/1")["entry"]?["Phone"]?.string == "3")
      #expect(try await client.get("\(entries)/1")["state"]?.kind == .null)
    }
  }

  @Test(.covers("HT-70"))
  func `a run sends its progress, and its store is given back when it ends`() async throws {
    let fixture = try await AppFixture()
    _ = fixture.org.create("Account", ["Name": "Harbor"])
    try await fixture.setUp()
    try await fixture.close()
    try await fixture.inspect { client in
      let store = try await client.store()
      let sync = try #require(try await client.get("\(store)/syncs")["syncs"]?[0]?["id"]?.int64)
      _ = fixture.org.create("Account", ["Name": "Second"])
      let events = EventReader(client, topics: "syncs,stores")
      _ = try await events.next("hello")
      let run = try await client.post("\(store)/syncs/\(sync)/run")
      #expect(run.status == 202, "\(run.text)")
      while true {
        let event = try await events.next("sync")
        if event["sync"]?["status"]?.string == "DONE" { break }
      }
      events.stop()
      #expect(try await client.get(try await client.entries("accounts"))["total"]?.int64 == 2)
      // The store is closed soon after the last event.
      while await fixture.stores.openStore(
        named: SmartStore.defaultStoreName, owner: StoreOwner(fixture.account)) != nil
      { await Task.yield() }
      let ghosts = try await client.post("\(store)/syncs/\(sync)/ghosts")
      #expect(try ghosts.json["removed"]?.int64 == 0, "\(ghosts.text)")
      #expect(try await client.post("\(store)/syncs/stop").status == 202)
      #expect(try await client.post("\(store)/syncs/987654/run").error == "doesNotExist")
    }
  }

  @Test(.covers("HT-70"))
  func `accounts show the ages of their tokens and never a token`() async throws {
    let fixture = try await AppFixture()
    try await fixture.setUp()
    try await fixture.inspect { client in
      let response = try await client.call("accounts")
      let account = try #require(try response.json["accounts"]?[0])
      #expect(account["username"]?.string == "ada@acme.example")
      #expect(account["current"]?.bool == true)
      #expect(account["tokens"]?["access"]?["issuedTime"]?.int64 == 1_700_000_000_000)
      #expect(account["tokens"]?["refresh"]?.kind == .object)
      for path in ["accounts", "developer", "status", "stores", "requests"] {
        let text = try await client.call(path).text
        #expect(!text.contains("secret"), "\(path)")
      }
      let id = account["id"]?.string ?? ""
      #expect(try await client.post("accounts/none/switch").error == "unknownAccount")
      #expect(try await client.post("accounts/\(id)/switch").status == 200)
    }
  }

  @Test(.covers("HT-70"))
  func `a logout is refused while records are not uploaded, unless it is forced`() async throws {
    let (fixture, _) = try await conflictingApp()
    try await fixture.inspect { client in
      let account = try #require(try await client.get("accounts")["accounts"]?[0])
      let path = "accounts/\(account["id"]?.string ?? "")/logout"
      let refused = try await client.post(path, ["force": false])
      #expect(refused.status == 409)
      #expect(refused.error == "unsyncedRecords")
      #expect(try refused.json["error"]?["details"]?["unsyncedRecords"]?.int64 == 1)
      let forced = try await client.post(path, ["force": true])
      #expect(forced.status == 200, "\(forced.text)")
      #expect(try await client.get("accounts")["accounts"]?.count == 0)
    }
  }

  @Test(.covers("CO-185", "CO-186", "CO-187", "HT-69.1", "BX-102"))
  func `developers get information without secrets, and the app's own actions`() async throws {
    let fixture = try await AppFixture()
    try await fixture.setUp()
    var app = fixture.app
    app.information = [("Build", "27")]
    app.loginApps = ConnectedAppSelector(
      ConnectedApp(clientId: "usual", redirectURI: "app://done"))
    let ran = InMemorySecretStore()
    app.actions = [
      DeveloperAction(name: "Fill") { _ in
        try ran.write([1], for: SecretName(service: "ran"))
        return "filled"
      }
    ]
    let inspector = try await Inspector.start(showing: app, access: .readWrite)
    let client = InspectorClient(inspector)
    let developer = try await client.get("developer")
    let rows = developer["information"]?.elements.map {
      "\($0["name"]?.string ?? ""): \($0["value"]?.string ?? "")"
    }
    for row in [
      "section:SmartStore: ", "section:Current User: ", "Username: ada@acme.example", "Build: 27",
      "Consumer Key: key", "Authenticated Users: ada@acme.example", "App Type: Native",
      "section:User store \(SmartStore.defaultStoreName): ",
    ] { #expect(rows?.contains(row) == true, "\(row)") }
    let names = developer["actions"]?.elements.map { $0["name"]?.string }
    #expect(names == ["Logout", "Switch User", "Refresh Token", "Login Options", "Fill"])
    let filled = try await client.post("developer/actions", ["name": "Fill"])
    #expect(try filled.json["message"]?.string == "filled")
    #expect(try ran.read(SecretName(service: "ran")) != nil)
    #expect(
      try await client.post("developer/actions", ["name": "none"]).error == "notFound")
    #expect(
      try await client.post("developer/actions", ["name": "Switch User"]).error == "notFound")
    let options = try await client.post(
      "developer/actions",
      ["name": "Login Options", "values": ["consumerKey": "other", "hybrid": false]])
    #expect(options.status == 200, "\(options.text)")
    let next = try await app.loginApps?.app(for: .production)
    #expect(next?.clientId == "other")
    #expect(next?.usesHybridGrants == false)
    let wrong = try await client.post(
      "developer/actions", ["name": "Login Options", "values": ["hybrid": "yes"]])
    #expect(wrong.error == "invalidRequest")
    await inspector.stop()
    try await fixture.close()
  }
}
