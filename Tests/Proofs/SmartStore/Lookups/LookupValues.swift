import SmartStore
import TestSupport

/// Draws the names and values of one history: few of each, so that they meet again, each time in another
/// spelling.
struct LookupValues {
  typealias Recipe = @Sendable (inout SeededGenerator) -> SpelledValue

  /// The paths, as their names.
  let paths: [[String]]
  private let recipes: [Recipe]

  static let names = [
    "a", "Name", "cafe\u{301}", "x/y", "it's", "a\"b", "\"q\"", "back\\slash",
    "tab\tname",
    "\u{1}", "\u{1f418}", "two words", "z[0]", "b[c", "]", "$", "*", "%", "_x", "\u{7f}",
    "\u{fffd}", "@id",
  ]

  /// Words that a match looks for: they stand between blanks in a text.
  static let words = ["grey", "steel"]

  private static let texts = [
    "", " ", "grey", "Grey", "GREY", "a grey steel", "caf\u{e9} grey", "cafe\u{301}", "c", "c\0b",
    "c\0", "\0",
    "x/y", "it's", "\"", "\\", "\\u0041", "\n grey \t", "1", "0", "01", "1.0", "1e5", "100000",
    "-0", "true",
    "null", "NaN", "Infinity", "%", "_", "[\"grey\"]", "{}", "2024-02-29T00:00:00.000+0000",
    "\u{1f418}",
    "\u{fffd}", "\u{feff}", "\u{7f}\u{1}", String(repeating: "long ", count: 300),
  ]

  /// Digits and a power of ten.
  private static let numbers: [(String, Int)] = [
    ("", 0), ("1", 0), ("1", 5), ("15", -1), ("25", -1), ("1", -7), ("1", 2), ("31", 0),
    ("12345", -4),
    ("9007199254740991", 0), ("9007199254740992", 0), ("9007199254740993", 0),
    ("9223372036854775807", 0),
    ("9223372036854775808", 0), ("9223372036854775806", 0), ("1844674407370955161", 1),
    ("12345678901234567", 3), ("1", 19), ("1", 22), ("17976931348623157", 292), ("5", -324),
    ("1", 400),
    ("3", 38), ("123456789", -4),
  ]

  init(_ random: inout SeededGenerator) {
    let names = Self.names.shuffled(using: &random)
    paths = [
      [names[0]], [names[1]], [names[2]], [names[3], names[4]], [names[5]], [names[0], names[1]],
    ]
    var scalars: [Recipe] = [
      { _ in .null }, { _ in .bool(true) }, { random in .bool(random.pick(2) == 0) },
    ]
    for text in Self.texts.shuffled(using: &random).prefix(7) {
      scalars.append { _ in .text(text) }
    }
    for (digits, power) in Self.numbers.shuffled(using: &random).prefix(6) {
      let isNegative = random.pick(3) == 0
      scalars.append { .number(SpelledNumber(isNegative, digits, power, &$0)) }
    }
    let name = names[1]
    let known = scalars
    func part(_ random: inout SeededGenerator) -> SpelledValue {
      let recipe = random.pick(known)
      return recipe(&random)
    }
    let (first, second, third) = (random.pick(known), random.pick(known), random.pick(known))
    recipes =
      scalars + [
        { .array([first(&$0)]) }, { .array([first(&$0), .text("a steel b"), second(&$0)]) },
        { _ in .array([.null]) }, { _ in .array([]) }, { _ in .object([]) },
        { .object([(name, third(&$0))]) },
        { .array([.object([(name, first(&$0))]), .object([]), .object([(name, .null)])]) },
        { _ in .array([.object([(name, .null)])]) },
      ]
  }

  /// A value; one of a few.
  func value(_ random: inout SeededGenerator) -> SpelledValue {
    let recipe = random.pick(recipes)
    return recipe(&random)
  }

  /// An element with values at some of the paths.
  func element(_ random: inout SeededGenerator) -> SpelledValue {
    var members: [(name: String, value: SpelledValue)] = []
    for path in paths
    where random.pick(3) > 0 && !members.contains(where: { isSame($0.name, path[0]) }) {
      var value = value(&random)
      if path.count > 1 {
        value = .object([(path[1], value)])
        if random.pick(4) == 0 {
          value = .array([value, .object([]), .object([(path[1], .null)])])
        }
      }
      members.append((path[0], value))
    }
    return .object(members.shuffled(using: &random))
  }

  private func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }
}
