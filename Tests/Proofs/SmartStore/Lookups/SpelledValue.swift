import TestSupport

/// A JSON value as a model knows it: what it means, apart from how a text spells it.
indirect enum SpelledValue: Sendable {
  case null
  case bool(Bool)
  case number(SpelledNumber)
  case text(String)
  case array([SpelledValue])
  /// Members in order; names are different.
  case object([(name: String, value: SpelledValue)])
}

/// A decimal number: digits without zeros at either end, times ten to `power`; and one of its spellings.
struct SpelledNumber: Sendable {
  let isNegative: Bool
  /// Empty for zero.
  let digits: String
  let power: Int
  /// As JSON writes it here.
  let spelling: String

  /// Draws a spelling of the number.
  init(_ isNegative: Bool, _ digits: String, _ power: Int, _ random: inout SeededGenerator) {
    self.isNegative = isNegative
    self.digits = digits
    self.power = power
    let sign = isNegative ? "-" : ""
    guard !digits.isEmpty else {
      spelling = sign + random.pick(["0", "0", "0.0", "0e7", "0.00E-3"])
      return
    }
    var spellings = [
      "\(sign)\(digits)e\(power)", "\(sign)\(digits)00E\(power - 2)",
      "\(sign)\(digits.prefix(1)).\(digits.dropFirst())0e\(power + digits.count - 1)",
    ]
    if (0...25).contains(power) {
      let whole = digits + String(repeating: "0", count: power)
      // The usual spelling is the likeliest.
      spellings += [String](repeating: sign + whole, count: 4) + ["\(sign)\(whole).0"]
    } else if (-20..<0).contains(power) {
      let padded = String(repeating: "0", count: max(0, 1 - power - digits.count)) + digits
      let fraction = "\(sign)\(padded.dropLast(-power)).\(padded.suffix(-power))"
      spellings += [fraction, fraction, fraction + "0"]
    }
    spelling = random.pick(spellings)
  }

  /// The digits as an integer times ten to the power; nil unless it is a 64-bit integer.
  var int64: Int64? {
    if digits.isEmpty { return 0 }
    guard (0...18).contains(power) else { return nil }
    return Int64((isNegative ? "-" : "") + digits + String(repeating: "0", count: power))
  }

  /// Without the fraction, within 64 bits.
  var truncated: Int64 {
    if let int64 { return int64 }
    let whole = digits.count + power
    if whole <= 0 { return 0 }
    let sign = isNegative ? "-" : ""
    if power < 0, let value = Int64(sign + digits.prefix(whole)) { return value }
    return isNegative ? .min : .max
  }

  /// The nearest double, infinite beyond the range.
  var double: Double {
    Double("\(isNegative ? "-" : "")\(digits.isEmpty ? "0" : digits)e\(power)") ?? .nan
  }

  /// The one spelling that an index keeps.
  var plainText: String {
    guard !digits.isEmpty else { return "0" }
    let sign = isNegative ? "-" : ""
    let whole = digits.count + power
    if power >= 0, whole <= 40 { return sign + digits + String(repeating: "0", count: power) }
    if power < 0, whole > 0 { return "\(sign)\(digits.prefix(whole)).\(digits.suffix(-power))" }
    if power < 0, whole > -4 { return "\(sign)0.\(String(repeating: "0", count: -whole))\(digits)" }
    let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
    let shown = whole - 1
    return
      "\(sign)\(digits.prefix(1))\(fraction)e\(shown < 0 ? "-" : "+")\(abs(shown) < 10 ? "0" : "")\(abs(shown))"
  }
}

extension SpelledValue {
  /// The JSON text in one of its spellings.
  func spelled(_ random: inout SeededGenerator) -> String {
    func blank() -> String { random.pick(12) == 0 ? random.pick([" ", "\t", "\n "]) : "" }
    switch self {
    case .null: return "null"
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let number): return number.spelling
    case .text(let text): return Self.spelled(text, &random)
    case .array(let items):
      return "[" + items.map { blank() + $0.spelled(&random) + blank() }.joined(separator: ",")
        + "]"
    case .object(let members):
      return "{"
        + members.map { member in
          blank() + Self.spelled(member.name, &random) + blank() + ":" + blank()
            + member.value.spelled(&random)
        }.joined(separator: ",") + blank() + "}"
    }
  }

  /// A string in quotes, each character as it is, by its short escape, or by its number.
  private static func spelled(_ text: String, _ random: inout SeededGenerator) -> String {
    let rate = random.pick([1, 4, 1_000_000])
    var result = "\""
    for scalar in text.unicodeScalars {
      let short: [Unicode.Scalar: String] = [
        "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u{8}": "\\b",
        "\u{c}": "\\f",
      ]
      let needsEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      if random.pick(rate) == 0 || (needsEscape && short[scalar] == nil) {
        for unit in String(scalar).utf16 {
          let hex = String(unit, radix: 16, uppercase: random.pick(2) == 0)
          result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
      } else if scalar == "/", random.pick(2) == 0 {
        result += "\\/"
      } else {
        result += short[scalar] ?? String(scalar)
      }
    }
    return result + "\""
  }

  /// The compact JSON text that an index of text keeps of an array or object.
  var compactText: String {
    switch self {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number): number.plainText
    case .text(let text): Self.quoted(text)
    case .array(let items): "[" + items.map(\.compactText).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.name)):\($0.value.compactText)" }.joined(separator: ",")
        + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// The member with exactly this name.
  func member(_ name: String) -> SpelledValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// What a path leads to by SS-76 and SS-79; null is as good as nothing.
  func projected(_ names: ArraySlice<String>) -> SpelledValue? {
    guard let name = names.first else {
      if case .null = self { return nil }
      return self
    }
    if case .array(let items) = self {
      let found = items.compactMap { $0.projected(names) }
      return found.isEmpty ? nil : .array(found)
    }
    return member(name)?.projected(names.dropFirst())
  }

  /// The same without a way into arrays.
  func extracted(_ names: ArraySlice<String>) -> SpelledValue? {
    guard let name = names.first else {
      if case .null = self { return nil }
      return self
    }
    return member(name)?.extracted(names.dropFirst())
  }
}
