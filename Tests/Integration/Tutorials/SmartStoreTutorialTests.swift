import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// The steps of Docs/Guides/Tutorial-SmartStore.md, in their order.
@Suite struct SmartStoreTutorialTests {
  @Test func `the steps of the SmartStore tutorial do what it says`() async throws {
    try await TemporaryFolder.with { temporary in
      try await withMockOrg { org, server in
        try await org.load(plan: MockOrg.samplePlan)
        let folder = temporary.file("tutorial")

        // sample: tutorial-store-account
        let transport = URLSessionTransport()
        let secrets = FileSecretStore(
          in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
        let accounts = try await UserAccountManager(
          persister: EncryptedAccountDirectory(
            root: folder.appending(path: "accounts"), secrets: secrets),
          transport: transport)
        let account = try await accounts.logIn(
          .tokens(
            accessToken: server.info.accessToken, instance: LoginServer(server.info.instanceUrl),
            app: ConnectedApp(
              clientId: server.info.clientId, redirectURI: server.info.redirectUri)))
        // end of sample

        // sample: tutorial-store-file
        let userstore = #"""
          { "soups": [
            { "soupName": "accounts",
              "indexes": [
                { "path": "Id", "type": "string" },
                { "path": "Name", "type": "string" },
                { "path": "BillingAddress.city", "type": "string" },
                { "path": "NumberOfEmployees", "type": "integer" } ] },
            { "soupName": "contacts",
              "indexes": [
                { "path": "Id", "type": "string" },
                { "path": "LastName", "type": "string" },
                { "path": "AccountId", "type": "string" },
                { "path": "Title", "type": "full_text" } ] } ] }
          """#
        // end of sample

        // sample: tutorial-store-open
        let stores = SmartStoreManager(
          root: folder.appending(path: "stores"),
          encryption: .encrypted(SecretStoreKeyProvider(secrets)), accounts: accounts)
        let files = StoreConfigurationSource { name in
          name == StoreConfigurationSource.userStoreFile ? Array(userstore.utf8) : nil
        }
        let owner = StoreOwner(account)
        try await stores.setupUserStoreFromDefaultConfig(forUserAccount: owner, from: files)
        guard let store = try await stores.shared(forUserAccount: owner) else { return }
        // end of sample
        #expect(try await store.allSoupNames() == ["accounts", "contacts"])

        // sample: tutorial-store-fill
        let client = RestClient(account: account, accounts: accounts, transport: transport)
        let queries = [
          "accounts": "SELECT Id, Name, BillingAddress, NumberOfEmployees FROM Account",
          "contacts": "SELECT Id, FirstName, LastName, AccountId, Title FROM Contact",
        ]
        for (soup, query) in queries {
          let page = try await client.send(.query(query)).json()
          let records = page["records"]?.elements.map(\.value) ?? []
          try await store.upsert(
            entries: records, forSoupNamed: soup, withExternalIdPath: "Id")
        }
        // end of sample

        // sample: tutorial-store-specs
        let large = try QuerySpec.buildRangeQuerySpec(
          soupName: "accounts", path: "NumberOfEmployees", beginKey: 100,
          orderPath: "NumberOfEmployees", order: .descending, pageSize: 10)
        for account in try await store.queryEntries(using: large) {
          print(account["Name"]?.string ?? "", account["NumberOfEmployees"]?.int64 ?? 0)
        }
        let inOakland = try await store.count(
          using: .buildExactQuerySpec(
            soupName: "accounts", path: "BillingAddress.city", matchKey: "Oakland", pageSize: 10))
        let engineers = try await store.queryEntries(
          using: .buildMatchQuerySpec(
            soupName: "contacts", path: "Title", matchKey: "engineer", pageSize: 10))
        // end of sample
        let names = try await store.queryEntries(using: large).map { $0["Name"]?.string }
        #expect(names == ["Northwind Ferries", "Solaris Cold Storage"])
        #expect(inOakland == 1)
        #expect(engineers.map { $0["LastName"]?.string } == ["Eide"])

        // sample: tutorial-store-join
        let staff = try await store.query(
          """
          SELECT {accounts:Name}, COUNT({contacts:Id}) AS people
          FROM {accounts}, {contacts}
          WHERE {accounts:Id} = {contacts:AccountId}
          GROUP BY {accounts:Name}
          ORDER BY people DESC
          """)
        for row in staff { print(row[0]?.string ?? "", row[1]?.int64 ?? 0) }
        // end of sample
        #expect(staff.first?[0] == "Northwind Ferries")
        #expect(staff.first?[1] == 2)

        // sample: tutorial-store-change
        let lodge = try await store.lookupSoupEntryId(
          soupNamed: "accounts", fieldPath: "Name", fieldValue: "Granite Peak Lodge")
        if let lodge {
          try await store.inTransaction { transaction in
            let entries = try transaction.retrieve(
              usingSoupEntryIds: [lodge], fromSoupNamed: "accounts")
            try transaction.upsert(
              slices: entries, setting: [(key: "NumberOfEmployees", value: 90)], soup: "accounts")
          }
        }
        // end of sample
        let changed = try await store.query(
          "SELECT {accounts:NumberOfEmployees} FROM {accounts} WHERE {accounts:Name} LIKE 'Granite%'"
        )
        #expect(changed.first?[0] == 90)
        #expect(
          try await store.count(using: .buildAllQuerySpec(soupName: "accounts", pageSize: 10)) == 5)

        // sample: tutorial-store-alter
        try await store.alterSoup(
          named: "accounts",
          indexSpecs: [
            SoupIndex(path: "Id", type: .string), SoupIndex(path: "Name", type: .fullText),
          ], reIndexData: true)
        let size = try await store.databaseSize()
        let removed = try await store.removeEntries(
          usingQuerySpec: .buildLikeQuerySpec(
            soupName: "contacts", path: "LastName", likeKey: "S%", pageSize: 100),
          forSoupNamed: "contacts")
        try await store.clearSoup("contacts")
        // end of sample
        #expect(size > 0 && removed > 0)
        #expect(try await store.hasIndex(forPath: "Id", inSoupNamed: "accounts"))

        // sample: tutorial-store-inspect
        guard let inspector = SmartStoreInspector(manager: stores, currentUser: owner) else {
          return
        }
        await inspector.run(query: "SELECT {accounts:Name} FROM {accounts}")
        print(await inspector.contents.rows ?? [])
        // end of sample
        #expect(await inspector.contents.rows?.count == 5)

        // sample: tutorial-store-logout
        try await accounts.logOut(account.identity, reason: .userLogout)
        // end of sample
        #expect(await accounts.accounts.isEmpty)
      }
    }
  }
}
