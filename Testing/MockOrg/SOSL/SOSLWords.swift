/// Cuts texts into the words that searches compare: letters and digits, without regard to case, parted
/// by everything else.
enum SOSLWords {
  /// The words of a text.
  static func words(of text: String) -> [[Unicode.Scalar]] {
    var words: [[Unicode.Scalar]] = []
    var word: [Unicode.Scalar] = []
    for scalar in text.unicodeScalars {
      guard isWordPart(scalar), !standsAlone(scalar) else {
        if !word.isEmpty { words.append(word) }
        word = []
        if standsAlone(scalar) { words.append([scalar]) }
        continue
      }
      word.append(scalar.foldedForSOQL)
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return (0x30...0x39).contains(scalar.value) || (0x61...0x7A).contains(scalar.value | 0x20)
    }
    return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      || scalar.properties.generalCategory == .nonspacingMark
  }

  /// Writing without blanks between words: every character is a word, and neighbours stay neighbours.
  static func standsAlone(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x3040...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0x20000...0x2FA1F: true
    default: false
    }
  }
}

/// Decides whether a record has what a search looks for.
struct SOSLMatcher {
  let expression: SOSLExpression

  /// - Parameter texts: The record's fields; words of a phrase have to stand in the same one.
  func matches(_ texts: [String]) -> Bool {
    matches(expression, texts.map(SOSLWords.words))
  }

  private func matches(
    _ expression: SOSLExpression, _ fields: [[[Unicode.Scalar]]]
  ) -> Bool {
    switch expression {
    case .nothing: false
    case .and(let parts): parts.allSatisfy { matches($0, fields) }
    case .or(let parts): parts.contains { matches($0, fields) }
    case .not(let part): !matches(part, fields)
    case .words(let words): fields.contains { Self.contains($0, words) }
    }
  }

  private static func contains(_ field: [[Unicode.Scalar]], _ words: [SOSLWord]) -> Bool {
    guard let first = words.first, field.count >= words.count else { return false }
    return (0...field.count - words.count).contains { start in
      first.matches(field[start])
        && words.indices.dropFirst().allSatisfy { words[$0].matches(field[start + $0]) }
    }
  }
}
