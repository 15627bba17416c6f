import Foundation
import GRDB
import SalesforceSDKCommon

@testable import SalesforceMockOrg
@testable import MockOrgTests

/// The same objects and records in the engine, and the responses of both in one form.
struct EngineUnderTest {
  /// Sunday, 2024-03-10 15:30:00 UTC: the day on which New York changes to summer time.
  static let now = Date(timeIntervalSince1970: 1_710_084_600)

  let database: DatabaseQueue
  let schema: OrgSchema
  let plain: PlainOrg

  init(_ plain: PlainOrg) throws {
    self.plain = plain
    let objects = plain.objects.values.sorted { $0.name < $1.name }
    schema = OrgSchema(
      objects.map(Self.schema))
    var configuration = Configuration()
    configuration.prepareDatabase { SOQLDatabase.prepare($0) }
    database = try DatabaseQueue(configuration: configuration)
    try database.write { [schema] database in
      for object in objects {
        guard let table = schema.object(named: object.name)?.table else { continue }
        for sql in table.create { try database.execute(sql: sql) }
        for record in object.records {
          let names = record.keys.sorted()
          try database.execute(
            sql:
              "INSERT INTO \(table.name) (\(names.map(RecordTable.quoted).joined(separator: ", ")))"
              + " VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))",
            arguments: StatementArguments(names.map { Self.stored(record[$0] ?? .null) }))
        }
      }
    }
  }

  private static func stored(_ value: PlainValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .text(let text): text.databaseValue
    case .number(let number): number.databaseValue
    case .boolean(let boolean): boolean.databaseValue
    }
  }

  private static func schema(_ object: PlainObject) -> ObjectSchema {
    var fields = object.fields.map { plain in
      let type: FieldType =
        switch plain.kind {
        case .text, .exactText: .string
        case .picklist: .picklist
        case .multipicklist: .multipicklist
        case .int: .int
        case .number: .double
        case .boolean: .boolean
        case .date: .date
        case .dateTime: .datetime
        case .time: .time
        case .id: .id
        case .reference: .reference
        }
      var field = FieldSchema(name: plain.name, label: plain.name, type: type)
      field.caseSensitive = plain.kind == .exactText
      field.picklistValues = plain.options.map { PicklistValue(value: $0.value, label: $0.label) }
      field.referenceTo = plain.targets
      field.relationshipName = plain.targets.isEmpty ? nil : plain.relationship
      field.nameField = plain.name == "Name"
      return field
    }
    if object.hasPlace {
      for part in ["Latitude", "Longitude"] {
        var field = FieldSchema(name: "Place__\(part)__s", label: part, type: .double)
        field.compoundFieldName = "Place__c"
        fields.append(field)
      }
      fields.append(FieldSchema(name: "Place__c", label: "Place", type: .location))
    }
    var schema = ObjectSchema(
      name: object.name, label: object.name, keyPrefix: object.prefix, fields: fields)
    schema.childRelationships = object.children.map {
      ChildRelationship(childObject: $0.object, field: $0.field, relationshipName: $0.relationship)
    }
    return schema
  }

  /// What stands in `records` of the engine's response to a query.
  func answer(_ soql: String) throws -> ResultTree {
    .array(try page(soql)["records"].map { $0.elements.map { ResultTree($0) } } ?? [])
  }

  /// The engine's response to `SELECT COUNT() ...`.
  func count(_ soql: String) throws -> Int? {
    try page(soql)["totalSize"]?.int64.map(Int.init)
  }

  private func page(_ soql: String) throws -> JSONSlice {
    let options = SOQLOptions(
      now: Self.now, timeZone: TimeZone(identifier: plain.zone) ?? .gmt, userID: plain.userID,
      allowsApexSyntax: true)
    let bytes = try database.read { database in
      let transaction = OrgTransaction(
        database: database, schema: schema, ids: IDSequence(), userID: plain.userID,
        organizationID: "", now: Self.now, apiVersion: 66)
      return try QueryRunner(transaction: transaction, cursors: QueryCursors()).firstPage(
        of: SOQLQuery(compiling: soql, schema: schema, options: options), batchSize: 2000)
    }
    return try JSONSlice(parsing: bytes)
  }
}

/// A response without what only the engine can know, such as URLs.
indirect enum ResultTree: Equatable {
  case null
  case text(String)
  case number(Double)
  case boolean(Bool)
  case array([ResultTree])
  case object([String: ResultTree])

  init(_ value: PlainValue) {
    switch value {
    case .null: self = .null
    case .text(let text): self = .text(text)
    case .number(let number): self = .number(number)
    case .boolean(let boolean): self = .boolean(boolean)
    }
  }

  init(_ json: JSONSlice) {
    switch json.kind {
    case .null: self = .null
    case .string: self = .text(json.string ?? "")
    case .number: self = .number(json.double ?? .nan)
    case .array: self = .array(json.elements.map { ResultTree($0) })
    case .object:
      var members: [String: ResultTree] = [:]
      for (name, value) in json.members {
        members[name] =
          name == "attributes" ? value["type"].map { ResultTree($0) } : ResultTree(value)
      }
      self = .object(members)
    default: self = .boolean(json.bool ?? false)
    }
  }

  /// The same without the case of ASCII letters: which of several texts that differ in it stands for a
  /// group is left open.
  var folded: ResultTree {
    switch self {
    case .text(let text): .text(PlainEvaluator.folded(text))
    case .array(let elements): .array(elements.map(\.folded))
    case .object(let members): .object(members.mapValues(\.folded))
    default: self
    }
  }
}
