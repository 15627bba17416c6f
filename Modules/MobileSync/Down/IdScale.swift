import SalesforceSDKCommon

/// Record ids as numbers of base 62, which is how the platform orders them.
enum IdScale {
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  /// 62^10 fits into a number of 64 bits.
  private static let mostDigits = 10

  /// The ids that cut the ids from `lowest` to `highest` into ranges of equal width, ascending.
  ///
  /// - Returns: At most `count` - 1 ids, none of them at or below `lowest`; none at all if these are no ids of one form,
  ///   or too close to each other.
  static func boundaries(from lowest: String, to highest: String, count: Int) -> [String] {
    let (low, high) = (significant(lowest), significant(highest))
    guard count > 1, low.count == high.count else { return [] }
    let shared = zip(low, high).prefix { $0 == $1 }.count
    let end = min(low.count, shared + mostDigits)
    guard let first = number(low[shared..<end]), let last = number(high[shared..<end]),
      first < last
    else { return [] }
    let width = last - first
    let parts = min(UInt64(count), width)
    return (1..<parts).map { part in
      // In two steps, so that nothing overflows.
      let value = first + width / parts * part + width % parts * part / parts
      let text = low[..<shared] + text(of: value, length: end - shared)
      return String(
        decoding: text + repeatElement(digits[0], count: low.count - end), as: UTF8.self)
    }
  }

  /// The characters of an id that order it: of the platform's 18 the last three only repeat the case of the others.
  private static func significant(_ id: String) -> [UInt8] {
    guard let known = SalesforceId(id), known.text == id else { return Array(id.utf8) }
    return Array(known.shortText.utf8)
  }

  private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for byte in text {
      guard let digit = digits.firstIndex(of: byte) else { return nil }
      number = number * 62 + UInt64(digit)
    }
    return number
  }

  private static func text(of number: UInt64, length: Int) -> [UInt8] {
    var rest = number
    var text = [UInt8](repeating: digits[0], count: length)
    for index in text.indices.reversed() {
      text[index] = digits[Int(rest % 62)]
      rest /= 62
    }
    return text
  }
}
