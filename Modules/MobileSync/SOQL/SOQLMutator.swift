import SalesforceSDKCommon

/// An editor for single clauses of a SOQL query, which leaves the others as they are written.
///
/// The query is split at its top-level keywords. Sub-selects, quoted texts and fields named like
/// keywords are kept unparsed. ``soql`` joins the clauses in the platform's order, with lower-case
/// keywords and single spaces; an unchanged query that already has this form is returned byte for
/// byte.
///
/// ```swift
/// var query = SOQLMutator("SELECT Id FROM Account WHERE Name = 'John' LIMIT 100")
/// query.addWherePredicates("Industry = 'Energy'")
/// query.soql  // select Id from Account where Industry = 'Energy' and Name = 'John' limit 100
/// ```
public struct SOQLMutator: Sendable, Equatable {
  /// The clauses in the order in which a query has them.
  private enum Clause: String, Sendable, CaseIterable {
    case select, from
    case usingScope = "using scope"
    case `where`, with
    case groupBy = "group by"
    case having
    case orderBy = "order by"
    case limit, offset
    /// `for view`, `for reference`, `for update`, `update tracking`, `update viewstat`, `all rows`:
    /// as written, since several can follow each other.
    case closing = ""
  }

  private var texts: [Clause: String] = [:]

  /// Parses `soql`. Words before `select` are dropped.
  public init(_ soql: String) {
    let tokens = SOQLTokenizer.tokens(of: soql)
    var current: Clause?
    var text = ""
    var index = 0
    while index < tokens.count {
      if let (clause, length) = Self.keyword(at: index, in: tokens, after: current) {
        close(current, text)
        current = clause
        // The closing words keep their keyword, since it is part of what they say.
        text = clause == .closing ? tokens[index].text : ""
        index += length
      } else {
        text += tokens[index].text
        index += 1
      }
    }
    close(current, text)
  }

  /// The query, joined from its clauses.
  ///
  /// A limit or offset that is 0 or not a number is omitted.
  public var soql: String {
    var parts: [String] = []
    for clause in Clause.allCases {
      guard let text = texts[clause], !text.isEmpty else { continue }
      switch clause {
      case .closing: parts.append(text)
      case .limit, .offset:
        guard let count = Int(text), count != 0 else { continue }
        parts.append("\(clause.rawValue) \(count)")
      default: parts.append("\(clause.rawValue) \(text)")
      }
    }
    return parts.joined(separator: " ")
  }

  /// Whether the query has a select and a from clause that are not empty.
  public var isSelectQuery: Bool {
    texts[.select]?.isEmpty == false && texts[.from]?.isEmpty == false
  }

  /// The object that the query is about: the first word after `from`; nil if there is none.
  public var objectName: String? {
    texts[.from]?.split { $0.isWhitespace || $0 == "," }.first.map(String.init)
  }

  /// Whether the query has the clause that begins with `keyword`, such as `group by`, in lower
  /// case. The empty text represents the words after the last clause, such as `for view`.
  public func has(_ keyword: String) -> Bool {
    Clause(rawValue: keyword).flatMap { texts[$0] }?.isEmpty == false
  }

  /// Whether the top-level select list has an aggregate function, such as `count(Id)`.
  public var hasAggregates: Bool {
    let functions: Set = ["avg", "count", "count_distinct", "max", "min", "sum", "grouping"]
    var name = ""
    for token in SOQLTokenizer.tokens(of: texts[.select] ?? "") {
      if token.kind == .parenthesised, functions.contains(name) { return true }
      if token.kind == .blank { continue }
      // Several entries may be one word: `Name,count`.
      name = token.text.lowercased().split(separator: ",").last.map(String.init) ?? ""
    }
    return false
  }

  // MARK: Select list

  /// Whether `field` is an entry of the top-level select list: the whole name, as the server compares names.
  ///
  /// Case makes no difference, and an entry may begin with the query's object or its alias: `Id` is selected by
  /// `id`, `Contact.Id` and `c.Id`. For an entry with an alias of its own (`Name n`), the first word counts.
  /// `FIELDS(ALL)` selects every field of the object, `FIELDS(STANDARD)` and `FIELDS(CUSTOM)` those of the kind.
  /// Sub-selects are not searched.
  public func isSelectingField(_ field: String) -> Bool {
    let name = unqualified(field)
    return Self.entries(of: texts[.select] ?? "").contains { entry in
      if let group = SOQLFieldGroup(entry) { return group.contains(name) }
      return SOQLNames.areSame(unqualified(entry), name)
    }
  }

  /// The names in the top-level select list, without the query's object or its alias in front of them; nil if it
  /// has anything else, such as a sub-select.
  public var selectedFields: [String]? {
    guard let list = texts[.select], !list.contains("(") else { return nil }
    return Self.entries(of: list).map(unqualified)
  }

  /// As ``selectedFields``, with entries such as `FIELDS(ALL)`, which stand for several fields.
  public var selectedFieldsAndGroups: [String]? {
    guard let list = texts[.select] else { return nil }
    let entries = Self.entries(of: list)
    let names = entries.compactMap { entry in
      SOQLFieldGroup(entry).map(\.text) ?? (entry.contains("(") ? nil : unqualified(entry))
    }
    // A sub-select is in none of them.
    let groups = entries.count { SOQLFieldGroup($0) != nil }
    return names.count == entries.count && list.count { $0 == "(" } == groups ? names : nil
  }

