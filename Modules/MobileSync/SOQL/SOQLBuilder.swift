import SalesforceSDKCommon

/// Puts a SOQL query together, clause by clause.
///
/// ```swift
/// let soql = try SOQLBuilder.withFields(["Id", "Name"]).from("Account")
///   .whereClause("Industry = \(SOQLLiteral.text(industry))").limit(10).build()
/// ```
public struct SOQLBuilder: Sendable, Equatable {
  private var fields: String
  private var object = ""
  private var condition = ""
  private var filter = ""
  private var grouping = ""
  private var groupCondition = ""
  private var order = ""
  private var maxRecords = 0
  private var skipped = 0

  private init(fields: String) {
    self.fields = fields
  }

  /// Begins with the select list as one text.
  public static func withFields(_ fields: String) -> SOQLBuilder {
    SOQLBuilder(fields: fields)
  }

  /// Begins with the entries of the select list.
  public static func withFields(_ fields: [String]) -> SOQLBuilder {
    SOQLBuilder(fields: fields.joined(separator: ", "))
  }

  /// The object, or the relationship of a sub-select. Required.
  public func from(_ object: String) -> SOQLBuilder { setting(\.object, object) }
  /// The condition behind `where`; values in it are quoted with ``SOQLLiteral``.
  public func whereClause(_ condition: String) -> SOQLBuilder { setting(\.condition, condition) }
  /// What stands behind `with`, such as `SECURITY_ENFORCED`.
  public func with(_ filter: String) -> SOQLBuilder { setting(\.filter, filter) }
  /// What records are grouped by.
  public func groupBy(_ grouping: String) -> SOQLBuilder { setting(\.grouping, grouping) }
  /// The condition on groups.
  public func having(_ condition: String) -> SOQLBuilder { setting(\.groupCondition, condition) }
  /// What records are ordered by.
  public func orderBy(_ order: String) -> SOQLBuilder { setting(\.order, order) }
  /// How many records come at most; 0 means all.
  public func limit(_ count: Int) -> SOQLBuilder { setting(\.maxRecords, count) }
  /// How many records are passed over; 0 means none.
  public func offset(_ count: Int) -> SOQLBuilder { setting(\.skipped, count) }

  private func setting<Value>(
    _ clause: WritableKeyPath<SOQLBuilder, Value>, _ value: Value
  ) -> SOQLBuilder {
    var builder = self
    builder[keyPath: clause] = value
    return builder
  }

  /// The query: `select … from … where … with … group by … having … order by … limit n offset n`.
  ///
  /// - Throws: ``SyncError`` `invalidQuery` without fields or without an object.
  public func build() throws(SyncError) -> String {
    guard !fields.isEmpty else {
      throw SyncError(.invalidQuery, "no fields: begin with withFields(_:).")
    }
    guard !object.isEmpty else {
      throw SyncError(.invalidQuery, "no from: name the object with from(_:).")
    }
    var soql = "select \(fields) from \(object)"
    for (keyword, text) in [
      ("where", condition), ("with", filter), ("group by", grouping), ("having", groupCondition),
      ("order by", order),
    ] where !text.isEmpty {
      soql += " \(keyword) \(text)"
    }
    if maxRecords != 0 { soql += " limit \(maxRecords)" }
    if skipped != 0 { soql += " offset \(skipped)" }
    return soql
  }

  /// The query, percent-encoded.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuild() throws(SyncError) -> String {
    PercentEncoding.encode(try build())
  }

  /// The query behind `path` and `/query/?q=`, as it is.
  ///
  /// - Throws: As ``build()``.
  public func buildWithPath(_ path: String) throws(SyncError) -> String {
    try path.withoutTrailingSlash + "/query/?q=" + build()
  }

  /// The address of the query: `path`, `/query/?q=` and the query, percent-encoded.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuildWithPath(_ path: String) throws(SyncError) -> String {
    try path.withoutTrailingSlash + "/query/?q=" + encodeAndBuild()
  }
}

extension String {
  /// The text without one slash at its end.
  var withoutTrailingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
