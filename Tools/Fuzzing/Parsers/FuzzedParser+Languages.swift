import Foundation
import MobileSync
@testable import SalesforceSDKCommon

@testable import SalesforceMockOrg
@testable import SmartStore

/// SOQL, SOSL, Smart SQL and formulas.
extension FuzzedParser {
  private static let schema = OrgSchema((try? StandardSchema.objects()) ?? [])

  static let soql = FuzzedParser(name: "soql") { (bytes) throws(Finding) in
    let text = text(bytes)
    var options = SOQLOptions(now: Date(timeIntervalSince1970: 1_778_846_400))
    options.allowsApexSyntax = bytes.count % 2 == 0
    _ = try? SOQLQuery(compiling: text, schema: schema, options: options)
    var query = SOQLMutator(text)
    _ = query.isSelectingField("Id")
    query.addSelectFields("Id")
    query.addWherePredicates("Id != null")
    query.replaceOrderBy("Id")
    _ = SOQLMutator(query.soql)
  }

  static let sosl = FuzzedParser(name: "sosl") { (bytes) throws(Finding) in
    _ = try? SOSLParser.parse(SOQLSource(text(bytes)))
  }

  static let smartSQL = FuzzedParser(name: "smart-sql") { (bytes) throws(Finding) in
    let text = text(bytes)
    guard let statement = try? SmartSQLConverter.convert(text, soups: soups) else { return }
    try? statement.checkAllowed()
    _ = try? MatchKey.resolved(text, soups: soups, version: .fts5)
  }

  private static let soups: [MemberKey: Soup] = [
    MemberKey("people"): Soup(
      name: "people", number: 1,
      indexes: [
        SoupIndex(path: "name", type: .string), SoupIndex(path: "age", type: .integer),
        SoupIndex(path: "address.city", type: .json1), SoupIndex(path: "text", type: .fullText),
      ])
  ]

  static let formulas = FuzzedParser(name: "formulas") { (bytes) throws(Finding) in
    guard let account = schema.object(named: "Account") else { return }
    var field = FieldSchema(name: "Fuzzed__c", label: "Fuzzed", type: .string)
    field.calculated = true
    field.formula = text(bytes)
    var schema = schema
    schema.insert(account.with(fields: account.fields + [field]))
  }
}
