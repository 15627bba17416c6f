import GRDB
import SalesforceSDKCommon

/// Applies the records of a bulk job, each by itself, by the rules of single records.
struct BulkRows {
  let transaction: OrgTransaction
  let object: ObjectSchema
  let operation: String
  let externalIDField: FieldSchema?

  /// Checks what a job says about itself.
  ///
  /// - Throws: ``ServerError``.
  init(
    transaction: OrgTransaction, object name: String, operation: String, externalIDField: String?
  ) throws(ServerError) {
    guard let object = transaction.schema.object(named: name) else {
      throw ServerError("INVALIDENTITY", "Object type \(name) not found")
    }
    self.transaction = transaction
    self.object = object
    self.operation = operation
    guard operation == "upsert" else {
      self.externalIDField = nil
      return
    }
    guard let externalIDField, !externalIDField.isEmpty else {
      throw ServerError(
        "INVALIDJOB",
        "InvalidJob : External ID was blank for \(object.name). An External ID must be specified for "
          + "upsert.")
    }
    guard let field = object.field(named: externalIDField),
      field.externalId || field.idLookup
    else {
      throw ServerError(
        "INVALIDJOB",
        "InvalidJob : Field name not found or not an external ID: \(externalIDField)")
    }
    self.externalIDField = field
  }

  /// The columns of a file that are no fields.
  func unknownColumns(_ header: [String]) -> [String] {
    header.filter { column in
      let parts = column.split(separator: ".")
      if parts.count == 2 {
        let relationship = parts[0].split(separator: ":").last.map(String.init) ?? ""
        return object.parentField(relationshipName: relationship) == nil
      }
      return object.field(named: column) == nil
    }
  }

  /// The record that a row of a file means: an empty value says nothing, `#N/A` is null, and
  /// `Account.Key__c` names a parent.
  func record(_ header: [String], _ row: [String]) throws -> JSONSlice {
    var members: [ResponseJSON.Member] = []
    for (column, value) in zip(header, row) where !value.isEmpty {
      let parts = column.split(separator: ".")
      guard parts.count == 2 else {
        members.append((column, value == "#N/A" ? .null : .string(value)))
        continue
      }
      // `Contact:Who.Email` names the object of a parent that may be of several.
      let names = parts[0].split(separator: ":")
      var parent: ResponseJSON =
        names.count == 2 ? ["attributes": ["type": .string(String(names[0]))]] : [:]
      parent.append([String(parts[1]): .string(value)])
      members.append((String(names.last ?? ""), parent))
    }
    return try ResponseJSON.object(members).slice
  }

  /// Does the job's work on one record.
  func apply(_ record: JSONSlice) throws -> RecordResult {
    do {
      return try transaction.atomically { try change(record) }
    } catch let error as ServerError {
      return RecordResult(error: error)
    }
  }

  private func change(_ record: JSONSlice) throws -> RecordResult {
    let writer = RecordWriter(transaction: transaction, object: object)
    let given = record.members.first { $0.key.lowercased() == "id" }?.value.string
    func withoutID() throws -> JSONSlice {
      try record.setting(
        [], removing: record.members.map(\.key).filter { $0.lowercased() == "id" })
    }
    func id() throws -> String {
      guard let given, !given.isEmpty else {
        throw ServerError(
          "MISSING_ARGUMENT", "Id not specified in an \(operation) call", fields: [])
      }
      guard let id = RecordID.normalized(given), id.hasPrefix(object.keyPrefix ?? " ") else {
        throw ServerError.malformedID(given)
      }
      return id
    }
    switch operation {
    case "insert": return RecordResult(id: try writer.create(record), created: true)
    case "update":
      let id = try id()
      try writer.update(id: id, withoutID())
      return RecordResult(id: id, created: false)
    case "delete", "hardDelete", "harddelete":
      let id = try id()
      try writer.delete(id: id)
      if operation != "delete" { try writer.purge(id: id) }
      return RecordResult(id: id, created: false)
    default:
      return try upsert(record, writer)
    }
  }

  private func upsert(_ record: JSONSlice, _ writer: RecordWriter) throws -> RecordResult {
    guard let field = externalIDField else {
      throw ServerError("INVALID_OPERATION", "\(operation) is no operation of a bulk job")
    }
    let key = record.members.first { $0.key.lowercased() == field.name.lowercased() }
    let rest = try record.setting([], removing: key.map { [$0.key] } ?? [])
    guard let key, !key.value.isNull, key.value.string != "" else {
      if field.type == .id { return RecordResult(id: try writer.create(rest), created: true) }
      throw ServerError("MISSING_ARGUMENT", "\(field.name) not specified", fields: [field.name])
    }
    let value = try FieldRules(object: object, body: []).stored(key.value, in: field)
    return try writer.upsert(rest, by: field, value)
  }
}

extension ServerError {
  /// The error as a result file shows it.
  var bulkText: String { "\(code):\(message):\((fields ?? []).joined(separator: " ")) --" }
}
