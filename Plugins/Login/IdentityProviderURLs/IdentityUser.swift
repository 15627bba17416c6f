import SalesforceSDKCommon

/// The user whom a command suggests: `user_hint`.
public struct IdentityUser: Sendable, Hashable, CustomStringConvertible {
  /// The org's id; it begins with `00D`.
  public let organizationId: String
  /// The user's id; it begins with `005`.
  public let userId: String

  /// Names a user; nil for texts that are no ids of an org and a user.
  public init?(organizationId: String, userId: String) {
    guard Self.isId(organizationId, of: "00D"), Self.isId(userId, of: "005") else { return nil }
    self.organizationId = organizationId
    self.userId = userId
  }

  /// Reads a hint in either order: the guide has the org first, the code of iOS the user.
  init?(hint: String) {
    let parts = hint.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return nil }
    let isUserFirst = parts[0].hasPrefix("005")
    self.init(
      organizationId: parts[isUserFirst ? 1 : 0], userId: parts[isUserFirst ? 0 : 1])
  }

  /// The hint in the guide's order.
  public var description: String { "\(organizationId):\(userId)" }

  private static func isId(_ text: String, of prefix: String) -> Bool {
    [15, 18].contains(text.utf8.count) && text.hasPrefix(prefix)
      && text.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
      }
  }
}
