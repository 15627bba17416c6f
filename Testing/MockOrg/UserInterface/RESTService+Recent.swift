import GRDB
import SalesforceSDKCommon
import Synchronization

/// Which records each user has had to do with last.
final class RecentItems: Sendable {
  /// What the platform keeps of an object.
  private static let capacity = 200
  private let state = Mutex<[String: [String]]>([:])

  /// Notes that a user has seen, made or changed a record.
  func view(_ id: String, by userID: String) {
    state.withLock { items in
      if items[userID]?.first == id { return }
      items[userID, default: []].removeAll { $0 == id }
      items[userID, default: []].insert(id, at: 0)
      if items[userID, default: []].count > Self.capacity { items[userID]?.removeLast() }
    }
  }

  /// A user's records, the last one first.
  func items(of userID: String) -> [String] { state.withLock { $0[userID] ?? [] } }

  func removeAll() { state.withLock { $0 = [:] } }
}

extension RESTService {
  private static let recentLimit = 200

  /// `/recent?limit=N`: the records of all objects that the user has seen last.
  func recent(_ request: OrgRequest) throws -> OrgResponse {
    var limit = Self.recentLimit
    if let text = request[query: "limit"] {
      guard let number = Int(text), number > 0 else {
        throw ServerError("INVALID_LIMIT", "The limit parameter has to be a positive number.")
      }
      limit = min(number, Self.recentLimit)
    }
    let records = try recentRecords(limit: limit)
    return .json { writer in
      writer.beginArray()
      for record in records {
        writeRecent(record, idKey: "Id", to: &writer)
      }
      writer.endArray()
    }
  }

  struct RecentRecord {
    let object: ObjectSchema
    let id: String
    let nameField: String?
    let name: String?
  }

  /// The records that are still there, with their names.
  func recentRecords(of object: ObjectSchema? = nil, limit: Int) throws -> [RecentRecord] {
    var records: [RecentRecord] = []
    for id in org.recents.items(of: transaction.userID) where records.count < limit {
      guard let itsObject = transaction.schema.object(keyPrefix: id.prefix(3)),
        object == nil || itsObject.name == object?.name
      else { continue }
      let nameField = itsObject.nameField?.name
      let column = nameField.map { RecordTable.quoted($0) } ?? "NULL"
      let statement = try transaction.database.cachedStatement(
        sql: """
          SELECT \(column) FROM \(itsObject.table.name) AS t0 WHERE "Id" = ? AND "IsDeleted" = 0\
          \(transaction.schema.andCondition(.read, on: itsObject, as: "t0"))
          """)
      guard let row = try Row.fetchOne(statement, arguments: [id]) else { continue }
      records.append(
        RecentRecord(object: itsObject, id: id, nameField: nameField, name: row[0]))
    }
    return records
  }

  func writeRecent(_ record: RecentRecord, idKey: String, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("attributes")
    writer.beginObject()
    writer.key("type")
    writer.string(record.object.name)
    writer.key("url")
    writer.string("\(transaction.versionPath)/sobjects/\(record.object.name)/\(record.id)")
    writer.endObject()
    writer.key(idKey)
    writer.string(record.id)
    if let name = record.nameField {
      writer.key(name)
      writer.string(orNull: record.name)
    }
    writer.endObject()
  }
}
