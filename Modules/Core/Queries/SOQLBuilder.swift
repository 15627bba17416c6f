import SalesforceSDKCommon

/// A builder of SOQL queries, clause by clause. It inserts arguments as they are: escape the values in a
/// condition.
///
/// ```swift
/// let soql = try SOQLBuilder(fields: ["Id", "Name"], from: "Account").where("Rating = 'Hot'").limit(10).build()
/// ```
public struct SOQLBuilder: Sendable, Hashable {
  private let fields: [String]
  private let object: String
  private var clauses: [Clause: String] = [:]

  private enum Clause: String, CaseIterable {
    // In the order in which SOQL wants them.
    case `where`, with, groupBy = "group by", having, orderBy = "order by", limit, offset
  }

  /// Begins a query.
  ///
  /// - Parameter fields: The entries of the select list, sub-selects in their parentheses. Each counts
  ///   once; their order is kept.
  /// - Parameter object: The object, or the relationship of a sub-select.
  public init(fields: [String], from object: String) {
    self.fields = fields
    self.object = object
  }

  /// Returns the same query with a condition.
  public func `where`(_ condition: String) -> Self { with(.where, condition) }
  /// Returns the same query with a filter after `with`, such as `SECURITY_ENFORCED`.
  public func with(_ filter: String) -> Self { with(.with, filter) }
  /// Returns the same query, grouped.
  public func groupBy(_ fields: String) -> Self { with(.groupBy, fields) }
  /// Returns the same query with a condition on groups; it counts only with ``groupBy(_:)``.
  public func having(_ condition: String) -> Self { with(.having, condition) }
  /// Returns the same query, sorted.
  public func orderBy(_ fields: String) -> Self { with(.orderBy, fields) }
  /// Returns the same query with a limit; 0 or less sets none.
  public func limit(_ count: Int) -> Self { with(.limit, count > 0 ? "\(count)" : "") }
  /// Returns the same query without the first `count` records; 0 or less skips none.
  public func offset(_ count: Int) -> Self { with(.offset, count > 0 ? "\(count)" : "") }

  /// Returns the query: `select … from … where … with … group by … having … order by … limit n
  /// offset n`.
  ///
  /// - Throws: ``RestError`` `invalidRequest` without a field or an object.
  public func build() throws(RestError) -> String {
    var seen: Set<String> = []
    let fields = fields.filter { !$0.isEmpty && seen.insert($0).inserted }
    guard !fields.isEmpty else {
      throw RestError(.invalidRequest, "no fields: a query needs something to select")
    }
    guard !object.isEmpty else {
      throw RestError(.invalidRequest, "no from: a query needs an object")
    }
    var text = "select \(fields.joined(separator: ", ")) from \(object)"
    for clause in Clause.allCases {
      guard let value = clauses[clause] else { continue }
      if clause == .having, clauses[.groupBy] == nil { continue }
      text += " \(clause.rawValue) \(value)"
    }
    return text
  }

  /// Returns the query, encoded for an address.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuild() throws(RestError) -> String { PercentEncoding.encode(try build()) }

  /// `path`, `/query/?q=` and the query, unencoded.
  ///
  /// - Throws: As ``build()``.
  public func buildWithPath(_ path: String) throws(RestError) -> String {
    try path.withoutTrailingSlash + "/query/?q=" + build()
  }

  /// `path`, `/query/?q=` and the encoded query.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuildWithPath(_ path: String) throws(RestError) -> String {
    try path.withoutTrailingSlash + "/query/?q=" + encodeAndBuild()
  }

  private func with(_ clause: Clause, _ value: String) -> Self {
    var copy = self
    copy.clauses[clause] = value.isEmpty ? nil : value
    return copy
  }
}

extension String {
  /// The text without one slash at its end.
  var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
