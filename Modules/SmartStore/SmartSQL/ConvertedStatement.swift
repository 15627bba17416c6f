import SalesforceSDKCommon

/// A Smart SQL statement converted to SQL.
struct ConvertedStatement: Sendable, Equatable {
  /// The SQL. Text outside references is unchanged.
  let sql: String
  /// The SQL up to its last token, so that it can be put in parentheses.
  let body: String
  /// The soups that the statement mentions.
  let soups: Set<MemberKey>
  /// The reason why the statement is refused; nil if it is allowed. A conversion does not throw it,
  /// because it only converts text.
  let refusal: Refusal?
  /// The flags of local changes that parameters are compared with, by the number of the parameter, from 1 on.
  let flagParameters: [Int: String]

  enum Refusal: Sendable, Equatable {
    case notSelect
    case severalStatements
    case forbiddenFunction(String)
  }

  /// Throws unless the statement is a single SELECT.
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
