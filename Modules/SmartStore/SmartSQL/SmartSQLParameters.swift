/// The parameters of a statement, numbered as SQLite numbers them.
struct SmartSQLParameters {
  private var count = 0
  private var named: [String: Int] = [:]
  private var last: (end: Int, index: Int)?

  /// Adds a parameter: `?`, `?NNN`, or a name with its first character.
  ///
  /// - Returns: Its number, counted from 1.
  mutating func add(_ text: String, endingAt end: Int) -> Int {
    let index =
      if text == "?" { count + 1 } else if let number = number(text) { number } else {
        named[text] ?? count + 1
      }
    if !text.hasPrefix("?") { named[text] = index }
    count = max(count, index)
    last = (end, index)
    return index
  }

  /// The number of the parameter that ends at a place of the statement, if it was the last one.
  func index(endingAt end: Int) -> Int? { last.flatMap { $0.end == end ? $0.index : nil } }

  private func number(_ text: String) -> Int? {
    text.hasPrefix("?") ? Int(text.dropFirst()) : nil
  }
}
