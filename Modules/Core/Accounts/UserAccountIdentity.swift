import Foundation
import SalesforceSDKCommon

/// The identity of an account: a user id and an org id.
///
/// Ids of 15 and 18 characters that mean the same user are equal, and so is their hash (CO-77).
/// Identities sort by org, then by user.
public struct UserAccountIdentity: Sendable {
  /// The user's id, in the caller's spelling.
  public let userId: String
  /// The org's id, in the caller's spelling.
  public let organizationId: String

  /// Names a user.
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
