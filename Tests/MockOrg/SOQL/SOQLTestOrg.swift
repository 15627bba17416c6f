import Foundation
import GRDB

@testable import SalesforceMockOrg

/// A value of a field as the tests think of it.
enum TestValue: Hashable {
  case null
  case text(String)
  case number(Double)
  case boolean(Bool)

  var databaseValue: DatabaseValue {
    switch self {
    case .null: .null
    case .text(let text): text.databaseValue
    case .number(let number): number.databaseValue
    case .boolean(let boolean): boolean.databaseValue
    }
  }
}

typealias TestRecord = [String: TestValue]

/// A small schema over an SQLite database in memory, and the means to run queries in it.
struct SOQLTestOrg {
  /// Saturday, 2024-02-10 15:30:00 UTC.
  static let now = Date(timeIntervalSince1970: 1_707_579_000)

  let database: DatabaseQueue
  var options = SOQLOptions(now: Self.now, allowsApexSyntax: true)

  init(_ records: [String: [TestRecord]] = [:]) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { SOQLDatabase.prepare($0) }
    database = try DatabaseQueue(configuration: configuration)
    try database.write { database in
      for object in Self.schema.objects {
        let columns = object.fields.filter(\.hasColumn).map { field in
          let type =
            switch field.type.storage {
            case .text: field.caseSensitive ? "TEXT" : "TEXT COLLATE NOCASE"
            case .exact: "TEXT"
            case .integer: "INTEGER"
            case .real, .compound: "REAL"
            }
          return "\"\(field.name)\" \(type)" + (field.name == "Id" ? " UNIQUE" : "")
        }
        try database.execute(
          sql: "CREATE TABLE \"\(object.name)\" (\(columns.joined(separator: ", ")))")
        for record in records[object.name] ?? [] {
          let fields = record.keys.sorted()
          try database.execute(
            sql: "INSERT INTO \"\(object.name)\" (IsDeleted, "
              + fields.map { "\"\($0)\"" }.joined(separator: ", ") + ") VALUES (?, "
              + fields.map { _ in "?" }.joined(separator: ", ") + ")",
            arguments: StatementArguments(
              [(record["IsDeleted"] ?? .boolean(false)).databaseValue]
                + fields.map { (record[$0] ?? .null).databaseValue }))
        }
      }
    }
  }

  func compile(_ soql: String) throws(ServerError) -> SOQLQuery {
    try SOQLQuery(compiling: soql, schema: Self.schema, options: options)
  }

  /// The rows of a query, column by column.
  func rows(_ soql: String) throws -> [[DatabaseValue]] { try rows(of: compile(soql)) }

  func rows(of query: SOQLQuery) throws -> [[DatabaseValue]] {
    var sql = "SELECT \(query.columns.joined(separator: ", ")) FROM \(query.from)"
    if let condition = query.condition { sql += " WHERE \(condition)" }
    if let group = query.group { sql += " GROUP BY \(group)" }
    if let order = query.order { sql += " ORDER BY \(order)" }
    if query.limit != nil || query.offset != nil {
      sql += " LIMIT \(query.limit ?? -1) OFFSET \(query.offset ?? 0)"
    }
    let arguments =
      query.fromArguments + query.conditionArguments
      + query.groupArguments
    return try database.read { database in
      try Row.fetchAll(database, sql: sql, arguments: StatementArguments(arguments))
        .map { Array($0.databaseValues) }
    }
  }

  /// The first selected field of every row: its key is the shape's first member.
  func values(_ soql: String) throws -> [String?] {
    let query = try compile(soql)
    guard case .field(_, let column, _)? = query.record.members.first else { return [] }
    return try rows(of: query).map { String.fromDatabaseValue($0[column]) }
  }

  /// The response of `SELECT COUNT() ...`.
  func count(_ soql: String) throws -> Int? {
    try rows(soql).first.flatMap { Int.fromDatabaseValue($0[0]) }
  }

  /// The error of a query that must not compile.
  func error(_ soql: String) -> ServerError? {
    do {
      _ = try compile(soql)
      return nil
    } catch {
      return error
    }
  }

  /// The 18-character id of a number.
  static func id(_ prefix: String, _ number: Int) -> String {
    let digits = String(number)
    let stem = prefix + String(repeating: "0", count: 12 - digits.count) + digits
    return RecordID.normalized(stem) ?? stem
  }

  // MARK: Schema

  static let industries = ["Energy", "Banking", "Apparel", "Media"]
  static let tags = ["red", "green", "blue"]

  static let schema: OrgSchema = {
    func field(
      _ name: String, _ type: FieldType, _ change: (inout FieldSchema) -> Void = { _ in }
    ) -> FieldSchema {
      var field = FieldSchema(name: name, label: name, type: type)
      field.custom = name.hasSuffix("__c")
      change(&field)
      return field
    }
    func reference(_ name: String, _ to: [String], _ relationship: String) -> FieldSchema {
      field(name, .reference) {
        $0.referenceTo = to
        $0.relationshipName = relationship
      }
    }
    let system = [
      field("Id", .id), field("IsDeleted", .boolean), field("SystemModstamp", .datetime),
      field("CreatedDate", .datetime),
    ]
    let name = field("Name", .string) {
      $0.length = 255
      $0.nameField = true
    }
    var account = ObjectSchema(
      name: "Account", label: "Account", keyPrefix: "001",
      fields: system + [
        name,
        field("Industry", .picklist) {
          $0.picklistValues = Self.industries.map { PicklistValue(value: $0, label: $0 + " label") }
        },
        field("Tags__c", .multipicklist),
        field("AnnualRevenue", .currency),
        field("NumberOfEmployees", .int),
        field("Active__c", .boolean),
        field("Founded__c", .date),
        field("Opens__c", .time),
        field("Code__c", .string) { $0.caseSensitive = true },
        field("Description", .textarea) { $0.length = 32_000 },
        field("BillingCity", .string) { $0.compoundFieldName = "BillingAddress" },
        field("BillingCountry", .string) { $0.compoundFieldName = "BillingAddress" },
        field("BillingAddress", .address),
        field("Place__Latitude__s", .double) { $0.compoundFieldName = "Place__c" },
        field("Place__Longitude__s", .double) { $0.compoundFieldName = "Place__c" },
        field("Place__c", .location),
        reference("ParentId", ["Account"], "Parent"),
        reference("OwnerId", ["User"], "Owner"),
      ])
    account.childRelationships = [
      ChildRelationship(
        childObject: "Contact", field: "AccountId", relationshipName: "Contacts"),
      ChildRelationship(
        childObject: "Account", field: "ParentId", relationshipName: "ChildAccounts"),
    ]
    let contact = ObjectSchema(
      name: "Contact", label: "Contact", keyPrefix: "003",
      fields: system + [
        name, field("Email", .email), field("Score__c", .double), field("Birthdate", .date),
        reference("AccountId", ["Account"], "Account"),
        reference("OwnerId", ["Group", "User"], "Owner"),
      ])
    let user = ObjectSchema(
      name: "User", label: "User", keyPrefix: "005",
      fields: system + [name, field("Title", .string)])
    let group = ObjectSchema(
      name: "Group", label: "Group", keyPrefix: "00G", fields: system + [name])
    return OrgSchema([account, contact, user, group])
  }()
}
