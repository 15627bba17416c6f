import SalesforceSDKCommon

/// Puts a SOQL query together, clause by clause (CO-135). What is given is taken as it is: values in a
/// condition have to be escaped by whoever writes it.
///
/// ```swift
/// let soql = SOQLBuilder(fields: ["Id", "Name"], from: "Account").where("Rating = 'Hot'").limit(10).build()
/// ```
public struct SOQLBuilder: Sendable, Hashable {
  private var fields: [String]
  private var object: String
  private var clauses: [Clause: String] = [:]

  private enum Clause: String, CaseIterable {
    // In the order in which SOQL wants them.
    case `where`, with, groupBy = "group by", having, orderBy = "order by", limit, offset
  }

  /// Begins a query.
  ///
  /// - Parameter fields: Each counts once; their order is kept.
  public init(fields: [String] = [], from object: String = "") {
    self.fields = fields
    self.object = object
  }

  /// The same query over these fields.
  public func fields(_ fields: [String]) -> Self { changed { $0.fields = fields } }
  /// The same query over these fields, as they stand between `select` and `from`.
  public func fields(_ text: String) -> Self { fields(text.isEmpty ? [] : [text]) }
  /// The same query of that object.
  public func from(_ object: String) -> Self { changed { $0.object = object } }
  /// The same query with a condition.
  public func `where`(_ condition: String) -> Self { with(.where, condition) }
  /// The same query with a filter behind `with`, such as `SECURITY_ENFORCED`.
  public func with(_ filter: String) -> Self { with(.with, filter) }
  /// The same query, grouped.
  public func groupBy(_ fields: String) -> Self { with(.groupBy, fields) }
  /// The same query with a condition on groups; it counts only with ``groupBy(_:)``.
  public func having(_ condition: String) -> Self { with(.having, condition) }
  /// The same query, sorted.
  public func orderBy(_ fields: String) -> Self { with(.orderBy, fields) }
  /// The same query for that many records; 0 and less sets no limit.
  public func limit(_ count: Int) -> Self { with(.limit, count > 0 ? "\(count)" : "") }
  /// The same query without the first records; 0 and less leaves none out.
  public func offset(_ count: Int) -> Self { with(.offset, count > 0 ? "\(count)" : "") }

  /// The query; `nil` without a field or an object.
  public func build() -> String? {
    var seen: Set<String> = []
    let fields = fields.filter { !$0.isEmpty && seen.insert($0).inserted }
    guard !fields.isEmpty, !object.isEmpty else { return nil }
    var text = "select \(fields.joined(separator: ",")) from \(object)"
    for clause in Clause.allCases {
      guard let value = clauses[clause] else { continue }
      if clause == .having, clauses[.groupBy] == nil { continue }
      text += " \(clause.rawValue) \(value)"
    }
    return text
  }

  /// The query, encoded for an address.
  public func encodeAndBuild() -> String? { build().map { PercentEncoding.encode($0) } }

  /// The query behind `<path>/query/?q=`, encoded.
  public func buildWithPath(_ path: String) -> String? {
    encodeAndBuild().map { "\(path)/query/?q=\($0)" }
  }

  private func with(_ clause: Clause, _ value: String) -> Self {
    changed { $0.clauses[clause] = value.isEmpty ? nil : value }
  }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}
