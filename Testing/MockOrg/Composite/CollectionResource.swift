import GRDB
import SalesforceSDKCommon

/// `/composite/sobjects`: creates, changes or deletes several records in one call.
struct CollectionResource: Resource {
  let call: RESTCall

  func create() throws -> OrgResponse {
    let collection = try RecordCollection(of: request)
    return try perform(collection) { record, _ in
      let id = try writer(transaction.objectType(of: record)).create(record)
      return RecordResult(id: id)
    }
  }

  func update() throws -> OrgResponse {
    let collection = try RecordCollection(of: request)
    let ids = collection.records.map { record in
      (record["id"] ?? record["Id"])?.string.flatMap { RecordID.normalized($0) }
    }
    let repeated = Repetitions(ids)
    return try perform(collection) { record, index in
      let object = try transaction.objectType(of: record)
      guard let given = (record["id"] ?? record["Id"])?.string, !given.isEmpty else {
        throw ServerError(
          "MISSING_ARGUMENT", "Id not specified in an update call", fields: ["Id"])
      }
      guard let id = ids[index] else { throw ServerError.malformedID(given) }
      try repeated.refuse(id, what: "id")
      guard id.hasPrefix(object.keyPrefix ?? " ") else {
        throw ServerError.malformedID(given)
      }
      let changes = try record.setting([], removing: ["id", "Id", "attributes"])
      try writer(object).update(id: id, changes)
      return RecordResult(id: id)
    }
  }

  func delete() throws -> OrgResponse {
    let given = request.list("ids")
    try RecordCollection.checkCount(given.count, limit: RecordCollection.limit)
    let allOrNone = request[query: "allOrNone"]?.lowercased() == "true"
    let ids = given.map { RecordID.normalized($0) }
    try RecordCollection.checkChunks(ids.map { String($0?.prefix(3) ?? "") })
    let repeated = Repetitions(ids)
    return try perform(allOrNone: allOrNone, count: given.count) { index in
      guard let id = ids[index] else { throw ServerError.malformedID(given[index]) }
      try repeated.refuse(id, what: "id")
      guard let object = transaction.schema.object(keyPrefix: id.prefix(3)) else {
        throw ServerError.malformedID(given[index])
      }
      try RecordWriter(transaction: transaction, object: object).delete(id: id)
      return RecordResult(id: id)
    }
  }

  /// `/composite/sobjects/NAME/FIELD`: changes the records that have the external ids, and creates the others.
  func upsert() throws -> OrgResponse {
    let object = try object
    let field = try object.externalID(named: call["field"])
    let collection = try RecordCollection(of: request)
    func key(of record: JSONSlice) -> JSONSlice? {
      record.members.first { $0.key.lowercased() == field.name.lowercased() }?.value
    }
    let repeated = Repetitions(
      collection.records.map {
        key(of: $0).flatMap { $0.isNull ? nil : $0.string ?? $0.description }
      })
    return try perform(collection) { record, _ in
      guard try transaction.objectType(of: record).name == object.name else {
        throw ServerError(
          "INVALID_TYPE", "The record's type is not \(object.name), which the URL names.")
      }
      let writer = writer(object)
      guard let key = key(of: record), !key.isNull, key.string != "" else {
        if field.type == .id {
          let rest = try record.setting([], removing: ["id", "Id", "attributes"])
          return RecordResult(id: try writer.create(rest), created: true)
        }
        throw ServerError(
          "MISSING_ARGUMENT", "\(field.name) not specified", fields: [field.name])
      }
      try repeated.refuse(key.string ?? key.description, what: "external id")
      let value = try FieldRules(object: object, body: request.body).stored(key, in: field)
      let names = record.members.map(\.key).filter { $0.lowercased() == field.name.lowercased() }
      let rest = try record.setting([], removing: names + ["attributes"])
      return try writer.upsert(rest, by: field, value)
    }
  }

  // MARK: What they share

  private func perform(
    _ collection: RecordCollection, _ body: (JSONSlice, Int) throws -> RecordResult
  ) throws -> OrgResponse {
    try perform(allOrNone: collection.allOrNone, count: collection.records.count) { index in
      try body(collection.records[index], index)
    }
  }

  /// Runs `body` for each record and writes the results in order. With `allOrNone` one failure undoes
  /// all; without it the others stand.
  private func perform(
    allOrNone: Bool, count: Int, _ body: (Int) throws -> RecordResult
  ) throws -> OrgResponse {
    let results = try self.results(
      allOrNone: allOrNone || call.service.requiresAllOrNone, count: count, body)
    var response = OrgResponse.json(.array(results) { $0.json })
    response.hasFailedRecords = results.contains { $0.error != nil }
    return response
  }

  private func results(
    allOrNone: Bool, count: Int, _ body: (Int) throws -> RecordResult
  ) throws -> [RecordResult] {
    var results: [RecordResult] = []
    var failed = false
    try transaction.database.inSavepoint {
      for index in 0..<count {
        do {
          results.append(try transaction.atomically { try body(index) })
        } catch let error as ServerError {
          failed = true
          results.append(RecordResult(error: error))
        }
      }
      return allOrNone && failed ? .rollback : .commit
    }
    if allOrNone && failed {
      for index in results.indices where results[index].error == nil {
        results[index] = RecordResult(error: RecordResult.rolledBack)
      }
    }
    return results
  }
}
