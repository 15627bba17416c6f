/// The soups in the FROM clauses of a statement, per SELECT.
///
/// A path names its soup (ruling on SS-153). The column with an entry's text has the same name in all soups, so that a path
/// that is read from it has to name the table, or the alias by which the innermost SELECT around it knows the soup.
struct SmartSQLScopes {
  /// A reference whose qualifier is known only at the end of the statement: columns are written before their FROM.
  struct Reference {
    /// The place of the qualifier in the output.
    let offset: Int
    let table: String
    /// Whether it is qualified whatever else the statement reads.
    let isAlwaysQualified: Bool
    fileprivate let scope: Int
    /// The place of the reference in the source, for an error.
    let start: Int
  }

  /// The text before a reference that says which table it means.
  enum Qualifier: Equatable {
    case none
    case name(String)
    /// A SELECT reads the soup more than once, under these names.
    case ambiguous([String])
  }

  private struct Scope {
    let outer: Int?
    /// The SELECT before UNION, EXCEPT or INTERSECT.
    var previous: Int?
    /// The tables of soups, with their alias or, without one, their own name.
    var soups: [(table: String, name: String)] = []
  }

  private struct Level {
    let scope: Int
    let outer: Int?
    let clause: Clause
    let isCompound: Bool
  }

  enum Clause {
    case results, from, other
  }

  private var scopes = [Scope(outer: nil)]
  private var levels: [Level] = []
  private var scope = 0
  /// The scope around the parentheses.
  private var outer: Int?
  /// The clause of the SELECT in which the conversion is. In parentheses within results it is ``Clause/other``.
  private(set) var clause = Clause.other
  private(set) var references: [Reference] = []
  /// Whether the SELECT is one of several that UNION, EXCEPT or INTERSECT connect.
  private var isCompound = false
  /// The number of soups in FROM clauses.
  private var declared = 0
  private var tables: Set<String> = []
  /// The number of open parentheses.
  var depth: Int { levels.count }

  mutating func beginSelect() {
    scopes.append(Scope(outer: outer, previous: isCompound ? scope : nil))
    scope = scopes.count - 1
    clause = .results
  }

  mutating func beginClause(_ clause: Clause) { self.clause = clause }

  /// UNION, EXCEPT or INTERSECT: another SELECT follows.
  mutating func connect() {
    isCompound = true
    clause = .other
  }

  /// The terms by which connected SELECTs are ordered are those of their results.
  mutating func beginOrder() { clause = isCompound ? .results : .other }

  mutating func openParenthesis() {
    levels.append(Level(scope: scope, outer: outer, clause: clause, isCompound: isCompound))
    outer = scope
    isCompound = false
    if clause == .results { clause = .other }
  }

  mutating func closeParenthesis() {
    guard let level = levels.popLast() else { return }
    (scope, outer, clause) = (level.scope, level.outer, level.clause)
    isCompound = level.isCompound
  }

  mutating func declare(_ table: String, as alias: String?) {
    scopes[scope].soups.append((table, alias ?? table))
    declared += 1
    tables.insert(table)
  }

  mutating func refer(
    to table: String, at offset: Int, isAlwaysQualified: Bool, start: Int
  ) {
    references.append(
      Reference(
        offset: offset, table: table, isAlwaysQualified: isAlwaysQualified, scope: scope,
        start: start))
  }

  func qualifier(of reference: Reference) -> Qualifier {
    var next: Int? = reference.scope
    while let number = next {
      let names = scopes[number].soups.filter { $0.table == reference.table }.map(\.name)
      if let name = names.first(where: { $0 == reference.table }) ?? names.first {
        if names.count > 1, name != reference.table { return .ambiguous(names) }
        return declared < 2 && !reference.isAlwaysQualified ? .none : .name(name)
      }
      next = scopes[number].previous ?? scopes[number].outer
    }
    // In a statement over one soup it is that soup's entry, by whatever sub-query it comes. Else SQLite finds no such
    // table, rather than the column of another one.
    let isOwn = tables.allSatisfy { $0 == reference.table }
    return isOwn && !reference.isAlwaysQualified ? .none : .name(reference.table)
  }
}
