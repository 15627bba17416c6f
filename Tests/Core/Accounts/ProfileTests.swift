import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-72 to CO-74, CO-91, CO-111: what is known and kept about a user.
@Suite struct ProfileTests {
  private static let answer = """
    {"id":"https://login.salesforce.com/id/00D/005","asserted_user":true,"user_id":"005",
    "organization_id":"00D","username":"jane@example.com","nick_name":"jd","display_name":"Jane Doe",
    "email":"jane@example.com","email_verified":true,"first_name":"Jane","last_name":"Doe",
    "timezone":"Europe/Berlin","photos":{"picture":"https://a.my.salesforce.com/p/F",
    "thumbnail":"https://a.my.salesforce.com/p/T"},"addr_street":null,"addr_city":"Kiel",
    "addr_state":null,"addr_country":"DE","addr_zip":"24103","mobile_phone":"+49","mobile_phone_verified":false,
    "status":{"created_date":"2026-03-01T08:30:00.000+0000","body":"out"},
    "urls":{"rest":"https://a.my.salesforce.com/services/data/v{version}/","feed_items":"x"},
    "active":true,"user_type":"STANDARD","language":"en_US","locale":"de_DE","utcOffset":3600000,
    "last_modified_date":"2026-03-01T08:30:00Z","is_app_installed":true,"is_lightning_login_user":true,
    "mobile_policy":{"screen_lock":"10","pin_length":4},"push_service_type":["Apns"],
    "custom_attributes":{"region":"north"},"custom_permissions":{"edit":true},"new_member":[1]}
    """

  private func profile(_ json: String) throws -> UserProfile {
    UserProfile(response: try JSONSlice(parsing: json))
  }

