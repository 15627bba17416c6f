import Foundation
import SalesforceSDKCommon

/// The identity of an account: a user id and an org id.
///
/// The 15-character and 18-character forms of an id are equal and have the same hash (CO-77).
/// Identities are sorted by org, then by user.
public struct UserAccountIdentity: Sendable {
  /// The user's id, as the caller wrote it.
  public let userId: String
  /// The org's id, as the caller wrote it.
  public let organizationId: String

  /// Creates an identity from two ids.
  public init(userId: String, organizationId: String) {
    self.userId = userId
    self.organizationId = organizationId
  }

  /// Reads the ids from the last two parts of an identity URL, `.../id/<org>/<user>`; `nil` if it
  /// has fewer.
  public init?(identityURL: String) {
    let path = identityURL.prefix { $0 != "?" && $0 != "#" }
    let start = path.range(of: "://").map { path[$0.upperBound...] } ?? path
    let parts = start.split(separator: "/").dropFirst()
    guard let user = parts.last, let org = parts.dropLast().last else {
      return nil
    }
    self.init(userId: String(user), organizationId: String(org))
  }

  /// The same identity as the platform spells it; `nil` unless one id is a user's, `005...`, and the other
  /// an org's, `00D...`, each with 15 characters, or with 18 of which the last three are right.
  ///
  /// Ids name folders. Only these can be neither a folder of another purpose nor, on a file system that ignores
  /// case, the folder of another user.
  package var platformForm: UserAccountIdentity? {
    guard Self.hasRightSuffix(userId), Self.hasRightSuffix(organizationId),
      let user = SalesforceId(userId), user.keyPrefix == OAuthKeys.userKeyPrefix,
      let organization = SalesforceId(organizationId),
      organization.keyPrefix == OAuthKeys.organizationKeyPrefix
    else { return nil }
    return UserAccountIdentity(
      userId: SalesforceId.longForm(of: userId) == user.text ? userId : user.text,
      organizationId: SalesforceId.longForm(of: organizationId) == organization.text
        ? organizationId : organization.text)
  }

  /// Whether the last three of 18 characters fit the first 15, or those have lost their case.
  private static func hasRightSuffix(_ id: String) -> Bool {
    guard id.utf8.count == 18, id != id.lowercased(), id != id.uppercased() else { return true }
    let long = SalesforceId.longForm(of: String(id.prefix(15)))
    return long?.suffix(3).lowercased() == id.suffix(3).lowercased()
  }

  /// The form that decides about equality.
  fileprivate var normalized: (organization: String, user: String) {
    (SalesforceId.canonical(organizationId), SalesforceId.canonical(userId))
  }
}

extension UserAccountIdentity: Hashable, Comparable {
  public static func == (left: Self, right: Self) -> Bool { left.normalized == right.normalized }

  public static func < (left: Self, right: Self) -> Bool { left.normalized < right.normalized }

  public func hash(into hasher: inout Hasher) {
    let normalized = normalized
    hasher.combine(normalized.organization)
    hasher.combine(normalized.user)
  }
}

extension UserAccountIdentity: CustomStringConvertible {
  public var description: String { "\(organizationId)/\(userId)" }
}
