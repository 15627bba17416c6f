import Foundation
import SalesforceSDKCore
import Testing

@testable import SmartStore
import TestSupport

/// Which ids mean the same owner?
@Suite struct StoreOwnerTests {
  private let short = (organization: "00D5g00000ABCDE", user: "0055g00000AbCdE")
  private let long = (organization: "00D5g00000ABCDEEA5", user: "0055g00000AbCdEAAV")

  private func account(
    _ ids: (organization: String, user: String), community: String? = nil
  ) -> UserAccount {
    var credentials = OAuthCredentials(
      clientId: "client", redirectURI: "http://127.0.0.1:1717/callback", loginServer: .production)
    credentials.communityId = community
    return UserAccount(
      identity: UserAccountIdentity(userId: ids.user, organizationId: ids.organization),
      credentials: credentials, profile: UserProfile(username: "ada@example.com"))
  }

  @Test(.covers("SS-3", "CO-77"))
  func `both forms of an account's ids lead to the same store`() async throws {
    let owners = [
      StoreOwner(account(short)), StoreOwner(account(long)),
      .user(organizationId: short.organization, userId: long.user),
      .user(organizationId: long.organization, userId: short.user, communityId: ""),
    ]
    #expect(Set(owners).count == 1)
    for owner in owners {
      #expect(try owner.folders() == [long.organization, long.user, "internal", "stores"])
    }
    try await withManager { manager async throws in
      let store = try await manager.shared(forUserAccount: owners[0])
      for owner in owners {
        let same = try await manager.shared(forUserAccount: owner)
        #expect(same === store)
      }
      try await manager.removeAll(forUserAccount: owners[2])
      #expect(try manager.allStoreNames(forUserAccount: owners[1]) == [])
    }
  }

  @Test(
    .covers("SS-9", "CO-88", "BX-88.1"),
    arguments: [nil, "", "000000000000000AAA", "000000000000000", "0DB5g00000000Ab"])
  func `the stores of an account lie in the folder of the account`(
    community: String?
  ) throws {
    let root = URL(filePath: "/root")
    let account = account(short, community: community)
    let folders = StoreFolders(root: root)
    let store = try folders.folder(of: "s", owner: StoreOwner(account))
    let expected = UserFolders(root: root).communityFolder(of: account)
    #expect(store.path == expected.appending(path: "stores/s").path)
    #expect((expected.lastPathComponent == "internal") == (community != "0DB5g00000000Ab"))
  }

  @Test func `other ids are other owners`() {
    let owner = StoreOwner.user(organizationId: long.organization, userId: long.user)
    #expect(owner != .global)
    #expect(owner != .user(organizationId: long.user, userId: long.organization))
    #expect(
      owner
        != .user(
          organizationId: long.organization, userId: long.user, communityId: "0DB5g00000000Ab"))
    // Ids of 15 characters tell upper from lower case.
    #expect(owner != .user(organizationId: long.organization, userId: "0055g00000abcde"))
  }
}
