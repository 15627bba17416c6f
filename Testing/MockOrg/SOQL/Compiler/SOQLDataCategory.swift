import GRDB

/// One condition of `WITH DATA CATEGORY`: a group, and the categories that an article has in it.
struct SOQLDataCategory: Sendable {
  /// Which categories count besides the named ones.
  enum Selector: String, CaseIterable, Sendable {
    case at = "AT"
    case above = "ABOVE"
    case below = "BELOW"
    case aboveOrBelow = "ABOVE_OR_BELOW"
  }

  var group: SOQLName
  var selector: Selector
  var categories: [SOQLName]
}

extension SOQLParser {
  /// `DATA CATEGORY Geography__c AT (Usa__c, France__c) AND ...`, behind WITH.
  mutating func dataCategories() throws(ServerError) -> [SOQLDataCategory] {
    var conditions: [SOQLDataCategory] = []
    repeat {
      let group = try name()
      guard
        let selector = SOQLDataCategory.Selector.allCases.first(where: {
          token.isKeyword($0.rawValue)
        })
      else { throw unexpectedToken() }
      advance()
      var categories: [SOQLName] = []
      if take(symbol: "(") {
        repeat { categories.append(try name()) } while take(symbol: ",")
        try expectRightParenthesis()
      } else {
        categories.append(try name())
      }
      conditions.append(
        SOQLDataCategory(group: group, selector: selector, categories: categories))
    } while take("AND")
    return conditions
  }
}

extension SOQLCompiler {
  /// What `WITH DATA CATEGORY` asks of an article; nil without that clause.
  ///
  /// An article's categories are the records of its selections (`Knowledge__DataCategorySelection`), where the
  /// schema has that object; without it, no article has a category. The org knows no hierarchy of categories:
  /// all selectors mean the named ones.
  ///
  /// - Throws: ``ServerError`` `MALFORMED_QUERY` if the object has no articles.
  func dataCategoryCondition() throws(ServerError) -> SOQLFragment? {
    guard let first = statement.dataCategories.first else { return nil }
    let name = object.name.lowercased()
    guard name.hasSuffix("__kav") || name == "knowledgearticleversion" || name == "question" else {
      throw source.error(
        "MALFORMED_QUERY", at: first.group.offset,
        "WITH DATA CATEGORY is not supported on \(object.name)")
    }
    let base = name.hasSuffix("__kav") ? object.name.dropLast("__kav".count) : object.name[...]
    let separator = name.hasSuffix("__kav") ? "__" : ""
    guard let selections = schema.object(named: "\(base)\(separator)DataCategorySelection"),
      ["ParentId", "DataCategoryGroupName", "DataCategoryName"].allSatisfy({
        selections.field(named: $0)?.hasColumn == true
      })
    else { return .never }
    let parts = statement.dataCategories.map { category in
      let list = Array(repeating: "?", count: category.categories.count).joined(separator: ", ")
      // Names in the clause end in __c, those of the selections do not.
      let values = ([category.group] + category.categories).map { name in
        (name.text.lowercased().hasSuffix("__c") ? String(name.text.dropLast(3)) : name.text)
          .databaseValue
      }
      return SOQLFragment(
        "\(scope.rootAlias).\"Id\" IN (SELECT \"ParentId\" FROM \(selections.table.name)"
          + " WHERE \"IsDeleted\" = 0 AND \"DataCategoryGroupName\" = ? COLLATE NOCASE"
          + " AND \"DataCategoryName\" COLLATE NOCASE IN (\(list)))", values)
    }
    return .joined(parts, by: "AND")
  }
}
