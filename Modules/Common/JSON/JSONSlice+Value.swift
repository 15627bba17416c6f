extension JSONSlice {
  /// A deep copy of this value. If a key occurs twice, the last value is kept.
  public var value: JSONValue { document.value(at: index) }
}

extension JSONDocument {
  /// The value at a word, copied. It recurses no deeper than ``JSONLimits/greatestDepth``.
  func value(at index: Int) -> JSONValue {
    let word = self[index]
    switch word.tag {
    case .null: return .null
    case .yes: return .bool(true)
    case .no: return .bool(false)
    case .number:
      return withText(of: index) { text in
        JSONDecimal(text).jsonValue(text: String(decoding: text, as: UTF8.self))
      }
    case .string, .escapedString: return .string(string(at: index))
    case .array:
      var elements: [JSONValue] = []
      elements.reserveCapacity(self[index + 1].count)
      var at = index + 2
      while at < index + word.length {
        elements.append(value(at: at))
        at += self[at].span
      }
      return .array(elements)
    case .object:
      var members = JSONObject()
      members.reserveCapacity(self[index + 1].count)
      var at = index + 2
      while at < index + word.length {
        members[string(at: at)] = value(at: at + 1)
        at += 1 + self[at + 1].span
      }
      return .object(members)
    }
  }
}

extension JSONDecimal {
  /// The number as a value: an integer if it is written as one and fits, a double if that keeps
  /// its exact decimal value, else as written.
  func jsonValue(text: String) -> JSONValue {
    if isPlainInteger, digitCount > 0 {
      return int64.map { .integer($0) } ?? .number(JSONNumber(checked: text))
    }
    if isPlainInteger, !isNegative { return .integer(0) }
    return exactDouble.map { .double($0) } ?? .number(JSONNumber(checked: text))
  }

  /// The nearest double if its shortest text is the same number to the last digit.
  var exactDouble: Double? {
    guard let double else { return nil }
    // Up to 15 digits survive in any double that is not close to the ends of the range.
    if digitCount <= 15, abs(exponent) < 280 { return double }
    var shortest = double.description
    return shortest.withUTF8 { isSame(as: JSONDecimal($0)) } ? double : nil
  }
}
