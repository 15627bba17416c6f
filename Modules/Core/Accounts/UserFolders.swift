public import Foundation
import SalesforceSDKCommon

/// The folders of orgs, users and communities below one root (CO-88).
///
/// The paths are pure functions of ids: `<org>/<user>/<community or internal>`.
public struct UserFolders: Sendable, Hashable {
  /// The folder with all data of one installation.
  public let root: URL

  /// Names the folders below `root`; nothing is created.
  public init(root: URL) {
    self.root = root
  }

  /// The folder of an org.
  public func folder(ofOrganization organizationId: String) -> URL {
    root.appending(path: Self.part(organizationId), directoryHint: .isDirectory)
  }

  /// The folder of a user: all that is kept for them is below it.
  public func folder(of identity: UserAccountIdentity) -> URL {
    folder(ofOrganization: identity.organizationId)
      .appending(path: Self.part(identity.userId), directoryHint: .isDirectory)
  }

  /// The folder of a user in the community of `account`, or `internal` without one.
  public func communityFolder(of account: UserAccount) -> URL {
    communityFolder(of: account.identity, communityId: account.credentials.communityId)
  }

  /// The folder of a user in a community, or `internal` without one.
  func communityFolder(of identity: UserAccountIdentity, communityId: String?) -> URL {
    folder(of: identity).appending(
      path: Self.community(communityId).map(Self.part) ?? Self.internalName,
      directoryHint: .isDirectory)
  }

  /// A community's id in its long form; nil for the id of users without a community.
  package static func community(_ id: String?) -> String? {
    guard let id, !id.isEmpty else { return nil }
    let long = SalesforceId.longForm(of: id) ?? id
    return long == OAuthKeys.internalCommunityId ? nil : long
  }

  /// Names of files and settings that belong to an org, a user or a community (CO-88).
  public struct Scope: Sendable, Hashable {
    fileprivate let parts: [String]

    /// Without an owner.
    public static let global = Scope(parts: [])

    /// Of one org.
    public static func organization(_ organizationId: String) -> Scope {
      Scope(parts: [UserFolders.part(organizationId)])
    }

    /// Of one user.
    public static func user(_ identity: UserAccountIdentity) -> Scope {
      Scope(parts: [
        UserFolders.part(identity.organizationId), UserFolders.part(identity.userId),
      ])
    }

    /// Of one user in the community of `account`, or `internal` without one.
    public static func community(_ account: UserAccount) -> Scope {
      Scope(
        parts: user(account.identity).parts + [
          account.communityId.map(UserFolders.part) ?? UserFolders.internalName
        ])
    }

    /// Behind the name of a file: `_<org>_<user>_<community>`; empty for the global scope.
    public var fileSuffix: String { parts.map { "_\($0)" }.joined() }

    /// As a key: `<org>-<user>-<community>`; `-global-` for the global scope.
    public var key: String { parts.isEmpty ? "-global-" : parts.joined(separator: "-") }
  }

  /// The folder of a scope.
  public func folder(of scope: Scope) -> URL {
    scope.parts.reduce(root) { $0.appending(path: $1, directoryHint: .isDirectory) }
  }

  fileprivate static let internalName = "internal"

  /// An id as part of a path: both forms of an id have the same path, and characters that mean something in
  /// one become `_`.
  static func part(_ id: String) -> String {
    let id = SalesforceId.longForm(of: id) ?? id
    let safe = String(id.map { #"/\?%*|"<>:@"#.contains($0) || $0.isNewline ? "_" : $0 })
    return safe.allSatisfy { $0 == "." } ? "_" + safe : safe
  }
}
