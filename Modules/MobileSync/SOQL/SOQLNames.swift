/// Names of fields and objects as the server compares them: without regard to case.
///
/// The server refuses a query that selects a field twice, in whatever letters.
public enum SOQLNames: Sendable {
  /// Whether the server takes both for the same name.
  public static func areSame(_ name: some StringProtocol, _ other: some StringProtocol) -> Bool {
    name.lowercased() == other.lowercased()
  }

  /// Whether `list` has the name.
  public static func contains(_ name: some StringProtocol, in list: some Sequence<String>) -> Bool {
    list.contains { areSame($0, name) }
  }

  /// The names that `list` lacks, in their order.
  public static func missing(
    _ names: some Sequence<String>, in list: some Sequence<String>
  ) -> [String] {
    names.filter { !contains($0, in: list) }
  }

  /// `list`, followed by those of `names` that it lacks, each once.
  public static func appending(_ names: some Sequence<String>, to list: [String]) -> [String] {
    names.reduce(into: list) { all, name in
      if !contains(name, in: all) { all.append(name) }
    }
  }
}
