import SalesforceSDKCommon

/// A builder of SOSL searches, clause by clause.
///
/// ```swift
/// let sosl = try SOSLBuilder(searchTerm: "Acme").searchGroup("NAME FIELDS")
///   .returning(SOSLReturningBuilder("Account").fields("Id, Name").limit(5)).build()
/// ```
public struct SOSLBuilder: Sendable, Hashable {
  private let term: String
  private var group = ""
  private var objects: [SOSLReturningBuilder] = []
  private var division = ""
  private var category = ""
  private var count = 0

  /// Begins a search.
  ///
  /// - Parameter searchTerm: The user's input; its special characters are escaped.
  /// - Parameter keepsWildcards: Whether `*`, `?`, `|` and quotation marks in it keep their meaning, for a
  ///   term that a program wrote (MS-294). Default: false, they are searched (CO-135).
  public init(searchTerm: String, keepsWildcards: Bool = false) {
    term = SOSL.sanitized(searchTerm, keepsWildcards: keepsWildcards)
  }

  /// Returns the same search in some fields only, such as `NAME FIELDS`.
  public func searchGroup(_ group: String) -> Self { changed { $0.group = group } }
  /// Returns the same search in one more object; objects keep their order.
  public func returning(_ object: SOSLReturningBuilder) -> Self {
    changed { $0.objects.append(object) }
  }
  /// Returns the same search with a filter after `with`, such as `DIVISION = 'Global'`.
  public func divisionFilter(_ filter: String) -> Self { changed { $0.division = filter } }
  /// Returns the same search in a data category.
  public func dataCategory(_ category: String) -> Self { changed { $0.category = category } }
  /// Returns the same search with a limit for all records together; 0 or less sets none.
  public func limit(_ count: Int) -> Self { changed { $0.count = count } }

  /// Returns the search: `find {…} in … returning … with … with data category … limit n`.
  ///
  /// - Throws: ``RestError`` `invalidRequest` without a term, or with a returned object without a name.
  public func build() throws(RestError) -> String {
    guard !term.isEmpty else {
      throw RestError(.invalidRequest, "no search term: a search needs something to find")
    }
    var text = "find {\(term)}"
    if !group.isEmpty { text += " in \(group)" }
    if !objects.isEmpty {
      var specs: [String] = []
      for object in objects { specs.append(try object.build()) }
      text += " returning \(specs.joined(separator: ", "))"
    }
    if !division.isEmpty { text += " with \(division)" }
    if !category.isEmpty { text += " with data category \(category)" }
    if count > 0 { text += " limit \(count)" }
    return text
  }

  /// Returns the search, encoded for an address.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuild() throws(RestError) -> String { PercentEncoding.encode(try build()) }

  /// `path`, `/search/?q=` and the search, unencoded.
  ///
  /// - Throws: As ``build()``.
  public func buildWithPath(_ path: String) throws(RestError) -> String {
    try path.withoutTrailingSlash + "/search/?q=" + build()
  }

  /// `path`, `/search/?q=` and the encoded search.
  ///
  /// - Throws: As ``build()``.
  public func encodeAndBuildWithPath(_ path: String) throws(RestError) -> String {
    try path.withoutTrailingSlash + "/search/?q=" + encodeAndBuild()
  }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

/// The part of a SOSL search that selects the fields of one object.
public struct SOSLReturningBuilder: Sendable, Hashable {
  private let object: String
  private var fieldList = ""
  private var condition = ""
  private var order = ""
  private var network = ""
  private var count = 0

  /// Names the object.
  public init(_ object: String) { self.object = object }

  /// Returns the same part with these fields, separated by commas. Without fields, the search
  /// returns only ids and ignores the clauses below.
  public func fields(_ fields: String) -> Self { changed { $0.fieldList = fields } }
  /// Returns the same part with a condition.
  public func `where`(_ condition: String) -> Self { changed { $0.condition = condition } }
  /// Returns the same part, sorted.
  public func orderBy(_ fields: String) -> Self { changed { $0.order = fields } }
  /// Returns the same part within one community.
  public func withNetwork(_ id: String) -> Self { changed { $0.network = id } }
  /// Returns the same part with a limit; 0 or less sets none.
  public func limit(_ count: Int) -> Self { changed { $0.count = count } }

  /// Returns the text after `returning`, with a leading space.
  ///
  /// - Throws: ``RestError`` `invalidRequest` without an object.
  public func build() throws(RestError) -> String {
    guard !object.isEmpty else {
      throw RestError(.invalidRequest, "no object name: what a search returns is of an object")
    }
    guard !fieldList.isEmpty else { return " \(object)" }
    var text = " \(object)(\(fieldList)"
    if !condition.isEmpty { text += " where \(condition)" }
    if !order.isEmpty { text += " order by \(order)" }
    if !network.isEmpty { text += " with network = \(network)" }
    if count > 0 { text += " limit \(count)" }
    return text + ")"
  }

  private func changed(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

/// Functions for the text of searches.
public enum SOSL: Sendable {
  /// The maximum number of records that ``search(_:scope:objects:limit:)`` requests.
  public static let maxLimit = 200

  /// `term` with a backslash before each special character, so that a search finds the text as it
  /// was typed.
  ///
  /// - Parameter keepsWildcards: Whether `*`, `?`, `|` and quotation marks stay as they are. Default: false.
  public static func sanitized(_ term: String, keepsWildcards: Bool = false) -> String {
    var result = ""
    for character in term.unicodeScalars {
      let isSpecial = #"\&!{}[]()^~:'+-"#.unicodeScalars.contains(character)
      let isWildcard = #"*?|""#.unicodeScalars.contains(character)
      if isSpecial || isWildcard && !keepsWildcards { result += "\\" }
      result.unicodeScalars.append(character)
    }
    return result
  }

  /// A search in the form of the platform's own libraries.
  ///
  /// - Parameter term: The user's input; its special characters are escaped.
  /// - Parameter scope: Default: `IN NAME FIELDS`.
  /// - Parameter objects: Each with its fields; both keep their order.
  /// - Parameter limit: 200 at most; 0 or less sets none.
  /// - Returns: `nil` without a term.
  public static func search(
    _ term: String, scope: String = "IN NAME FIELDS",
    objects: [(object: String, fields: [String])] = [], limit: Int = 0
  ) -> String? {
    guard !term.isEmpty else { return nil }
    var text = "FIND {\(sanitized(term))} \(scope)"
    if !objects.isEmpty {
      let parts = objects.map { object, fields in
        fields.isEmpty ? object : "\(object) (\(fields.joined(separator: ",")))"
      }
      text += " RETURNING \(parts.joined(separator: ","))"
    }
    if limit > 0 { text += " LIMIT \(min(limit, maxLimit))" }
    return text
  }
}
