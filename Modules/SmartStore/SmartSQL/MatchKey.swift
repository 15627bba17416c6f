import SalesforceSDKCommon

/// The key of a full-text search.
enum MatchKey {
  /// Restricts every bare term of `key` to `field`.
  ///
  /// Terms that have a column already (`{soup:path}:term`), the words and, or, not in any case,
  /// parentheses and whitespace do not change; a phrase in double quotes counts as one term.
  /// Nothing is checked.
  static func qualified(_ key: String, field: String?) -> String {
    guard let field else { return key }
    let source = Array(key.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(source.count * 2)
    var position = 0
    while position < source.count {
      let byte = source[position]
      if isSeparator(byte) {
        output.append(byte)
        position += 1
        continue
      }
      let end = termEnd(source, position)
      let term = source[position..<end]
      if byte != UInt8(ascii: "{"), !isOperator(term) {
        output.append(contentsOf: field.utf8)
        output.append(UInt8(ascii: ":"))
      }
      output.append(contentsOf: term)
      position = end
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Returns the key with `{soup:path}` replaced by the names of full-text columns.
  ///
  /// - Parameter version: The engine that reads the key. FTS4 accepts a column only before a term:
  ///   if anything else follows the colon, it stops reading or searches all columns, without an
  ///   error.
  static func resolved(
    _ key: String, soups: [MemberKey: Soup], version: SmartStoreOptions.FullTextVersion?
  ) throws(SmartStoreError) -> String {
    var output = ""
    var rest = key[...]
    var inPhrase = false
    while let character = rest.first {
      if character == "\"" { inPhrase.toggle() }
      guard character == "{", !inPhrase else {
        output.append(character)
        rest.removeFirst()
        continue
      }
      guard let end = rest.firstIndex(of: "}") else {
        throw SmartStoreError(
          .invalidReference,
          "Invalid soup/path reference in the match key: a brace is not closed.")
      }
      let parts = rest[rest.index(after: rest.startIndex)..<end].split(
        separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let soup = soups[MemberKey(String(parts[0]))],
        let column = soup.fullTextColumn(forPath: String(parts[1]))
      else {
        throw SmartStoreError(
          .invalidReference,
          "Invalid soup/path reference in the match key: it does not name a full_text path.")
      }
      output.append(column)
      rest = rest[rest.index(after: end)...]
      guard version != .fts4 || aimsTerm(rest.utf8) else {
        throw SmartStoreError(
          .invalidQuerySpec,
          "Invalid query spec: in a match key of FTS4 a reference aims one term, {soup:path}:term. "
            + "To search a phrase in one path, name the path in the query spec.")
      }
    }
    return output
  }

  /// Whether a reference is followed by a colon and, directly after it, a term.
  private static func aimsTerm(_ rest: Substring.UTF8View) -> Bool {
    guard rest.first == UInt8(ascii: ":") else { return false }
    return rest.dropFirst().prefix { !isSeparator($0) && $0 != UInt8(ascii: "\"") }
      .contains { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...0xff:
          true
        default: false
        }
      }
  }

  /// Returns the end of the term that begins at `start`. A quoted phrase and a reference in braces
  /// may contain whitespace and parentheses.
  private static func termEnd(_ source: [UInt8], _ start: Int) -> Int {
    var end = start
    while end < source.count, !isSeparator(source[end]) {
      switch source[end] {
      case UInt8(ascii: "\""):
        end = source[(end + 1)...].firstIndex(of: UInt8(ascii: "\"")).map { $0 + 1 } ?? source.count
      case UInt8(ascii: "{"):
        end = source[end...].firstIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? source.count
      default:
        end += 1
      }
    }
    return end
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), 0x09...0x0d, UInt8(ascii: "("), UInt8(ascii: ")"): true
    default: false
    }
  }

  private static func isOperator(_ term: ArraySlice<UInt8>) -> Bool {
    switch String(decoding: term, as: UTF8.self).lowercased() {
    case "and", "or", "not": true
    default: false
    }
  }
}
