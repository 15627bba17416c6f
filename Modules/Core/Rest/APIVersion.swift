/// A version of the REST API, such as `v66.0`. Versions compare by their numbers: v9.0 comes before v64.0.
public struct APIVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number before the dot.
  public let major: Int
  /// The number after the dot.
  public let minor: Int

  /// Creates a version.
  public init(major: Int, minor: Int = 0) {
    self.major = major
    self.minor = minor
  }

  /// Reads `v66.0` or `66.0`; `nil` for any other form.
  public init?(_ text: some StringProtocol) {
    let numbers = text.hasPrefix("v") ? text.dropFirst() : text[...]
    let sides = numbers.split(separator: ".", omittingEmptySubsequences: false)
    guard sides.count == 2, sides.allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let major = Int(sides[0]), let minor = Int(sides[1])
    else { return nil }
    self.init(major: major, minor: minor)
  }

  /// Finds the version in `/services/data/v66.0/...`; `nil` if there is none.
  init?(inPath path: String) {
    guard let rest = path.dropping(prefix: "\(RestRequest.defaultEndpoint)/") else { return nil }
    self.init(rest.prefix { $0 != "/" && $0 != "?" })
  }

  /// By number, not by text.
  public static func < (left: APIVersion, right: APIVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  /// `v66.0`.
  public var description: String { "v\(major).\(minor)" }
}
