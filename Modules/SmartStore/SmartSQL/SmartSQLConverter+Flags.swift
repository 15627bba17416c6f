import SalesforceSDKCommon

// Comparisons of flags of local changes with the texts by which apps on Android ask.
extension SmartSQLConverter {
  /// Lets a flag that is compared with the text `'true'` or `'false'`, as on Android, find what a Boolean finds. Lists of
  /// values follow with the literals in them.
  ///
  /// - Throws: `invalidQuerySpec` for such a text in any other comparison, which would find nothing.
  mutating func convertFlagComparison(_ path: String) throws(SmartStoreError) {
    var place = endOfBlanks(from: position)
    // A comparison of more than the flag, such as lower({soup:__local__}), stays as it is written.
    let start = place
    while place < source.count, source[place] == UInt8(ascii: ")") {
      place = endOfBlanks(from: place + 1)
    }
    if word(at: place, "collate") {
      place = endOfBlanks(from: tokenEnd(from: endOfBlanks(from: place + 7)))
    }
    let isAlone = place == start
    let isNegated = word(at: place, "not")
    if isNegated { place = endOfBlanks(from: place + 3) }
    if word(at: place, "in") {
      let list = endOfBlanks(from: place + 2)
      if isAlone, list < source.count, source[list] == UInt8(ascii: "(") {
        flagList = scopes.depth + 1
        listedFlag = path
      }
      return
    }
    guard let comparison = comparison(at: place), !isNegated || comparison.isEqual == nil else {
      return
    }
    let literal = comparison.operand
    flagOperand = (literal, path)
    guard literal < source.count, source[literal] == UInt8(ascii: "'") else { return }
    let end = tokenEnd(from: literal)
    guard let isEqual = comparison.isEqual, isAlone,
      let others = Self.spellings(ofFlag: source[literal..<end])
    else {
      if FlagText.isMeant(literal: source[literal..<end]) { throw flagRefusal(literal, path) }
      return
    }
    output.append(contentsOf: isEqual ? " IN (".utf8 : " NOT IN (".utf8)
    output.append(contentsOf: source[literal..<end])
    output.append(contentsOf: ", \(others))".utf8)
    position = end
  }

  /// The comparison that begins at a place: whether it is `=` or its opposite, nil for other ones, and the start of its
  /// second operand.
  private func comparison(at place: Int) -> (isEqual: Bool?, operand: Int)? {
    if let found = Self.comparisons.first(where: { starts(with: $0.text, at: place) }) {
      return (found.isEqual, endOfBlanks(from: place + found.text.utf8CodeUnitCount))
    }
    guard let first = Self.wordComparisons.first(where: { word(at: place, $0) }) else { return nil }
    var operand = endOfBlanks(from: place + first.utf8CodeUnitCount)
    for more in Self.beforeOperands.reversed() where word(at: operand, more) {
      operand = endOfBlanks(from: operand + more.utf8CodeUnitCount)
    }
    return (nil, operand)
  }

  /// Refuses a flag as the second operand of a comparison with a text, as in `'true' = {soup:__local__}`.
  mutating func checkFlagBefore(_ start: Int, _ path: String) throws(SmartStoreError) {
    var end = start
    if end > 0, source[end - 1] == 0x2e {
      end -= 1
      while end > 0, isWordByte(source[end - 1]) { end -= 1 }
    }
    end = startOfBlanks(before: end)
    var comparison = end
    while comparison > 0, "=<>!".utf8.contains(source[comparison - 1]) { comparison -= 1 }
    if comparison == end {
      for name in Self.beforeOperands + Self.wordComparisons {
        let from = comparison - name.utf8CodeUnitCount
        guard from >= 0, word(at: from, name), from == 0 || !isWordByte(source[from - 1]) else {
          continue
        }
        comparison = startOfBlanks(before: from)
      }
    }
    guard comparison < end else { return }
    let operand = startOfBlanks(before: comparison)
    if let index = parameters.index(endingAt: operand) { flagParameters[index] = path }
    guard operand > 2, source[operand - 1] == UInt8(ascii: "'") else { return }
    for length in [6, 7] where operand >= length && source[operand - length] == UInt8(ascii: "'") {
      let literal = (operand - length)..<operand
      if FlagText.isMeant(literal: source[literal]) { throw flagRefusal(literal.lowerBound, path) }
    }
  }

  func flagRefusal(_ place: Int, _ path: String) -> SmartStoreError {
    FlagText.refusal(
      "at character \(character(at: place))", flag: path,
      remedy: "Write {soup:\(path)} = 1, or = 0, with the flag first.")
  }

  /// Notes a parameter, and whether it is compared with a flag.
  mutating func noteParameter(_ start: Int, named range: Range<Int>) {
    guard range.count > 1 || source[start] == UInt8(ascii: "?") else { return }
    let index = parameters.add(
      String(decoding: source[range], as: UTF8.self), endingAt: range.upperBound)
    if let flagOperand, flagOperand.start == start { flagParameters[index] = flagOperand.path }
    if flagList == scopes.depth { flagParameters[index] = listedFlag }
  }

  /// Whether a comma or the end of a list follows.
  func isLastInTerm() -> Bool {
    let next = endOfBlanks(from: position)
    guard next < source.count else { return false }
    return source[next] == UInt8(ascii: ",") || source[next] == UInt8(ascii: ")")
  }

  private static var comparisons: [(text: StaticString, isEqual: Bool?)] {
    [
      ("==", true), ("=", true), ("!=", false), ("<>", false), ("<=", nil), (">=", nil), ("<", nil),
      (">", nil),
    ]
  }

  /// The words of `is not distinct from` after the first one, the last one first.
  private static var beforeOperands: [StaticString] { ["from", "distinct", "not"] }

  private static var wordComparisons: [StaticString] { ["is", "like", "glob", "between", "when"] }

  /// The spellings in an index of the Boolean that a literal names; nil if it names none.
  static func spellings(ofFlag literal: Source.SubSequence) -> String? {
    if literal.elementsEqual("'true'".utf8) { return "'1', 1" }
    return literal.elementsEqual("'false'".utf8) ? "'0', 0" : nil
  }

  func word(at start: Int, _ word: StaticString) -> Bool {
    let end = min(start + word.utf8CodeUnitCount, source.count)
    return wordIs(start..<end, word) && !(end < source.count && isWordByte(source[end]))
  }

  func starts(with text: StaticString, at start: Int) -> Bool {
    text.withUTF8Buffer { source[min(start, source.count)...].starts(with: $0) }
  }
}
