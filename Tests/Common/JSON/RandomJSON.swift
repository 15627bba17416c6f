import SalesforceSDKCommon
import TestSupport

/// Makes JSON values and the many ways to write them.
struct RandomJSON {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  mutating func string() -> String {
    let pieces = [
      "a", "Id", "\"", "\\", "/", "\n", "\u{1}", "\u{7f}", "ü", "€", "𝄞", "👩‍👩‍👧", "\u{2028}", "é",
      "a long run of plain letters", "", "0",
    ]
    return (0..<pick(5)).map { _ in pieces[pick(pieces.count)] }.joined()
  }

  mutating func number() -> JSONValue {
    switch pick(5) {
    case 0: return .integer(Int64(pick(200) - 100))
    case 1: return .integer([Int64.min, .max, .min + 1, 1 << 53, -(1 << 53) - 1][pick(5)])
    case 2: return .double(Double(pick(2_000_000) - 1_000_000) / 1000)
    case 3:
      let double = Double(bitPattern: generator.next())
      return .double(double.isFinite ? double : -0.0)
    default:
      let texts = [
        "18446744073709551616", "3.141592653589793238462643", "1e400", "-1e-400", "1E+2000000000",
      ]
      return JSONNumber(texts[pick(texts.count)]).map { .number($0) } ?? .null
    }
  }

  mutating func value(depth: Int) -> JSONValue {
    switch pick(depth > 0 ? 8 : 5) {
    case 0: return .null
    case 1: return .bool(pick(2) == 0)
    case 2: return number()
    case 3, 4: return .string(string())
    case 5, 6:
      var object = JSONObject()
      for _ in 0..<pick(6) { object[string()] = value(depth: depth - 1) }
      return .object(object)
    default:
      return .array((0..<pick(6)).map { _ in value(depth: depth - 1) })
    }
  }

  /// One of the texts that mean `value`, with blanks and escapes where they may stand.
  mutating func text(of value: JSONValue) -> String {
    switch value {
    case .array(let elements):
      var parts: [String] = []
      for element in elements { parts.append(blanks() + text(of: element) + blanks()) }
      return "[" + (parts.isEmpty ? blanks() : parts.joined(separator: ",")) + "]"
    case .object(let members):
      var parts: [String] = []
      for (key, member) in members {
        parts.append(
          blanks() + quoted(key) + blanks() + ":" + blanks() + text(of: member) + blanks())
      }
      return "{" + (parts.isEmpty ? blanks() : parts.joined(separator: ",")) + "}"
    case .string(let string): return quoted(string)
    default: return value.text
    }
  }

  private mutating func blanks() -> String { ["", "", "", " ", "\n\t", "\r\n  "][pick(6)] }

  private mutating func quoted(_ string: String) -> String {
    guard pick(3) == 0 else { return JSONValue.string(string).text }
    var text = "\""
    for unit in string.utf16 {
      let digits = String(unit, radix: 16, uppercase: pick(2) == 0)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return text + "\""
  }
}
