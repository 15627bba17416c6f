import Crypto
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport
import Testing

/// The steps of Docs/Guides/Tutorial-Mobile-Sync.md, in their order.
@Suite struct MobileSyncTutorialTests {
  @Test func `the steps of the Mobile Sync tutorial do what it says`() async throws {
    try await TemporaryFolder.with { temporary in
      var options = MockOrgOptions()
      let clock = MockOrgClock(frozenAt: Date())
      options.clock = clock
      try await withMockOrg(options) { org, server in
        try await org.load(plan: MockOrg.samplePlan)
        let transport = URLSessionTransport()
        let accounts = try await UserAccountManager(
          persister: InMemoryAccountPersister(), transport: transport)
        let account = try await accounts.logIn(
          .tokens(
            accessToken: server.info.accessToken, instance: LoginServer(server.info.instanceUrl),
            app: ConnectedApp(
              clientId: server.info.clientId, redirectURI: server.info.redirectUri)))
        let client = RestClient(account: account, accounts: accounts, transport: transport)
        let stores = SmartStoreManager(
          root: temporary.file("stores"),
          encryption: .encrypted(FixedKeyProvider(SymmetricKey(size: .bits256))),
          accounts: accounts)
        guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else {
          return
        }

        // sample: tutorial-sync-soup
        try await store.registerSoup(
          withName: "contacts",
          withIndices: [
            SoupIndex(path: "Id", type: .string), SoupIndex(path: "LastName", type: .string),
            SoupIndex(path: "__local__", type: .string),
            SoupIndex(path: "__sync_id__", type: .integer),
          ])
        // end of sample

        // sample: tutorial-sync-file
        let usersyncs = #"""
          { "syncs": [
            { "syncName": "contacts down", "syncType": "syncDown", "soupName": "contacts",
              "target": { "type": "soql",
                          "query": "SELECT FirstName, LastName, Title, Email FROM Contact" },
              "options": { "mergeMode": "MERGE_FIELDS" } },
            { "syncName": "contacts up", "syncType": "syncUp", "soupName": "contacts",
              "target": { "createFieldlist": ["FirstName", "LastName", "Title", "Email"] },
              "options": { "fieldlist": ["FirstName", "LastName", "Title", "Email"],
                           "mergeMode": "MERGE_FIELDS" } } ] }
          """#
        // end of sample

        // sample: tutorial-sync-load
        let registry = SyncTargetRegistry()
        try StandardSyncTargets.register(into: registry)
        let managers = SyncManagerRegistry(registry: registry)
        let syncs = try await managers.sharedInstance(store: store, sender: client)
        let loaded = try await syncs.setupSyncsFromDefaultConfig(
          from: StoreConfigurationSource { name in
            name == SyncsConfig.userSyncsFile ? Array(usersyncs.utf8) : nil
          })
        for problem in loaded.problems { print(problem) }
        // end of sample
        #expect(loaded.problems.isEmpty)
        #expect(loaded.created.count == 2)

        // sample: tutorial-sync-down
        let down = try await syncs.reSync(named: "contacts down")
        for await state in down.updates { print(state.status, state.progress) }
        print("downloaded:", try await down.finished().totalSize)
        // end of sample
        let all = try QuerySpec.buildAllQuerySpec(
          soupName: "contacts", orderPath: "LastName", pageSize: 100)
        let people = Int(try await store.count(using: all))
        #expect(try await down.finished().totalSize == people)

        // sample: tutorial-sync-edit
        let byName = try QuerySpec.buildExactQuerySpec(
          soupName: "contacts", path: "LastName", matchKey: "Eide", pageSize: 1)
        guard let id = try await store.queryEntries(using: byName).first?["Id"]?.string else {
          return
        }
        try await store.editRecord(id: id, in: "contacts") { $0["Title"] = "Fleet manager" }
        try await store.createRecord(
          ["FirstName": "Ada", "LastName": "Field", "Email": "ada@northwind.example"],
          type: "Contact", in: "contacts")
        print("unsynced:", try await store.unsyncedEntries())
        // end of sample
        #expect(try await store.unsyncedEntries() == ["contacts": 2])

        // sample: tutorial-sync-up
        let up = try await syncs.reSync(named: "contacts up").finished()
        let counts = try await syncs.outcomeCounts(forId: up.id)
        print("\(counts.succeeded) uploaded, \(counts.failed) failed")
        for outcome in try await syncs.outcomes(forId: up.id) where outcome.kind != .succeeded {
          print(outcome)
        }
        // end of sample
        #expect(counts.succeeded == 2 && counts.failed == 0)
        #expect(
          try await org.count("Contact") == people + 1,
          "the new contact is on the server")

        // A change in the second of the last download is downloaded only with a late-commit window.
        clock.advance(by: .seconds(60))
        // sample: tutorial-sync-conflict
        try await store.editRecord(id: id, in: "contacts") { $0["Title"] = "Director" }
        try await org.update("Contact", id: id, ["Title": "Captain", "Email": "t@example.com"])
        _ = try await syncs.reSync(named: "contacts down").finished()
        for conflict in try await store.conflicts(in: "contacts") {
          for field in conflict.fields {
            print(field.name, field.base ?? .null, field.mine ?? .null, field.theirs ?? .null)
          }
          try await store.resolve(conflict, .mine)
        }
        _ = try await syncs.reSync(named: "contacts up").finished()
        // end of sample
        let merged = try await org.query("SELECT Title, Email FROM Contact WHERE Id = '\(id)'")
        #expect(merged.first?["Title"]?.string == "Director", "the decision")
        #expect(merged.first?["Email"]?.string == "t@example.com", "the other field is merged")
        #expect(try await store.conflicts(in: "contacts").isEmpty)

        // sample: tutorial-sync-ghosts
        try await org.delete("Contact", id: id)
        let ghosts = try await syncs.cleanResyncGhosts(forName: "contacts down")
        // end of sample
        #expect(ghosts == 1)
        #expect(try await store.queryEntries(using: byName).isEmpty)

        // sample: tutorial-sync-observe
        let watcher = Task {
          for try await contacts in store.observeEntries(all) { print(contacts.count, "contacts") }
        }
        // end of sample
        watcher.cancel()
        _ = await watcher.result
        #expect(try await store.unsyncedEntries().isEmpty)
        try await accounts.logOut(account.identity, reason: .userLogout)
      }
    }
  }
}