  /// A field's name without the query's object or its alias in front of it.
  private func unqualified(_ field: String) -> String {
    guard let dot = field.firstIndex(of: "."),
      SOQLNames.contains(field[..<dot], in: qualifiers)
    else {
      return field
    }
    return String(field[field.index(after: dot)...])
  }

  /// The words that may stand before a field of the query's object: its name and its alias.
  private var qualifiers: [String] {
    let first = (texts[.from] ?? "").prefix { $0 != "," }
    let words = first.split(whereSeparator: \.isWhitespace).map(String.init)
    let alias = words.dropFirst().first { !SOQLNames.areSame($0, "as") }
    return [words.first, alias].compactMap(\.self)
  }

  /// Puts `fields` (one, or several with commas) in front of the select list.
  public mutating func addSelectFields(_ fields: String) {
    let old = texts[.select] ?? ""
    texts[.select] = old.isEmpty ? fields : "\(fields),\(old)"
  }

  /// Replaces the whole select list.
  public mutating func replaceSelectFields(_ fields: String) {
    texts[.select] = fields
  }

  // MARK: Where

  /// Puts `predicates` in front of the condition, joined with `and` exactly as written.
  ///
  /// No parentheses are added: see ``parenthesiseAlternatives()``.
  public mutating func addWherePredicates(_ predicates: String) {
    let old = texts[.where] ?? ""
    texts[.where] = old.isEmpty ? predicates : "\(predicates) and \(old)"
  }

  /// Whether the condition has an `or` outside parentheses and quotes.
  public var hasAlternatives: Bool {
    SOQLTokenizer.tokens(of: texts[.where] ?? "").contains { $0.isWord("or") }
  }

  /// Wraps a condition that ``hasAlternatives`` in parentheses, so that a predicate added to it
  /// holds for each alternative.
  public mutating func parenthesiseAlternatives() {
    if hasAlternatives, let condition = texts[.where] { texts[.where] = "(\(condition))" }
  }

  // MARK: Order and limit

  /// Whether the query has a top-level `order by`.
  public var hasOrderBy: Bool {
    texts[.orderBy] != nil
  }

  /// Whether the query has a top-level `limit`.
  public var hasLimit: Bool {
    Int(texts[.limit] ?? "").map { $0 != 0 } ?? false
  }

  /// Whether the `order by` text, without spaces, is `text`, as the server compares names.
  ///
  /// An order with a direction, such as `Name desc`, is another one.
  public func isOrderingBy(_ text: String) -> Bool {
    guard let order = texts[.orderBy] else { return false }
    func names(_ text: String) -> [String] {
      text.split(separator: ",", omittingEmptySubsequences: false)
        .map { unqualified($0.filter { !$0.isWhitespace }).lowercased() }
    }
    return names(order) == names(text)
  }

  /// Replaces the order; the empty text removes it.
  public mutating func replaceOrderBy(_ fields: String) {
    texts[.orderBy] = fields.isEmpty ? nil : fields
  }

  // MARK: Reading

  private mutating func close(_ clause: Clause?, _ text: String) {
    guard let clause else { return }
    let trimmed = text.trimmed
    if clause == .closing, let earlier = texts[clause] {
      texts[clause] = "\(earlier) \(trimmed)"
    } else {
      texts[clause] = trimmed
    }
  }

  /// The clause that starts at `index` and how many tokens its keyword takes.
  ///
  /// Inside the select list only `from` ends the clause, so that a field may be called like a later
  /// keyword.
  private static func keyword(
    at index: Int, in tokens: [SOQLToken], after current: Clause?
  ) -> (Clause, length: Int)? {
    let token = tokens[index]
    guard token.kind == .word else { return nil }
    let word = token.text.lowercased()
    switch current {
    case nil: return word == "select" ? (.select, 1) : nil
    case .select: return word == "from" ? (.from, 1) : nil
    default: break
    }
    switch word {
    case "where": return (.where, 1)
    case "with": return (.with, 1)
    case "group by": return (.groupBy, 1)
    case "having": return (.having, 1)
    case "order by": return (.orderBy, 1)
    case "limit": return (.limit, 1)
    case "offset": return (.offset, 1)
    case "using": return followed(index, tokens, by: ["scope"]) ? (.usingScope, 3) : nil
    case "for":
      return followed(index, tokens, by: ["view", "reference", "update"]) ? (.closing, 1) : nil
    case "update":
      return followed(index, tokens, by: ["tracking", "viewstat"]) ? (.closing, 1) : nil
    case "all": return followed(index, tokens, by: ["rows"]) ? (.closing, 1) : nil
    default: return nil
    }
  }

  private static func followed(_ index: Int, _ tokens: [SOQLToken], by words: [String]) -> Bool {
    guard index + 2 < tokens.count, tokens[index + 1].kind == .blank else { return false }
    // `for view, reference` lists several purposes with commas.
    let next = tokens[index + 2].text.lowercased().prefix { $0 != "," }
    return tokens[index + 2].kind == .word && words.contains(String(next))
  }

  /// The first words of a select list's entries, without its sub-selects.
  private static func entries(of list: String) -> [String] {
    var entries = [""]
    for token in SOQLTokenizer.tokens(of: list) {
      guard token.kind == .word else {
        entries[entries.count - 1] += token.text
        continue
      }
      let pieces = token.text.split(separator: ",", omittingEmptySubsequences: false)
      for (index, piece) in pieces.enumerated() {
        if index > 0 { entries.append("") }
        entries[entries.count - 1] += piece
      }
    }
    return entries.compactMap { entry in
      if let group = SOQLFieldGroup(entry) { return group.text }
      return entry.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
    .filter { !$0.hasPrefix("(") }
  }
}
