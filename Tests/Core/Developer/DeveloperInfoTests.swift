import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// What do developers learn about an app, and what never?
@Suite struct DeveloperInfoTests {
  @Test(.covers("CO-186", "BX-102"))
  func `the report has its sections in order, and no token`() async throws {
    let org = TestOrg()
    var account = org.account(accessToken: "access-1", refreshToken: "refresh-1")
    account.credentials.issuedAtMilliseconds = 1_700_000_000_000
    account.credentials.scopes = ["api", "web"]
    let accounts = try await org.manager([account])
    try await accounts.setCurrent(TestOrg.identity)
    var sources = DeveloperInfo.Sources()
    sources.accounts = accounts
    sources.userAgent = "agent"
    sources.boot = try BootConfiguration([
      "remoteAccessConsumerKey": "key", "oauthRedirectURI": "app://done",
      "shouldAuthenticate": true,
    ])
    sources.managed = ManagedConfiguration()
    sources.loginHosts = try LoginHostStorage()
    let report = try await DeveloperInfo(
      app: "Field Notes", sources, now: Date(timeIntervalSince1970: 1_700_003_600))
    #expect(
      report.sections.map(\.title) == [
        "Fieldforce", "Bootconfig", "Current User", "Managed Pref", "Login Hosts",
      ])
    #expect(
      report.sections.first?.rows.map(\.name) == [
        "SDK Version", "App", "App Type", "User Agent", "Current User", "Authenticated Users",
        "Unreadable Accounts",
      ])
    #expect(report["Access Token Issued"] == "2023-11-14T22:13:20.000+0000, 60 min ago")
    #expect(report["Refresh Token"] == "YES" && report["Scopes"] == "")
    #expect(report["Nothing"] == nil)
    let text = report.text + JSONValue.object(report.json).text
    #expect(!text.contains("access-1") && !text.contains("refresh-1"))
    #expect(text.contains("Username: jane@example.com"))
    await accounts.close()
  }

  @Test(.covers("CO-186"))
  func `a flat list has sections by their markers, without odd items and empty sections`() {
    var report = DeveloperInfo()
    report.append(flat: [
      "Build", "27", "section:Empty", "", "section:Store", "", "Name", "a", "odd",
    ])
    #expect(report.sections.map(\.title) == ["App", "Store"])
    #expect(report.rows.map(\.name) == ["section:App", "Build", "section:Store", "Name"])
    #expect(report.text == "App\n  Build: 27\n\nStore\n  Name: a")
  }

  @Test(.covers("CO-185"))
  func `the actions act on the accounts, and say why they are not possible`() async throws {
    let org = TestOrg()
    let other = UserAccountIdentity(
      userId: "005000000000002AAA", organizationId: "00D000000000001EAA")
    let accounts = try await org.manager([org.account(), org.account(identity: other)])
    try await accounts.setCurrent(TestOrg.identity)
    let actions = await DeveloperAction.standard(for: accounts)
    #expect(actions.map(\.name) == ["Logout", "Switch User", "Refresh Token"])
    #expect(actions.allSatisfy { $0.unavailable == nil && $0.writes })
    _ = try await actions[1].run(["account": "00D000000000001EAA/005000000000002AAA"])
    #expect(await accounts.current?.identity == other)
    await #expect(throws: AccountError.self) { try await actions[1].run(["account": "none"]) }
    _ = try await actions[2].run()
    #expect(org.state.withLock { $0.refreshes } == 1)
    _ = try await actions[0].run()
    #expect(await accounts.accounts.map(\.identity) == [other])
    await accounts.close()
    let none = try await org.manager([])
    let idle = await DeveloperAction.standard(for: none)
    #expect(idle.map(\.name) == ["Logout", "Refresh Token"])
    #expect(idle.allSatisfy { $0.unavailable != nil })
    await #expect(throws: AccountError.self) { try await idle[0].run() }
    await none.close()
  }

  @Test(.covers("CO-187"))
  func `login options change the app of the next login`() async throws {
    let apps = ConnectedAppSelector(ConnectedApp(clientId: "usual", redirectURI: "app://done"))
    let actions = await DeveloperAction.standard(for: nil, loginApps: apps)
    #expect(actions.map(\.name) == ["Login Options"])
    await #expect(throws: OAuthError.self) { try await actions[0].run(["consumerKey": " "]) }
    _ = try await actions[0].run(["consumerKey": "other"])
    let next = try await apps.app(for: .production)
    #expect(next.clientId == "other" && next.redirectURI == "app://done")
  }
}
