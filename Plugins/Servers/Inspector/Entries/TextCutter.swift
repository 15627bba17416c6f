import SalesforceSDKCommon

/// The positions at which texts of a response were truncated.
struct Cuts: Sendable {
  private(set) var document: JSONValue = []
  private var places: [JSONValue] = []

  /// - Parameter characters: The Unicode scalars of the whole text.
  mutating func add(_ pointer: String, _ characters: Int) {
    places.append(["pointer": .string(pointer), "characters": .integer(Int64(characters))])
    document = .array(places)
  }
}

/// Cuts the long texts of a JSON value, whose other bytes stay as they are: the spelling of numbers, the order
/// of members and members that occur twice.
struct TextCutter {
  /// The longest text, in Unicode scalars.
  let limit: Int
  private(set) var cuts = Cuts()

  init(limit: Int) { self.limit = limit }

  /// The containers around the current position: a member's name as it is written, or a position.
  private enum Step {
    case member(ArraySlice<UInt8>)
    case item(Int)
  }

  /// The value with its texts cut.
  ///
  /// - Parameter text: JSON that was parsed before.
  /// - Parameter pointer: The place of the value in the response (RFC 6901).
  mutating func cut(_ text: [UInt8], at pointer: String) -> [UInt8] {
    // No text has more scalars than bytes.
    if text.count <= limit { return text }
    var output: [UInt8] = []
    output.reserveCapacity(min(text.count, 1 << 20))
    var steps: [Step] = []
    var isName = false
    var copied = 0
    var at = 0
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "{"):
        steps.append(.member([]))
        isName = true
      case UInt8(ascii: "["): steps.append(.item(0))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        steps.removeLast()
        isName = false
      case UInt8(ascii: ","):
        if case .item(let position)? = steps.last {
          steps[steps.count - 1] = .item(position + 1)
        } else {
          isName = true
        }
      case UInt8(ascii: "\""):
        let end = JSONTextScan.end(of: text, from: at)
        if isName {
          steps[steps.count - 1] = .member(text[at..<end])
          isName = false
        } else if end - at - 2 > limit {
          let (characters, kept) = JSONTextScan.measure(text, at + 1, end - 1, limit: limit)
          if characters > limit {
            output += text[copied..<kept]
            output.append(UInt8(ascii: "\""))
            copied = end
            cuts.add(pointer + Self.pointer(steps), characters)
          }
        }
        at = end
        continue
      default: break
      }
      at += 1
    }
    output += text[copied...]
    return output
  }

  /// A value for the cell of a table: objects and arrays as texts, all texts cut.
  mutating func cell(_ projection: JSONProjection, at pointer: String) -> [UInt8] {
    switch projection {
    case .missing: return Array("null".utf8)
    case .value(let slice) where slice.kind != .object && slice.kind != .array:
      return cut(Array(slice.utf8), at: pointer)
    default:
      let text = projection.compactText ?? "null"
      // Long ones need not be escaped to their end.
      let characters = text.unicodeScalars.count
      guard characters > limit else { return Array(JSONValue.string(text).text.utf8) }
      cuts.add(pointer, characters)
      let kept = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
      return Array(JSONValue.string(kept).text.utf8)
    }
  }

  private static func pointer(_ steps: [Step]) -> String {
    steps.map { step in
      switch step {
      case .item(let position): return "/\(position)"
      case .member(let name):
        let text = (try? JSONSlice(parsing: Array(name)))?.string ?? ""
        return "/" + text.replacing("~", with: "~0").replacing("/", with: "~1")
      }
    }.joined()
  }
}

/// Walks over the bytes of a JSON string.
enum JSONTextScan {
  /// Behind the closing quote of the string that begins at `start`.
  static func end(of text: [UInt8], from start: Int) -> Int {
    var at = start + 1
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\\"): at += 2
      case UInt8(ascii: "\""): return at + 1
      default: at += 1
      }
    }
    return text.count
  }

  /// The Unicode scalars between two places inside of a string, and where the first `limit` of them end. A pair
  /// of escaped surrogates is one.
  static func measure(
    _ text: [UInt8], _ start: Int, _ end: Int, limit: Int
  ) -> (characters: Int, kept: Int) {
    var (at, count, kept) = (start, 0, end)
    while at < end {
      if count == limit { kept = at }
      count += 1
      let byte = text[at]
      if byte == UInt8(ascii: "\\") {
        at += isEscapedPair(text, at, end) ? 12 : text[at + 1] == UInt8(ascii: "u") ? 6 : 2
      } else {
        at += byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      }
    }
    return (count, kept)
  }

  private static func isEscapedPair(_ text: [UInt8], _ at: Int, _ end: Int) -> Bool {
    at + 12 <= end && isSurrogate(text, at, "89ab") && isSurrogate(text, at + 6, "cdef")
  }

  /// Whether an escape of a surrogate stands here whose third digit is one of `digits`.
  private static func isSurrogate(_ text: [UInt8], _ at: Int, _ digits: StaticString) -> Bool {
    guard text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u"),
      text[at + 2] | 0x20 == UInt8(ascii: "d")
    else { return false }
    return digits.withUTF8Buffer { $0.contains(text[at + 3] | 0x20) }
  }
}
