import SalesforceSDKCommon

/// The comparison of the values at a path with a key, as SQL and the values to bind.
///
/// Two values are equal if they are by JSON's own rules, whatever the type of the index (SS-112). The column of an
/// integer index has no fractions, and SQLite up to 3.44 ends a text at a NUL: where an index says too little about a
/// key, it chooses the entries, and ``SoupValueFunction`` decides.
struct KeyComparison {
  enum Operator: String {
    case equal = "="
    case atLeast = ">="
    case atMost = "<="
  }

  /// The purpose of a comparison.
  enum Purpose {
    /// A query: as on the platform, an integer index finds 1.5 by 1, and a text names a flag.
    case query
    /// A removal, which tells 1 from 1.5: a wrong match would remove an entry.
    case removal
    /// An upsert by external id, which also tells the text `true` from the Boolean of a flag: a wrong match would
    /// replace an entry.
    case externalId
  }

  let sql: String
  let bindings: [BoundValue]
}

/// The kinds of keys that need statements of their own.
enum KeyKind: Hashable, Sendable {
  /// A key that every index compares by its value.
  case plain
  case text
  /// The text `true` or `false`, by which apps on Android ask for a flag.
  case flag(Bool)
  /// A number with a fraction.
  case fraction
  /// A number that a double may not represent.
  case wide
  /// A key that SQLite up to 3.44 reads otherwise in an entry: a text with NUL, or with what replaces half of a surrogate
  /// pair; an array or object.
  case unreadable
}

extension JSONValue {
  var keyKind: KeyKind {
    switch self {
    case .null, .bool: .plain
    case .array, .object: .unreadable
    case .string("true"): .flag(true)
    case .string("false"): .flag(false)
    case .string(let text):
      text.utf8.contains { $0 == 0 || $0 == 0xef }
        && text.unicodeScalars.contains { $0 == "\0" || $0 == "\u{fffd}" } ? .unreadable : .text
    case .integer(let integer): integer.magnitude < Self.exactDoubles ? .plain : .wide
    case .double(let double): Self.kind(double, isWhole: double == double.rounded())
    case .number(let number):
      Self.kind(number.double ?? .infinity, isWhole: number.int64 != nil)
    }
  }

  /// The smallest number beyond which doubles leave out integers.
  private static let exactDoubles: UInt64 = 1 << 53

  private static func kind(_ double: Double, isWhole: Bool) -> KeyKind {
    if !(double.magnitude < Double(exactDoubles)) { return .wide }
    return isWhole ? .plain : .fraction
  }
}

extension Soup {
  /// Returns the comparison of the values at `path` with `key`.
  func comparison(
    of path: String, _ comparison: KeyComparison.Operator, _ key: JSONValue,
    for purpose: KeyComparison.Purpose = .query
  ) -> KeyComparison {
    KeyComparison(
      sql: comparisonSQL(of: path, comparison, key.keyKind, for: purpose),
      bindings: comparisonBindings(of: path, comparison, key, for: purpose))
  }

  /// Returns the SQL of ``comparison(of:_:_:for:)`` for all keys of a kind.
  func comparisonSQL(
    of path: String, _ comparison: KeyComparison.Operator, _ kind: KeyKind,
    for purpose: KeyComparison.Purpose = .query
  ) -> String {
    let column = expression(forPath: path)
    let value = "\(Soup.extraction(of: path)) \(comparison.rawValue) ?"
    let plain = "\(column) \(comparison.rawValue) ?"
    switch plan(of: path, comparison, kind, purpose) {
    case .flag(let isSet):
      return "\(column) IN (?, \(isSet ? "'1', 1" : "'0', 0"))"
    case .column: return plain
    case .value: return value
    case .both: return "(\(plain) AND \(value))"
    case .unlessNUL: return "(\(plain) AND (instr(soup, '\\u0000') = 0 OR \(value)))"
    case .near:
      let bounds =
        switch comparison {
        case .equal: "\(column) >= ? AND \(column) <= ?"
        case .atLeast, .atMost: plain
        }
      return "(\(bounds) AND \(value))"
    }
  }

  /// Returns the values to bind in ``comparisonSQL(of:_:_:for:)``.
  func comparisonBindings(
    of path: String, _ comparison: KeyComparison.Operator, _ key: JSONValue,
    for purpose: KeyComparison.Purpose = .query
  ) -> [BoundValue] {
    let value = BoundValue(key: key, type: .json1)
    let kind = key.keyKind
    let type = keyType(forPath: path) ?? .json1
    // In a soup with entries in files nothing else can decide. Queries then use the whole key; a look-up by external
    // id uses the key as the index stores it, since it has to find what was just written.
    let isCut =
      Soup.reservedColumn(path) == nil && (kind == .fraction || kind == .wide)
      && (!isExternal || purpose == .externalId)
    let column =
      isCut ? BoundValue(indexed: key, type: type) : BoundValue(key: key, type: type)
    switch plan(of: path, comparison, kind, purpose) {
    case .flag, .column: return [column]
    case .value: return [value]
    case .both, .unlessNUL: return [column, value]
    case .near:
      let nearest = BoundValue.nearestDouble(to: key)
      let (below, above) = (
        BoundValue.double(nearest.nextDown), BoundValue.double(nearest.nextUp)
      )
      return switch comparison {
      case .equal: [below, above, value]
      case .atLeast: [below, value]
      case .atMost: [above, value]
      }
    }
  }

  /// The deciding value of a comparison.
  private enum Plan {
    /// A flag, which as a text has other spellings in an index.
    case flag(Bool)
    /// The column or expression of the index.
    case column
    /// The value in the entry.
    case value
    /// The index chooses, the value decides.
    case both
    /// As ``both`` for entries whose text has a NUL.
    case unlessNUL
    /// The index chooses between the neighbours of the nearest double, the value decides.
    case near
  }

  private func plan(
    of path: String, _ comparison: KeyComparison.Operator, _ kind: KeyKind,
    _ purpose: KeyComparison.Purpose
  ) -> Plan {
    if Soup.reservedColumn(path) != nil { return .column }
    if case .flag(let isSet) = kind, comparison == .equal, purpose != .externalId,
      LocalFlags.all.contains(path)
    {
      return .flag(isSet)
    }
    guard let index = index(forPath: path) else { return .value }
    // What lies in a file is not there for SQL.
    if isExternal { return .column }
    return switch (index.type, kind) {
    case (.integer, .fraction), (.integer, .wide), (.floating, .wide): .both
    case (.integer, .plain) where purpose != .query: .both
    case (.json1, .unreadable): .value
    case (.json1, .wide): .near
    // A value that is cut off is never greater than the whole.
    case (.json1, .text), (.json1, .flag):
      comparison == .atLeast || !SoupValueFunction.decidesTexts ? .column : .unlessNUL
    default: .column
    }
  }
}
