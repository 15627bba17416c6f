import SalesforceSDKCommon

/// Whether two values mean the same to the server.
///
/// The relations, each of which includes the one before it: ``same(_:_:)``, ``isStored(_:as:)``,
/// ``mayBeStored(_:as:)``. The first decides whether a value counts as edited, so that no edit is
/// lost; the others decide whether a sent value has arrived.
enum ServerEquality {
  /// Compares values as the server stores them: an empty text is null, whitespace around a text is
  /// removed, dates are instants, and the type and address of a related record are ignored.
  static func same(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    if left == right { return true }
    switch (left ?? .null, right ?? .null) {
    case (.string(let left), .string(let right)):
      if left.trimmed == right.trimmed { return true }
      guard let date = SalesforceDate.parse(left) else { return false }
      return date == SalesforceDate.parse(right)
    case (.null, .string(let text)), (.string(let text), .null):
      return text.trimmed.isEmpty
    case (.object(let left), .object(let right)):
      let keys = Set(left.keys).union(right.keys).subtracting([SyncKeys.attributes])
      return keys.allSatisfy { same(left[$0], right[$0]) }
    case (let left, let right):
      return left == right
    }
  }

  /// Whether `stored` is what the server has of a value that was sent: the same, the same number in the precision
  /// of a double, or a number or Boolean whose spelling was sent as a text, or is stored as one.
  static func isStored(_ sent: JSONValue, as stored: JSONValue?) -> Bool {
    if same(sent, stored) { return true }
    if let number = sent.double, let other = stored?.double { return number == other }
    guard (sent.string == nil) != (stored?.string == nil) else { return false }
    if let number = sent.number, let other = stored?.number { return number == other }
    if let truth = sent.truth, let other = stored?.truth { return truth == other }
    return false
  }

  /// Whether `stored` may be what the server makes of a value that was sent when it stores it: a text with other signs
  /// or another case, a rounded number, also one that was spelled as a text.
  static func mayBeStored(_ sent: JSONValue, as stored: JSONValue?) -> Bool {
    if let text = sent.string, let other = stored?.string {
      let (left, right) = (text.lettersAndDigits, other.lettersAndDigits)
      return !left.isEmpty && left == right
    }
    if let number = sent.number, let other = stored?.number { return isRounded(number, to: other) }
    return isStored(sent, as: stored)
  }

  /// Whether the server may store a value in another form: a text that is not empty, a number or a Boolean.
  static func hasForms(_ sent: JSONValue) -> Bool {
    sent.object == nil && sent.array == nil && !same(sent, nil)
  }

  /// Whether a number is what rounding another to its decimals gives. A wider bound takes another user's number for
  /// a form of the one that was sent.
  private static func isRounded(_ number: Double, to other: Double) -> Bool {
    var scale = 1.0
    while scale < 1e16, (other * scale).rounded() / scale != other { scale *= 10 }
    return abs(number - other) <= 0.500_000_1 / scale
  }
}

extension JSONValue {
  /// The number that the value is or spells, as a decimal without blanks inside; nil if it is none.
  fileprivate var number: Double? {
    guard let text = string?.trimmed else { return double }
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
    return Double(text)
  }

  /// The Boolean that the value is or spells; nil if it is none.
  fileprivate var truth: Bool? {
    switch string?.trimmed.lowercased() {
    case "true": true
    case "false": false
    case nil: bool
    default: nil
    }
  }
}

extension String {
  /// The text in lower case without anything else than letters and digits.
  fileprivate var lettersAndDigits: String {
    String(lowercased().filter { $0.isLetter || $0.isNumber })
  }
}
