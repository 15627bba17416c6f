public import Foundation
import GRDB
import SalesforceSDKCommon

extension MockOrg {
  /// Adds the objects, fields and record types of a project in source format (`*.object-meta.xml`,
  /// `*.field-meta.xml`, `*.recordType-meta.xml`). Objects and fields that the org knows already are
  /// replaced by their new definition; records stay.
  ///
  /// - Parameter folder: The project, one of its packages, or a folder `objects`.
  /// - Returns: The names of the objects.
  /// - Throws: ``MockOrgError`` `unreadable`, `invalidSchema`; then nothing changed.
  @discardableResult
  public func load(sourceFormat folder: URL) async throws(MockOrgError) -> [String] {
    let objects = try SourceObject.all(in: folder)
    var inference = SchemaInference(schema: schema)
    inference.takeUp(objects)
    try await change(to: inference.schema, names: inference.changed)
    let types = objects.map { ($0.name, $0.recordTypes) }
    do {
      try await database.write { [self] database in
        let transaction = transaction(database, userID: userID)
        guard let object = transaction.schema.object(named: "RecordType") else { return }
        let writer = RecordWriter(transaction: transaction, object: object)
        for (name, types) in types {
          for type in types { try writer.makeRecordType(type, of: name) }
        }
      }
    } catch {
      throw MockOrgError(.storage, "The record types cannot be written.", cause: error)
    }
    return objects.map(\.name)
  }
}

extension RecordWriter {
  /// Makes the record of a record type, unless it is there.
  fileprivate func makeRecordType(_ type: SourceObject.RecordType, of name: String) throws {
    let known = try String.fetchOne(
      transaction.database,
      sql: """
        SELECT "Id" FROM \(object.table.name) WHERE "SobjectType" = ? AND "DeveloperName" = ?
        """, arguments: [name, type.developerName])
    guard known == nil else { return }
    let record: ResponseJSON = [
      "Name": .string(type.label), "DeveloperName": .string(type.developerName),
      "SobjectType": .string(name), "Description": .string(type.description ?? ""),
      "IsActive": .bool(type.isActive),
    ]
    _ = try create(record.slice)
  }
}
