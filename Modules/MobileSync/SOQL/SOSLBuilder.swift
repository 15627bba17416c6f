import SalesforceSDKCommon

/// Puts a SOSL search together, clause by clause.
///
/// ```swift
/// let sosl = try SOSLBuilder.withSearchTerm("Acme*").searchGroup("NAME FIELDS")
///   .returning(.withObjectName("Account").fields("Id, Name, LastModifiedDate")).build()
/// ```
public struct SOSLBuilder: Sendable, Equatable {
  private let term: String
  private var group = ""
  private var returned: [SOSLReturningBuilder] = []
  private var division = ""
  private var category = ""
  private var maxRecords = 0

  private init(term: String) {
    self.term = term
  }

  /// Begins with the words to find. Signs that mean something to a search are escaped; `*`, `?` and
  /// quotation marks keep their meaning.
  public static func withSearchTerm(_ term: String) -> SOSLBuilder {
    SOSLBuilder(term: escaped(term))
  }

  /// Which fields are searched, such as `ALL FIELDS`.
  public func searchGroup(_ group: String) -> SOSLBuilder { setting(\.group, group) }
  /// Adds an object that is searched and what is returned of it.
  public func returning(_ object: SOSLReturningBuilder) -> SOSLBuilder {
    setting(\.returned, returned + [object])
  }
  /// The division.
  public func divisionFilter(_ division: String) -> SOSLBuilder { setting(\.division, division) }
  /// The condition on data categories.
  public func dataCategory(_ category: String) -> SOSLBuilder { setting(\.category, category) }
  /// How many records come at most; 0 means the server's own limit.
  public func limit(_ count: Int) -> SOSLBuilder { setting(\.maxRecords, count) }

  private func setting<Value>(
    _ clause: WritableKeyPath<SOSLBuilder, Value>, _ value: Value
  ) -> SOSLBuilder {
    var builder = self
    builder[keyPath: clause] = value
    return builder
  }

  /// The search: `find {…} in … returning … with division … with data category … limit n`.
  ///
  /// - Throws: ``SyncError`` `invalidQuery` without a term, or with a returned object without a
  ///   name.
  public func build() throws(SyncError) -> String {
    guard !term.isEmpty else {
      throw SyncError(.invalidQuery, "no search term: begin with withSearchTerm(_:).")
    }
    var sosl = "find {\(term)}"
    if !group.isEmpty { sosl += " in \(group)" }
    if !returned.isEmpty {
      var specs: [String] = []
      for object in returned { specs.append(try object.build()) }
      sosl += " returning \(specs.joined(separator: ", "))"
    }
    if !division.isEmpty { sosl += " with \(division)" }
    if !category.isEmpty { sosl += " with data category \(category)" }
    if maxRecords != 0 { sosl += " limit \(maxRecords)" }
    return sosl
  }

  /// The search, percent-encoded.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuild() throws(SyncError) -> String {
    PercentEncoding.encode(try build())
  }

  /// The search behind `path` and `/search/?q=`, as it is.
  ///
  /// - Throws: As ``build()``.
  public func buildWithPath(_ path: String) throws(SyncError) -> String {
    try path.withoutTrailingSlash + "/search/?q=" + build()
  }

  /// The address of the search: `path`, `/search/?q=` and the search, percent-encoded.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuildWithPath(_ path: String) throws(SyncError) -> String {
    try path.withoutTrailingSlash + "/search/?q=" + encodeAndBuild()
  }

  private static func escaped(_ term: String) -> String {
    var text = ""
    for character in term {
      if "\\+^~'-[]{}()&:!".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text
  }
}

/// What a search returns of one object.
public struct SOSLReturningBuilder: Sendable, Equatable {
  private let object: String
  private var fields = ""
  private var condition = ""
  private var order = ""
  private var network = ""
  private var maxRecords = 0

  private init(object: String) {
    self.object = object
  }

  /// Begins with the object's name.
  public static func withObjectName(_ object: String) -> SOSLReturningBuilder {
    SOSLReturningBuilder(object: object)
  }

  /// The fields, as one text. Without fields, none of the following is written.
  public func fields(_ fields: String) -> SOSLReturningBuilder { setting(\.fields, fields) }
  /// The condition behind `where`; values in it are quoted with ``SOQLLiteral``.
  public func whereClause(_ condition: String) -> SOSLReturningBuilder {
    setting(\.condition, condition)
  }
  /// What the records are ordered by.
  public func orderBy(_ order: String) -> SOSLReturningBuilder { setting(\.order, order) }
  /// The community's id.
  public func withNetwork(_ network: String) -> SOSLReturningBuilder { setting(\.network, network) }
  /// How many records of this object come at most; 0 means the server's own limit.
  public func limit(_ count: Int) -> SOSLReturningBuilder { setting(\.maxRecords, count) }

  private func setting<Value>(
    _ clause: WritableKeyPath<SOSLReturningBuilder, Value>, _ value: Value
  ) -> SOSLReturningBuilder {
    var builder = self
    builder[keyPath: clause] = value
    return builder
  }

  /// The text behind `returning`, with a blank in front.
  ///
  /// - Throws: ``SyncError`` `invalidQuery` without a name.
  public func build() throws(SyncError) -> String {
    guard !object.isEmpty else {
      throw SyncError(
        .invalidQuery, "no object name: begin a returned object with withObjectName(_:).")
    }
    var text = " \(object)"
    guard !fields.isEmpty else { return text }
    text += "(\(fields)"
    if !condition.isEmpty { text += " where \(condition)" }
    if !order.isEmpty { text += " order by \(order)" }
    if !network.isEmpty { text += " with network = \(network)" }
    if maxRecords != 0 { text += " limit \(maxRecords)" }
    return text + ")"
  }
}
