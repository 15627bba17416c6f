/// The parameters of an address or a form (CA-25).
public struct QueryParameters: Sendable, Equatable {
  private let parts: [(name: Substring, value: Substring?)]

  /// Reads the part of an address between `?` and `#`.
  public init(ofAddress address: String) {
    let query = address.prefix { $0 != "#" }.split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false
    ).dropFirst().first
    self.init(query: query.map(String.init) ?? "")
  }

  /// Reads a query or a form, such as `a=1&b=2`.
  public init(query: String) {
    parts = query.split(separator: "&").map { part in
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (sides[0], sides.count > 1 ? sides[1] : nil)
    }
  }

  /// Returns the value of the first parameter with that name, whatever its case, still encoded;
  /// `nil` if there is none or it has no `=`.
  public func rawValue(_ name: String) -> String? {
    let name = name.lowercased()
    return parts.first { PercentEncoding.decode($0.name, plusIsSpace: true).lowercased() == name }?
      .value.map(String.init)
  }

  /// All parameters, decoded: a plus is a blank, and a parameter without `=` has an empty value. If
  /// several have the same name, the last one is used.
  public var dictionary: [String: String] {
    var result: [String: String] = [:]
    for part in parts {
      result[PercentEncoding.decode(part.name, plusIsSpace: true)] =
        part.value.map { PercentEncoding.decode($0, plusIsSpace: true) } ?? ""
    }
    return result
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.parts.elementsEqual(right.parts) { $0.name == $1.name && $0.value == $1.value }
  }

  /// Joins the parts of a path with exactly one slash between any two.
  public static func path(_ parts: String...) -> String {
    var result = ""
    for part in parts where !part.isEmpty {
      if result.isEmpty {
        result = part
      } else {
        while result.hasSuffix("/") { result.removeLast() }
        result += "/" + part.drop { $0 == "/" }
      }
    }
    return result
  }
}
