import Foundation

/// Which user of which org: the name of an account.
///
/// Ids of 15 and 18 characters that mean the same user are equal, and so is their hash (CO-77).
/// Identities sort by org, then by user.
public struct UserAccountIdentity: Sendable {
  /// The user's id, as it was given.
  public let userId: String
  /// The org's id, as it was given.
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
    guard parts.count >= 2, let user = parts.last, let org = parts.dropLast().last else {
      return nil
    }
    self.init(userId: String(user), organizationId: String(org))
  }

  /// The form that decides about equality.
  fileprivate var normalized: (organization: String, user: String) {
    (Self.normalize(organizationId), Self.normalize(userId))
  }

  private static func normalize(_ id: String) -> String {
    (eighteenCharacters(of: id) ?? id).lowercased()
  }

  /// The form with 18 characters of a valid id; `nil` for anything else. The three letters at the
  /// end tell which of the first 15 are capitals, five a letter.
  static func eighteenCharacters(of id: String) -> String? {
    let characters = Array(id.utf8)
    guard characters.count == 15 || characters.count == 18,
      characters.allSatisfy({ isDigit($0) || isCapital($0) || isSmall($0) })
    else { return nil }
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)
    var suffix: [UInt8] = []
    for start in stride(from: 0, to: 15, by: 5) {
      let bits = (0..<5).reduce(0) { isCapital(characters[start + $1]) ? $0 | 1 << $1 : $0 }
      suffix.append(alphabet[bits])
    }
    if characters.count == 18 { return id }
    return String(decoding: characters + suffix, as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  private static func isCapital(_ byte: UInt8) -> Bool { (65...90).contains(byte) }
  private static func isSmall(_ byte: UInt8) -> Bool { (97...122).contains(byte) }
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
