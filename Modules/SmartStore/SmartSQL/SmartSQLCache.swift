import SalesforceSDKCommon

/// The conversions of the statements used last.
///
/// Each knows the soups that it mentions, so that a change of one soup's mapping forgets exactly
/// those. A failed conversion is never kept: the soup that it lacked may come.
struct SmartSQLCache: Sendable {
  private struct Entry {
    let statement: ConvertedStatement
    var lastUse: Int
  }

  let capacity: Int
  /// By the bytes of the statement: literals that look alike find different entries.
  private var entries: [MemberKey: Entry] = [:]
  private var clock = 0

  init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  var count: Int { entries.count }

  /// The conversion of `smartSQL`, which thereby becomes the most recently used one.
  mutating func statement(for smartSQL: String) -> ConvertedStatement? {
    guard let position = entries.index(forKey: MemberKey(smartSQL)) else { return nil }
    clock += 1
    entries.values[position].lastUse = clock
    return entries.values[position].statement
  }

  /// Keeps a conversion. Past the capacity the quarter that was not used for longest goes, so that
  /// the search for it is paid once in many calls; a cache of fewer than eight drops one at a time.
  mutating func put(_ statement: ConvertedStatement, for smartSQL: String) {
    clock += 1
    entries[MemberKey(smartSQL)] = Entry(statement: statement, lastUse: clock)
    guard entries.count > capacity else { return }
    let excess = max(1, capacity / 4)
    let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(excess)
    for (key, _) in oldest { entries[key] = nil }
  }

  /// Forgets the statements that mention `soup`.
  mutating func removeStatements(mentioning soup: String) {
    entries = entries.filter { !$0.value.statement.soups.contains(soup) }
  }
}
