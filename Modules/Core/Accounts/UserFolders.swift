public import Foundation
import SalesforceSDKCommon

/// The folders of orgs, users and communities below one root (CO-88).
///
/// The paths depend only on the ids: `<org>/<user>/<community or internal>`.
public struct UserFolders: Sendable, Hashable {
  /// The folder with all data of one installation.
  public let root: URL

  /// Creates the folders' names below `root`. Creates no folder.
  public init(root: URL) {
    self.root = root
  }

  /// Returns the folder of an org.
  public func folder(ofOrganization organizationId: String) -> URL {
    root.appending(path: Self.part(organizationId), directoryHint: .isDirectory)
  }

  /// Returns the folder with all data of a user.
  public func folder(of identity: UserAccountIdentity) -> URL {
    folder(ofOrganization: identity.organizationId)
      .appending(path: Self.part(identity.userId), directoryHint: .isDirectory)
  }

  /// Returns the folder of a user in the community of `account`, or `internal` without one.
  public func communityFolder(of account: UserAccount) -> URL {
    communityFolder(of: account.identity, communityId: account.credentials.communityId)
  }

  /// Returns the folder of a user in a community, or `internal` without one.
  func communityFolder(of identity: UserAccountIdentity, communityId: String?) -> URL {
    folder(of: identity).appending(
      path: Self.community(communityId).map(Self.part) ?? Self.internalName,
      directoryHint: .isDirectory)
  }

  /// Returns a community's id in its long form; nil for the id of users without a community.
  package static func community(_ id: String?) -> String? {
    guard let id, !id.isEmpty else { return nil }
    let long = SalesforceId.longForm(of: id) ?? id
    return long == OAuthKeys.internalCommunityId ? nil : long
  }

  /// The owner of files and settings: an org, a user, a user in a community, or none (CO-88).
  public struct Scope: Sendable, Hashable {
    fileprivate let parts: [String]

    /// The scope without an owner.
    public static let global = Scope(parts: [])

    /// Returns the scope of one org.
    public static func organization(_ organizationId: String) -> Scope {
      Scope(parts: [UserFolders.part(organizationId)])
    }

    /// Returns the scope of one user.
    public static func user(_ identity: UserAccountIdentity) -> Scope {
      Scope(parts: [
        UserFolders.part(identity.organizationId), UserFolders.part(identity.userId),
      ])
    }

    /// Returns the scope of one user in the community of `account`, or `internal` without one.
    public static func community(_ account: UserAccount) -> Scope {
      Scope(
        parts: user(account.identity).parts + [
          account.communityId.map(UserFolders.part) ?? UserFolders.internalName
        ])
    }

    /// The suffix of a file's name: `_<org>_<user>_<community>`; empty for the global scope.
    public var fileSuffix: String { parts.map { "_\($0)" }.joined() }

    /// The scope as a key: `<org>-<user>-<community>`; `-global-` for the global scope.
    public var key: String { parts.isEmpty ? "-global-" : parts.joined(separator: "-") }
  }

  /// Returns the folder of a scope.
  public func folder(of scope: Scope) -> URL {
    scope.parts.reduce(root) { $0.appending(path: $1, directoryHint: .isDirectory) }
  }

  fileprivate static let internalName = "internal"

  /// Returns an id as a component of a path: both forms of an id have the same path, and special
  /// characters of paths become `_`.
  static func part(_ id: String) -> String {
    let id = SalesforceId.longForm(of: id) ?? id
    let safe = String(id.map { #"/\?%*|"<>:@"#.contains($0) || $0.isNewline ? "_" : $0 })
    return safe.allSatisfy { $0 == "." } ? "_" + safe : safe
  }
}
