/// The versions of the REST API that the org speaks.
enum RESTVersions {
  /// The platform has retired those before 31.
  static let known = 31...66

  /// The number in a path segment such as `v66.0`, if the org speaks that version.
  static func number(_ segment: String?) -> Int? {
    guard let segment, segment.hasPrefix("v"), segment.hasSuffix(".0"),
      let version = Int(segment.dropFirst().dropLast(2)), known.contains(version)
    else { return nil }
    return version
  }

  /// The response to `/services/data`.
  static func list() -> OrgResponse {
    .json(
      .array(known) { version in
        [
          "label": .string(label(of: version)), "url": "/services/data/v\(version).0",
          "version": "\(version).0",
        ]
      })
  }

  /// Three releases a year since Winter '14, which was 29.
  private static func label(of version: Int) -> String {
    let seasons = ["Winter", "Spring", "Summer"]
    let number = version - 29
    return "\(seasons[number % 3]) '\(14 + number / 3)"
  }
}
