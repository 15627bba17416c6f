import struct Foundation.Date

/// How an auto number field shows its numbers: `CASE-{0000}`, `{YYYY}{MM}-{00}`.
struct AutoNumberFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    /// The number, with zeros up to a width.
    case number(width: Int)
    case year(digits: Int)
    case month
    case day
  }

  /// What the standard objects have (`CaseNumber`): eight digits, the first record bearing 1001.
  private static let standard = "{00000000}"
  private let parts: [Part]
  private let offset: Int

  /// - Parameter text: The display format; nil for that of the standard objects.
  init(_ text: String?) {
    offset = text == nil ? 1000 : 0
    var parts: [Part] = []
    var rest = (text ?? Self.standard)[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      let name = rest[rest.index(after: open)..<close]
      switch name.uppercased() {
      case "YYYY": parts.append(.year(digits: 4))
      case "YY": parts.append(.year(digits: 2))
      case "MM": parts.append(.month)
      case "DD": parts.append(.day)
      default: parts.append(.number(width: name.count))
      }
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    self.parts = parts
  }

  /// The text of the object's record with a running number, created on a day (`yyyy-MM-dd...`).
  func text(number: Int, day: String) -> String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .number(let width):
        let digits = String(number + offset)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
      case .year(let digits): return String(day.prefix(4).suffix(digits))
      case .month: return String(day.dropFirst(5).prefix(2))
      case .day: return String(day.dropFirst(8).prefix(2))
      }
    }.joined()
  }
}
