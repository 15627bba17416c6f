import GRDB
import SalesforceSDKCommon

/// The objects that an org got besides the standard ones, kept in its database so that a file can be
/// opened again.
enum KeptSchema {
  private static let table = "\"mock org objects\""

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: "CREATE TABLE IF NOT EXISTS \(table) (name TEXT PRIMARY KEY, description TEXT NOT NULL)")
  }

  static func read(_ database: Database) throws -> [ObjectSchema] {
    try String.fetchAll(database, sql: "SELECT description FROM \(table) ORDER BY name").map {
      try ObjectSchema(describe: JSONSlice(parsing: $0))
    }
  }

  static func write(_ object: ObjectSchema, _ database: Database) throws {
    let description = DescribeJSON(versionPath: "", isKept: true).object(object).bytes
    try database.execute(
      sql: "INSERT OR REPLACE INTO \(table) VALUES (?, ?)",
      arguments: [object.name, String(decoding: description, as: UTF8.self)])
  }
}
