import Foundation
import SalesforceSDKCommon

@testable import SalesforceSDKCore

/// The secrets of accounts by their owners.
enum AccountSecretNames {
  /// What is left after the last account: the key of the files, and the mark of their digests.
  static let withoutAccounts: Set = [
    SecretName(service: "com.salesforce.userAccount.encryptionKey"),
    SecretName(service: "com.salesforce.userAccount.files"),
  ]

  /// The identifiers of the logins that have secrets.
  static func logins(in secrets: some SecretStore) throws -> Set<String> {
    Set(
      try secrets.list().filter { $0.service != "com.salesforce.userAccount.file" }
        .compactMap(\.account))
  }
}

/// What suites about accounts on disk share: one secret store, and accounts in folders.
protocol AccountFolderSuite {
  var secrets: InMemorySecretStore { get }
}

extension AccountFolderSuite {
  func manager(_ folder: URL, secrets: (any SecretStore)? = nil) async throws
    -> UserAccountManager
  {
    try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder, secrets: secrets ?? self.secrets),
      transport: TestOrg().transport())
  }

  func persister(_ folder: URL) -> EncryptedAccountDirectory {
    EncryptedAccountDirectory(root: folder, secrets: secrets)
  }

  func account(_ user: String, org: String = "00D000000000001EAA") -> UserAccount {
    var account = TestOrg().account(
      accessToken: "access \(user)", refreshToken: "refresh \(user)",
      identity: UserAccountIdentity(userId: user, organizationId: org))
    account.credentials.webSession = ["lightning_sid": "sid \(user)", "lightning_domain": "d"]
    account.credentials.scopes = ["api", "id"]
    account.credentials.issuedAtMilliseconds = 1_600_000_000_123
    account.credentials.communityId = "0DB000000000001GAA"
    account.credentials.communityURL = URL(string: "https://acme.force.com/x")
    account.profile = UserProfile(
      username: "\(user)@example.com", displayName: "Ünï \(user)", email: "e",
      raw: ["custom_attributes": ["a": "b"], "n": 1.5])
    return account
  }

  func files(_ folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      !$0.hasPrefix("locks") && $0.contains(".")
    }.sorted()
  }
}
