/// One segment of a route's path: a word of the API, or a value that the handler reads by its name.
///
/// `Service` is what a value is checked against, such as the objects of the org.
struct PathSegment<Service>: Sendable, ExpressibleByStringLiteral {
  enum Kind: Sendable {
    case word(String)
    /// A word in lower case, which clients write in any case.
    case wordInAnyCase(String)
    case value(name: String, accepts: @Sendable (String, PathValues, Service) -> Bool)
  }

  let kind: Kind

  init(stringLiteral word: String) { kind = .word(word) }

  private init(_ kind: Kind) { self.kind = kind }

  static func anyCase(_ word: String) -> PathSegment {
    PathSegment(.wordInAnyCase(word.lowercased()))
  }

  /// A value; a path where `accepts` is false is another route's, or nothing's.
  static func value(
    _ name: String,
    accepts: @escaping @Sendable (String, PathValues, Service) -> Bool = { _, _, _ in true }
  ) -> PathSegment {
    PathSegment(.value(name: name, accepts: accepts))
  }
}

/// The values in a request's path, by the names that the route gives them.
struct PathValues: Sendable {
  private var values: [(name: String, text: String)] = []

  init() {}

  /// The value of a name. The route has it, or the handler has no business to ask.
  subscript(name: String) -> String {
    guard let value = values.first(where: { $0.name == name }) else {
      preconditionFailure("the route of this handler has no value '\(name)'")
    }
    return value.text
  }

  func adding(_ name: String, _ text: String) -> PathValues {
    var copy = self
    copy.values.append((name, text))
    return copy
  }
}
