import Foundation
import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// Is what a page does for one user ever done for another, and do pages learn that the user has changed?
struct UserChangeTests {
  static let manager = "com.salesforce.sfaccountmanager"
  static let oauth = "com.salesforce.oauth"

  /// Runs `body` with two accounts, the first of which is current.
  static func withTwoUsers(
    _ body: (TestHost, _ one: UserAccount, _ other: UserAccount) async throws -> Void
  ) async throws {
    var options = MockOrgOptions()
    options.otherUsers = [
      MockOrgUser(username: "grace@fieldforce.example", firstName: "Grace", lastName: "Hopper")
    ]
    try await withMockOrg(options) { _, server in
      let info = try #require(server.info(forUser: "grace@fieldforce.example"))
      try await TestHost.with(prepare: { accounts in
        _ = try await accounts.logIn(with: info)
        try await accounts.logIn(to: server)
      }) { host in
        let one = try #require(await host.accounts.current)
        let other = try #require(
          await host.accounts.accounts.first { $0.identity != one.identity })
        try await body(host, one, other)
      }
    }
  }

  static func user(_ account: UserAccount) -> JSONValue {
    ["userId": .string(account.userId), "orgId": .string(account.organizationId)]
  }

  static let notes: JSONValue = [
    "soupName": "notes", "indexes": [["path": "for", "type": "string"]],
  ]

  @Test(.covers("HT-10"))
  func `a switch without a user shows the page that requested it the list of accounts`()
    async throws
  {
    try await Self.withTwoUsers { host, one, other in
      let page = try Page(host.bridge)
      let bystander = try Page(host.bridge)
      let current = await host.accounts.current?.identity
      #expect(try await page.value(Self.manager, "switchToUser", .null) == nil)
      let list = await page.frame { $0["event"] == "fieldforceChooseUser" }["detail"]
      let users = list?["users"]?.array ?? []
      #expect(
        Set(users.compactMap { $0["userId"]?.string })
          == [one.userId, other.userId])
      for user in users {
        #expect(user.object?.keys.sorted() == ["isCurrent", "orgId", "userId", "username"])
        #expect(user["isCurrent"]?.bool == (user["userId"]?.string == current?.userId))
      }
      #expect(list?["canLogIn"] == false)
      #expect(await host.accounts.current?.identity == current)
      #expect(
        try await page.failure(Self.manager, "switchToUser", ["newUser": true])
          .contains("this host offers no login"))
      #expect(!bystander.frames.contains { $0["event"] == "fieldforceChooseUser" })
    }
  }

  @Test(.covers("HT-21"))
  func `calls of one user that wait during a switch are never carried out for the next`()
    async throws
  {
    try await Self.withTwoUsers { host, one, other in
      let page = try Page(host.bridge)
      var current = one
      for account in [other, one] {
        _ = try await page.value(TestHost.store, "pgRegisterSoup", Self.notes)
        _ = try await page.value(Self.manager, "switchToUser", Self.user(account))
        current = account
      }
      var failed = 0
      for _ in 0..<20 {
        var calls: [Int] = []
        let entries: JSONValue = .array(
          Array(repeating: ["for": .string(current.userId + current.organizationId)], count: 50))
        for _ in 0..<20 {
          calls.append(
            try await page.post(
              TestHost.store, "pgUpsertSoupEntries", ["soupName": "notes", "entries": entries]))
        }
        current = current.identity == one.identity ? other : one
        let switching = try await page.post(Self.manager, "switchToUser", Self.user(current))
        #expect(await page.response(switching)["status"] == "ok")
        for call in calls {
          let response = await page.response(call)
          guard response["status"] == "error" else { continue }
          failed += 1
          #expect(response["value"]?.string?.contains("the current user changed") == true)
        }
      }
      #expect(failed > 0)
      for account in [one, other] {
        _ = try await page.value(Self.manager, "switchToUser", Self.user(account))
        let rows = try await page.value(
          TestHost.store, "pgRunSmartQuery",
          [
            "querySpec": [
              "queryType": "smart", "smartSql": "SELECT DISTINCT {notes:for} FROM {notes}",
              "pageSize": 10,
            ]
          ])
        let owner: JSONValue = .string(account.userId + account.organizationId)
        #expect([[[owner]], []].contains(rows?["currentPageOrderedEntries"]))
      }
    }
  }

  @Test(.covers("HT-21"))
  func `a switch makes all pages load again, after its response, and ends cursors`()
    async throws
  {
    try await Self.withTwoUsers { host, one, other in
      let page = try Page(host.bridge)
      let second = try Page(host.bridge)
      _ = try await page.value(TestHost.store, "pgRegisterSoup", Self.notes)
      let cursor = try await page.value(
        TestHost.store, "pgQuerySoup",
        ["soupName": "notes", "querySpec": ["queryType": "range", "indexPath": "for"]])
      let switching = try await page.post(Self.manager, "switchToUser", Self.user(other))
      #expect(await page.response(switching)["status"] == "ok")
      _ = await page.frame { $0["event"] == "fieldforceReload" }
      _ = await second.frame { $0["event"] == "fieldforceReload" }
      let places = page.frames.indices.filter {
        page.frames[$0]["event"] == "fieldforceReload"
          || page.frames[$0]["id"] == .integer(Int64(switching))
      }
      #expect(page.frames[places[0]]["status"] == "ok")
      #expect(
        try await page.value(Self.manager, "getCurrentUser")?["userId"]
          == .string(other.userId))
      #expect(try await page.value(TestHost.store, "pgSoupExists", ["soupName": "notes"]) == false)
      #expect(
        try await page.failure(
          TestHost.store, "pgMoveCursorToPageIndex",
          ["cursorId": cursor?["cursorId"] ?? .null, "index": 0]
        ).contains("Invalid cursor id"))
      // Switching to the current user changes nothing.
      _ = try await page.value(Self.manager, "switchToUser", Self.user(other))
      _ = try await page.value(Self.oauth, "getAppHomeUrl")
      #expect(page.frames.count { $0["event"] == "fieldforceReload" } == 1)
    }
  }

  @Test(.covers("HT-21")) func `a change by the program itself makes the pages load again, once`()
    async throws
  {
    try await Self.withTwoUsers { host, _, other in
      let page = try Page(host.bridge)
      try await host.accounts.setCurrent(other.identity)
      _ = await page.frame { $0["event"] == "fieldforceReload" }
      _ = try await page.value(Self.manager, "logout", Self.user(other))
      while page.frames.count(where: { $0["event"] == "fieldforceReload" }) < 2 {
        await Task.yield()
      }
      #expect(try await page.value(Self.manager, "getCurrentUser") == [:])
      #expect(page.frames.count { $0["event"] == "fieldforceReload" } == 2)
    }
  }

  @Test(.covers("HT-20"))
  func `a login from a page is one for all that request it, and no page loads again`()
    async throws
  {
    try await withMockOrg { _, server in
      let accounts = Mutex<UserAccountManager?>(nil)
      let logins = Mutex(0)
      let prepared = Mutex<[UserAccountIdentity]>([])
      let latch = Latch()
      try await TestHost.with(adjust: { host in
        accounts.withLock { [manager = host.accounts] in $0 = manager }
        host.logIn = {
          logins.withLock { $0 += 1 }
          await latch.wait()
          guard let manager = accounts.withLock({ $0 }) else { throw CancellationError() }
          return try await manager.logIn(to: server)
        }
        host.userDidChange = { account in prepared.withLock { $0.append(account.identity) } }
      }) { host in
        let pages = [try Page(host.bridge), try Page(host.bridge)]
        #expect(
          try await pages[0].failure(Self.oauth, "getAuthCredentials") == "Not authenticated")
        var calls: [(Page, Int)] = []
        for page in pages { calls.append((page, try await page.post(Self.oauth, "authenticate"))) }
        while logins.withLock({ $0 }) == 0 { await Task.yield() }
        // What needs no user goes on.
        #expect(
          try await pages[0].value(
            TestHost.store, "pgSoupExists", ["soupName": "s", "isGlobalStore": true]) == false)
        latch.open()
        for (page, call) in calls {
          #expect(await page.response(call)["value"]?["accessToken"]?.string?.isEmpty == false)
        }
        let account = try #require(await host.accounts.current)
        #expect(logins.withLock { $0 } == 1)
        #expect(prepared.withLock { Set($0) } == [account.identity])
        #expect(
          try await pages[1].value(TestHost.store, "pgSoupExists", ["soupName": "s"]) == false)
        #expect(pages.allSatisfy { page in page.frames.allSatisfy { $0["event"] == nil } })
      }
    }
  }

  @Test(.covers("HT-20"))
  func `a login that fails is an error of its calls, and the next one starts again`()
    async throws
  {
    let logins = Mutex(0)
    try await TestHost.with(adjust: { host in
      host.logIn = {
        logins.withLock { $0 += 1 }
        throw CancellationError()
      }
    }) { host in
      let page = try Page(host.bridge)
      for _ in 0..<2 {
        #expect(try await page.failure(Self.oauth, "authenticate").contains("cancelled"))
      }
      #expect(logins.withLock { $0 } == 2)
      #expect(try await page.failure(Self.manager, "switchToUser", .null).contains("cancelled"))
      #expect(try await page.value(Self.manager, "getUsers") == [])
    }
  }
}
