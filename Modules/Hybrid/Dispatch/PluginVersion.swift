/// The version that a page's JavaScript sends with its calls, compared with the bridge's (HT-6).
enum PluginVersion {
  /// Whether `left` is older than `right`: part by part as integers, where no number counts as -1. Of two with
  /// the same numbers, the one that ends in `dev` is older, and otherwise the shorter one.
  static func isOlder(_ left: String, than right: String) -> Bool {
    let (ours, theirs) = (numbers(left), numbers(right))
    for (one, other) in zip(ours, theirs) where one != other { return one < other }
    let isDevelopment = (left.hasSuffix("dev"), right.hasSuffix("dev"))
    if isDevelopment.0 != isDevelopment.1 { return isDevelopment.0 }
    return ours.count < theirs.count
  }

  private static func numbers(_ version: String) -> [Int] {
    var parts = version.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if parts.last == "dev" { parts.removeLast() }
    return parts.map { Int($0) ?? -1 }
  }
}
