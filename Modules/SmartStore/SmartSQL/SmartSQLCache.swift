import SalesforceSDKCommon

/// A cache of the most recently used conversions.
///
/// Each conversion lists its soups, so that a change of one soup's mapping removes exactly the
/// conversions that use it. A failed conversion is never cached: the missing soup may be registered
/// later.
struct SmartSQLCache: Sendable {
  private struct Entry {
    let statement: ConvertedStatement
    var lastUse: Int
  }

  let capacity: Int
  /// The conversions by the bytes of the statement: literals that look alike find different
  /// entries.
  private var entries: [MemberKey: Entry] = [:]
  private var clock = 0

  init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  var count: Int { entries.count }

  /// Returns the conversion of `smartSQL`, and marks it as the most recently used one.
  mutating func statement(for smartSQL: String) -> ConvertedStatement? {
    guard let position = entries.index(forKey: MemberKey(smartSQL)) else { return nil }
    clock += 1
    entries.values[position].lastUse = clock
    return entries.values[position].statement
  }

  /// Caches a conversion. Beyond the capacity, the least recently used quarter is removed, so that
  /// many calls share the cost of the search for it; a cache of fewer than eight removes one at a
  /// time.
  mutating func put(_ statement: ConvertedStatement, for smartSQL: String) {
    clock += 1
    entries[MemberKey(smartSQL)] = Entry(statement: statement, lastUse: clock)
    guard entries.count > capacity else { return }
    let excess = max(1, capacity / 4)
    let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(excess)
    for (key, _) in oldest { entries[key] = nil }
  }

  /// Removes the statements that use `soup`.
  mutating func removeStatements(mentioning soup: String) {
    entries = entries.filter { !$0.value.statement.soups.contains(MemberKey(soup)) }
  }
}
