public import Foundation
import GRDB
import SalesforceSDKCommon

extension MockOrg {
  /// How many records of an object were made.
  public struct Loaded: Sendable, Hashable {
    /// The object's API name.
    public let object: String
    public let count: Int
  }

  /// Adds objects from describe results, one a file, or puts them in the place of those with their
  /// names; their records stay, and fields that the new description lacks are no longer shown.
  ///
  /// The parents of their references get the relationships to them, such as `Visits__r` for `Visit__c`, where their own
  /// descriptions do not name them.
  ///
  /// - Throws: ``MockOrgError`` `unreadable`, `invalidData`, `invalidSchema`; then nothing changed.
  public func load(describesIn folder: URL) async throws(MockOrgError) {
    let objects = try DescribeFolder.objects(in: folder)
    var inference = SchemaInference(schema: schema)
    inference.takeUp(described: objects)
    try await change(to: inference.schema, names: inference.changed)
  }

  /// Loads the records of a plan with its tree files, or of one tree file, in one transaction.
  ///
  /// References between records (`@Ref`) are resolved whatever their order. Objects and fields that
  /// the org does not know are made up from the data.
  ///
  /// - Parameter progress: Called after every few thousand records with their number so far and the
  ///   number of all.
  /// - Returns: The number of records by object, in the plan's order.
  /// - Throws: ``MockOrgError`` `unreadable` or `invalidData`; then nothing was loaded.
  @discardableResult
  public func load(
    plan: URL, progress: (@Sendable (_ loaded: Int, _ total: Int) -> Void)? = nil
  ) async throws(MockOrgError) -> [Loaded] {
    let data = try TreeData(plan: plan)
    let references = TreeReferences(data)
    var inference = SchemaInference(schema: schema)
    try inference.fit(data) { references.object(of: $0, from: $1, in: data) }
    try await change(to: inference.schema, names: inference.changed)
    let loader = TreeLoader(data: data, references: references, inference: inference)
    do {
      return try await database.write { [self] database in
        try loader.load(transaction(database, userID: userID), progress: progress)
      }
    } catch let error as MockOrgError {
      throw error
    } catch {
      throw MockOrgError(.storage, "The records of the plan cannot be written.", cause: error)
    }
  }

  /// Takes a new schema and makes the tables that it needs.
  func change(to schema: OrgSchema, names: Set<String>) async throws(MockOrgError) {
    do {
      try await database.write { database in
        for name in names.sorted() {
          guard let object = schema.object(named: name) else { continue }
          try TableChange(object).apply(database)
          try KeptSchema.write(object, database)
        }
        try RollUpTriggers(schema).create(database, changed: names)
      }
    } catch let error as MockOrgError {
      throw error
    } catch {
      throw MockOrgError(.storage, "The tables of new objects cannot be made.", cause: error)
    }
    schemas.insert(names, of: schema, at: options.clock.now)
  }
}

/// Brings the table of an object to its present fields.
struct TableChange: Sendable {
  let object: ObjectSchema

  init(_ object: ObjectSchema) { self.object = object }

  /// - Returns: The columns that a table got which was there before.
  @discardableResult
  func apply(_ database: Database) throws -> [String] {
    let existing = try Row.fetchAll(
      database, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [object.name]
    ).map { $0[0] as String }
    let added =
      existing.isEmpty
      ? [] : object.table.definitions.filter { !existing.contains($0.column) }
    for definition in added {
      try database.execute(sql: "ALTER TABLE \(object.table.name) ADD COLUMN \(definition.sql)")
    }
    for sql in object.table.create { try database.execute(sql: sql) }
    return added.map(\.column)
  }
}
