/// A Smart SQL statement turned into SQL.
struct ConvertedStatement: Sendable, Equatable {
  /// The SQL, every character outside references as it was written.
  let sql: String
  /// The SQL up to its last token, so that it can stand in parentheses.
  let body: String
  /// The soups that the statement mentions.
  let soups: Set<String>
  /// Why the statement is refused, if it is. Kept apart from the conversion, which is only text.
  let refusal: Refusal?

  enum Refusal: Sendable, Equatable {
    case notSelect
    case severalStatements
    case forbiddenFunction(String)
  }

  /// Throws if the statement is anything but one SELECT.
  func checkAllowed() throws(SmartStoreError) {
    switch refusal {
    case nil: return
    case .notSelect:
      throw SmartStoreError(
        .refusedStatement,
        "Only SELECT are supported. Use the calls of the store to change elements.")
    case .severalStatements:
      throw SmartStoreError(
        .refusedStatement,
        "Only SELECT are supported, and one at a time: there is text after the semicolon.")
    case .forbiddenFunction(let name):
      throw SmartStoreError(
        .refusedStatement, "Only SELECT are supported: \(name) is not available.")
    }
  }
}