  @Test(.covers("CO-72", "BX-22"))
  func `every member of the identity response can be read`() throws {
    let profile = try profile(Self.answer)
    #expect(profile.username == "jane@example.com" && profile.displayName == "Jane Doe")
    #expect(profile.isAssertedUser && profile.isActive && profile.isEmailVerified)
    #expect(profile.isAppInstalled && !profile.isMobilePhoneVerified)
    #expect(profile.isLightningLoginUser)
    #expect(profile.raw["user_id"] == "005" && profile.raw["organization_id"] == "00D")
    #expect(profile.firstName == "Jane" && profile.lastName == "Doe" && profile.nickname == "jd")
    #expect(profile.street == nil && profile.city == "Kiel" && profile.postalCode == "24103")
    #expect(profile.country == "DE" && profile.state == nil && profile.mobilePhone == "+49")
    #expect(profile.userType == "STANDARD" && profile.language == "en_US")
    #expect(profile.locale == "de_DE" && profile.timezone == "Europe/Berlin")
    #expect(profile.utcOffset == 3_600_000)
    #expect(profile.lastModified == profile.statusCreated && profile.statusBody == "out")
    #expect(profile.lastModified?.milliseconds == 1_772_353_800_000)
    #expect(profile.pictureURL?.path() == "/p/F" && profile.thumbnailURL?.path() == "/p/T")
    #expect(
      profile.resourceURL("rest", version: "v66.0")?.absoluteString
        == "https://a.my.salesforce.com/services/data/v66.0/")
    #expect(profile.hasMobilePolicy && profile.screenLockMinutes == 10 && profile.pinLength == 4)
    #expect(profile.pushServiceTypes == ["Apns"])
    #expect(profile.customAttributes?["region"] == "north")
    #expect(profile.customPermissions?["edit"] == true)
    #expect(profile.raw["new_member"] == [1])
  }

  @Test(
    .covers("CO-72"),
    arguments: [
      "{}",
      #"{"mobile_policy":null,"custom_attributes":[],"utcOffset":null,"photos":null,"urls":3}"#,
      #"{"active":"yes","mobile_policy":{},"push_service_type":null,"last_modified_date":"soon"}"#,
    ])
  func `what is missing, null or of another kind has its default`(json: String) throws {
    let profile = try profile(json)
    #expect(!profile.isAssertedUser && !profile.isActive && !profile.isAppInstalled)
    #expect(!profile.isLightningLoginUser)
    #expect(profile.utcOffset == -1 && profile.screenLockMinutes == 0 && profile.pinLength == 0)
    #expect(profile.customAttributes == nil && profile.pictureURL == nil)
    #expect(profile.lastModified == nil && profile.pushServiceTypes.isEmpty)
    #expect(profile.resourceURL("rest", version: "66.0") == nil)
    #expect(profile.hasMobilePolicy == json.contains(#""mobile_policy":{}"#))
  }

  @Test(.covers("CO-73", "CO-111.1"))
  func `a profile that is fetched again is kept and reported`() async throws {
    let stub = LoginServerStub()
    stub.set("/id/00D000000000001EAA/005000000000001AAA") { _ in
      RestResponse(
        json: Self.answer.replacing("\"005\"", with: "\"005000000000001AAA\"")
          .replacing("\"00D\"", with: "\"00D000000000001EAA\""))
    }
    var account = TestOrg().account()
    account.credentials.identityURL = URL(
      string: "https://acme.my.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    let manager = try await stub.manager(stub.transport(), [account])
    let events = manager.events()
    let fresh = try await manager.refreshProfile(of: account.identity)
    #expect(fresh.profile.city == "Kiel")
    // The same response again changes nothing, and no event is sent.
    try await manager.refreshProfile(of: account.identity)
    await manager.close()
    var changes: [AccountChanges] = []
    for await event in events { changes.append(event.changes) }
    #expect(changes == [.profile])
  }

  @Test(.covers("CO-74", "CO-91"))
  func `custom data, attributes and permissions survive a restart`() async throws {
    let folder = try TemporaryFolder()
    let secrets = InMemorySecretStore()
    let persister = EncryptedAccountDirectory(root: folder.url, secrets: secrets)
    try await persister.save(TestOrg().account())
    func manager() async throws -> UserAccountManager {
      try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: secrets),
        transport: ScriptedTransport([]))
    }
    let first = try await manager()
    try await first.setCustomData(["a": [1, nil]], forKey: "mine", of: TestOrg.identity)
    try await first.setCustomData("x", forKey: "gone", of: TestOrg.identity)
    try await first.setCustomData(nil, forKey: "gone", of: TestOrg.identity)
    try await first.setCustomAttribute("north", forKey: "region", of: TestOrg.identity)
    try await first.setCustomPermission(true, forKey: "edit", of: TestOrg.identity)
    let account = try #require(await manager().account(for: TestOrg.identity))
    #expect(account.customData == ["mine": ["a": [1, nil]]])
    #expect(account.profile.customAttributes == ["region": "north"])
    #expect(account.profile.customPermissions == ["edit": true])
    #expect(account.credentials.refreshToken == "refresh-1")
    await #expect(throws: AccountError.self) {
      try await first.setCustomData(
        1, forKey: "x", of: UserAccountIdentity(userId: "x", organizationId: "y"))
    }
  }

  @Test(.covers("CO-97.1", "CO-91"))
  func `custom data and refreshes at once lose nothing`() async throws {
    let org = TestOrg()
    org.state.withLock { $0.rotates = true }
    let manager = try await org.manager()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask {
          try await manager.setCustomData(
            .integer(Int64(index)), forKey: "\(index)", of: TestOrg.identity)
        }
        if index.isMultiple(of: 5) {
          group.addTask { _ = try await manager.refresh(TestOrg.identity) }
        }
      }
      try await group.waitForAll()
    }
    let account = await manager.account(for: TestOrg.identity)
    #expect(account?.customData.count == 20)
    // The newest token is the one that the server accepts.
    #expect(account?.credentials.refreshToken == org.state.withLock { $0.refreshToken })
    #expect(try await manager.refresh(TestOrg.identity).loginState == .loggedIn)
  }

  @Test(.covers("CO-65.1", "CO-111.1"))
  func `changes have the platform's numbers`() {
    let old = TestOrg().account()
    var new = old
    #expect(AccountChanges(from: old, to: new) == [])
    #expect(AccountChanges(from: nil, to: new) == [])
    new.credentials.accessToken = "other"
    new.credentials.instanceURL = URL(string: "https://b.my.salesforce.com")
    #expect(AccountChanges(from: old, to: new).rawValue == 24)
    new.credentials.communityId = "0DB"
    new.profile.email = "x"
    #expect(AccountChanges(from: old, to: new).rawValue == 30)
  }
}
