import Foundation
public import SalesforceSDKCommon

/// Settings of the program, of an org, of a user and of a user in a community, each in a file in the folder
/// of its owner (CO-90). Not for secrets.
///
/// A logout removes the settings of the user, and the logout of an org's last user removes those of the org.
/// Settings of the program stay.
public struct ScopedPreferences: Sendable {
  /// The folders of the settings.
  public let folders: UserFolders

  private static let fileName = "Preferences.json"

  /// Creates settings below the folders of `folders`. Files are created when a setting is set.
  ///
  /// - Parameter accounts: The accounts whose logouts remove the users' settings.
  public init(folders: UserFolders, accounts: UserAccountManager) {
    self.folders = folders
    accounts.register(PreferencesKeeper(preferences: self))
  }

  /// Returns the settings of a scope. Two instances for one scope read each other's changes after
  /// `synchronize()`.
  ///
  /// - Throws: `PreferencesError` `inputOutput`.
  public func preferences(
    for scope: UserFolders.Scope
  ) throws(PreferencesError) -> Preferences {
    try Preferences(file(of: scope))
  }

  fileprivate func erase(_ account: UserAccount) throws {
    let home = folders.folder(of: account.identity)
    try remove(home.appending(path: Self.fileName))
    for community in try AccountDisk.folders(in: home) {
      try remove(community.appending(path: Self.fileName))
      AccountDisk.removeFolderIfEmpty(community)
    }
    AccountDisk.removeFolderIfEmpty(home)
    let organization = folders.folder(ofOrganization: account.organizationId)
    let others = try AccountDisk.folders(in: organization)
      .filter { $0.lastPathComponent != home.lastPathComponent }
    if others.isEmpty { try remove(file(of: .organization(account.organizationId))) }
  }

  private func file(of scope: UserFolders.Scope) -> URL {
    folders.folder(of: scope).appending(path: Self.fileName)
  }

  private func remove(_ file: URL) throws(AccountError) {
    try AccountDisk.remove(file)
    try AccountDisk.remove(file.appendingPathExtension("lock"))
  }
}

/// The keeper that removes the settings of a user at the logout.
private struct PreferencesKeeper: AccountDataKeeper {
  let preferences: ScopedPreferences

  var keeperName: String { "ScopedPreferences:\(preferences.folders.root.lastPathComponent)" }
  var keeperId: String { "ScopedPreferences:\(preferences.folders.root.path)" }

  func erase(_ account: UserAccount) async throws { try preferences.erase(account) }
}
