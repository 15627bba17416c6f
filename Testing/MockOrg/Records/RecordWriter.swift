import GRDB
import SalesforceSDKCommon

/// Creates, changes and deletes records of one object by the platform's rules.
struct RecordWriter {
  let transaction: OrgTransaction
  let object: ObjectSchema

  private var database: Database { transaction.database }

  // MARK: Create

  /// Inserts one record.
  ///
  /// - Parameter externalID: The field and value by which an upsert did not find a record.
  /// - Returns: The new record's id.
  /// - Throws: ``ServerError``; then nothing was written.
  func create(
    _ members: JSONSlice, externalID: (field: FieldSchema, value: DatabaseValue)? = nil
  ) throws -> String {
    guard object.createable, let prefix = object.keyPrefix else {
      throw ServerError(
        "INVALID_TYPE_FOR_OPERATION", "entity type cannot be inserted: \(object.label)")
    }
    var values = try draft(members, creating: true)
    if let externalID, let position = position(of: externalID.field.name) {
      values[position] = externalID.value
    }
    var row = [DatabaseValue](repeating: .null, count: object.table.columns.count)
    for (position, value) in values { row[position] = value }
    try complete(&row, given: values)
    if let position = position(of: "RecordTypeId"), values[position] == nil {
      row[position] = try usualRecordType()
    }
    try checkReferences(in: values)
    try checkUniqueness(of: values, except: nil)
    try checkDuplicates(of: row, changes: values.keys, except: nil)
    let id = transaction.ids.next(prefix: prefix)
    try insert(row, id: id)
    if object.name == "ContentVersion" {
      try ContentFiles(transaction: transaction).complete(version: id, of: object)
    }
    return id
  }

  /// Inserts a row whose values have been checked, with system fields and derived fields.
  ///
  /// - Parameter completing: Gives defaults to what is null, checks that nothing required is missing,
  ///   and keeps the stamps that the row has: for data that come from elsewhere.
  func insert(_ row: [DatabaseValue], id: String, completing: Bool = false) throws {
    let plan = object.table.plan
    var row = row
    if completing { try complete(&row, given: [:]) }
    if let position = plan.id { row[position] = id.databaseValue }
    if let position = plan.isDeleted { row[position] = false.databaseValue }
    let stamp = transaction.stamp.databaseValue
    for position in plan.stamps where !completing || row[position].isNull { row[position] = stamp }
    let user = transaction.userID.databaseValue
    for position in plan.users where !completing || row[position].isNull { row[position] = user }
    for (position, form) in plan.autoNumbers where row[position].isNull {
      let number = form.text(number: RecordID.number(of: id) ?? 0, day: transaction.stamp)
      row[position] = number.databaseValue
    }
    if plan.nameFallsBackToID, let name = plan.name, row[name].isNull {
      // A custom object's record without a name is called by its id.
      row[name] = id.databaseValue
    }
    DerivedFields(object: object).update(&row, stamp: transaction.stamp)
    let statement = try database.cachedStatement(sql: object.table.insert)
    statement.setUncheckedArguments(StatementArguments(row))
    try statement.execute()
  }

  /// Gives defaults to the null places of a new row.
  ///
  /// - Parameter given: The places that the caller has set, to null perhaps.
  /// - Throws: ``ServerError`` `REQUIRED_FIELD_MISSING`.
  private func complete(
    _ row: inout [DatabaseValue], given: [Int: DatabaseValue]
  ) throws(ServerError) {
    let plan = object.table.plan
    for (position, value) in plan.initials where row[position].isNull {
      if given[position] != nil { continue }
      switch value {
      case .value(let value): row[position] = value
      case .user: row[position] = transaction.userID.databaseValue
      }
    }
    var missing: [String] = []
    for position in plan.required where row[position].isNull {
      missing.append(object.fields[object.table.columns[position]].name)
    }
    if !missing.isEmpty { throw .requiredFieldsMissing(missing) }
  }

  // MARK: Update

  /// Changes one record.
  ///
  /// - Parameter conditions: What the record's present state has to fulfil.
  /// - Throws: ``ServerError``; then nothing was written.
  func update(id: String, _ members: JSONSlice, conditions: Conditions? = nil) throws {
    try check(conditions, id: id, for: .edit)
    guard object.updateable else {
      throw ServerError(
        "INVALID_TYPE_FOR_OPERATION", "entity type cannot be updated: \(object.label)")
    }
    let values = try draft(members, creating: false)
    let missing = values.compactMap { position, value -> String? in
      let field = object.fields[object.table.columns[position]]
      return value.isNull && !field.nillable ? field.name : nil
    }
    if !missing.isEmpty { throw ServerError.requiredFieldsMissing(missing.sorted()) }
    if let owner = position(of: "OwnerId"), values[owner] != nil { try permit(.transfer, on: id) }
    try checkReferences(in: values)
    try checkUniqueness(of: values, except: id)
    if !transaction.duplicates.rules.isEmpty {
      var row = try fullRow(id)
      for (position, value) in values { row[position] = value }
      try checkDuplicates(of: row, changes: values.keys, except: id)
    }
    try write(values, id: id)
  }

  /// Writes checked values over a record's and gives it a new stamp.
  private func write(_ changes: [Int: DatabaseValue], id: String) throws {
    var changes = changes
    func set(_ name: String, _ value: DatabaseValue) {
      if let position = position(of: name) { changes[position] = value }
    }
    set("LastModifiedDate", transaction.stamp.databaseValue)
    set("SystemModstamp", transaction.stamp.databaseValue)
    set("LastModifiedById", transaction.userID.databaseValue)
    let derived = DerivedFields(object: object)
    if derived.depend(on: changes.keys) {
      var row = try fullRow(id)
      for (position, value) in changes { row[position] = value }
      let before = row
      derived.update(&row, stamp: transaction.stamp)
      for position in row.indices where row[position] != before[position] {
        changes[position] = row[position]
      }
    }
    let positions = changes.keys.sorted()
    let assignments = positions.map {
      "\(RecordTable.quoted(object.fields[object.table.columns[$0]].name)) = ?"
    }
    let statement = try database.cachedStatement(
      sql: """
        UPDATE \(object.table.name) SET \(assignments.joined(separator: ", ")) WHERE "Id" = ?
        """)
    statement.setUncheckedArguments(
      StatementArguments(positions.map { changes[$0] ?? .null } + [id.databaseValue]))
    try statement.execute()
  }

  private func fullRow(_ id: String) throws -> [DatabaseValue] {
    let names = object.table.columns.map { RecordTable.quoted(object.fields[$0].name) }
    let row = try Row.fetchOne(
      database,
      sql: "SELECT \(names.joined(separator: ", ")) FROM \(object.table.name) WHERE \"Id\" = ?",
      arguments: [id])
    guard let row else { throw ServerError.notFound() }
    return names.indices.map { row[$0] as DatabaseValue }
  }

  // MARK: Delete

  /// Moves a record, and those that depend on it, to the recycle bin.
  func delete(id: String, conditions: Conditions? = nil) throws {
    try check(conditions, id: id, for: .all)
    guard object.deletable else {
      throw ServerError(
        "INVALID_TYPE_FOR_OPERATION", "entity type cannot be deleted: \(object.label)")
    }
    try transaction.atomically { try remove(id: id) }
  }

  private func remove(id: String) throws {
    var assignments = ["\"IsDeleted\" = 1", "\"SystemModstamp\" = ?"]
    var arguments: [any DatabaseValueConvertible] = [transaction.stamp]
    if position(of: "LastModifiedDate") != nil {
      assignments.append("\"LastModifiedDate\" = ?")
      arguments.append(transaction.stamp)
    }
    arguments.append(id)
    try database.execute(
      sql: """
        UPDATE \(object.table.name) SET \(assignments.joined(separator: ", ")) WHERE "Id" = ?
        """, arguments: StatementArguments(arguments))
    for child in object.childRelationships {
      guard let childObject = transaction.schema.object(named: child.childObject),
        let field = childObject.field(named: child.field), field.hasColumn
      else { continue }
      try release(childObject, field, parent: id, child)
    }
  }

  /// What becomes of the records that refer to a deleted one: deleted too, a hindrance, or set free.
  private func release(
    _ childObject: ObjectSchema, _ field: FieldSchema, parent: String, _ child: ChildRelationship
  ) throws {
    let table = childObject.table.name
    let column = RecordTable.quoted(field.name)
    if child.restrictedDelete || child.cascadeDelete {
      let ids = try String.fetchAll(
        database, sql: "SELECT \"Id\" FROM \(table) WHERE \(column) = ? AND \"IsDeleted\" = 0",
        arguments: [parent])
      if ids.isEmpty { return }
      if child.restrictedDelete && !child.cascadeDelete {
        throw ServerError(
          "DELETE_FAILED",
          "Your attempt to delete the record could not be completed because it is associated with "
            + "the following \(childObject.labelPlural.lowercased()).", fields: [])
      }
      let writer = RecordWriter(transaction: transaction, object: childObject)
      for id in ids { try writer.remove(id: id) }
    } else if field.nillable {
      try database.execute(
        sql: "UPDATE \(table) SET \(column) = NULL WHERE \(column) = ? AND \"IsDeleted\" = 0",
        arguments: [parent])
    }
  }

  /// Takes a record out of the recycle bin for good.
  func purge(id: String) throws {
    try database.execute(sql: "DELETE FROM \(object.table.name) WHERE \"Id\" = ?", arguments: [id])
  }

  /// Takes a record out of the recycle bin, back to the others; its children stay where they are.
  ///
  /// - Throws: ``ServerError`` `UNDELETE_FAILED` if it is not in the bin.
  func undelete(id: String) throws {
    guard object.undeletable else {
      throw ServerError(
        "INVALID_TYPE_FOR_OPERATION", "entity type cannot be undeleted: \(object.label)")
    }
    try permit(.all, on: id)
    try database.execute(
      sql: """
        UPDATE \(object.table.name) SET "IsDeleted" = 0, "SystemModstamp" = ? \
        WHERE "Id" = ? AND "IsDeleted" = 1
        """, arguments: [transaction.stamp, id])
    guard database.changesCount > 0 else {
      throw ServerError("UNDELETE_FAILED", "Entity is not in the recycle bin", fields: [])
    }
  }

  /// Checks that a record is there, that the user may do with it what `level` says, and that it is as its
  /// caller believes it to be.
  private func check(
    _ conditions: Conditions?, id: String, for level: MockOrgSharing.Level
  ) throws {
    let stamp: String
    do {
      stamp = try existing(id, orDeleted: .deleted()) ?? ""
    } catch let error as ServerError where error.code == "NOT_FOUND" {
      // Reading and changing respond differently for an id that does not exist, or that the user does not see.
      throw try missing(id)
    }
    try permit(level, on: id)
    try conditions?.check(
      modified: DateText.secondsSince1970(stamp) ?? 0, tag: Self.tag(id: id, stamp: stamp))
  }

  private func missing(_ id: String) throws -> ServerError {
    let statement = try database.cachedStatement(
      sql: "SELECT 1 FROM \(object.table.name) WHERE \"Id\" = ?")
    let isThere = try Int.fetchOne(statement, arguments: [id]) != nil
    return isThere ? .insufficientCrossReference(id) : .invalidCrossReference(status: 404)
  }

  /// The tag of a record's state.
  static func tag(id: String, stamp: String) -> String {
    "\"\(Digests.sha256Hex(id + stamp).prefix(24))\""
  }

  // MARK: Finding

  /// The `SystemModstamp` of a record that the user sees and that is not deleted.
  ///
  /// - Parameter deletedError: What a deleted record throws: to who reads it, it is not there.
  /// - Throws: ``ServerError`` `NOT_FOUND`, or `deletedError`.
  @discardableResult
  func existing(
    _ id: String, orDeleted deletedError: @autoclosure () -> ServerError = .notFound()
  ) throws -> String? {
    let seen = transaction.schema.andCondition(.read, on: object, as: "t0")
    let statement = try database.cachedStatement(
      sql: "SELECT \"IsDeleted\", \"SystemModstamp\" FROM \(object.table.name) AS t0"
        + " WHERE \"Id\" = ?\(seen)")
    guard let row = try Row.fetchOne(statement, arguments: [id]) else {
      throw ServerError.notFound()
    }
    if row[0] as Bool { throw deletedError() }
    return row[1]
  }

  /// Whether the user may do with a record what `level` says.
  func permits(_ level: MockOrgSharing.Level, on id: String) throws -> Bool {
    guard let condition = transaction.schema.condition(level, on: object, as: "t0") else {
      return true
    }
    let statement = try database.cachedStatement(
      sql: "SELECT 1 FROM \(object.table.name) AS t0 WHERE \"Id\" = ? AND \(condition)")
    return try Int.fetchOne(statement, arguments: [id]) != nil
  }

  /// - Throws: ``ServerError`` `INSUFFICIENT_ACCESS_OR_READONLY` if the user may not do with a record what
  ///   `level` says.
  private func permit(_ level: MockOrgSharing.Level, on id: String) throws {
    guard try permits(level, on: id) else {
      throw ServerError(
        "INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id", fields: [])
    }
  }

  /// The ids of the records, deleted ones left out, whose field has a value.
  func ids(where field: FieldSchema, is value: DatabaseValue) throws -> [String] {
    try String.fetchAll(
      database,
      sql: """
        SELECT "Id" FROM \(object.table.name) WHERE \(RecordTable.quoted(field.name)) = ? \
        AND "IsDeleted" = 0 ORDER BY rowid
        """, arguments: [value])
  }

  // MARK: Checking

  /// The values that `members` give, each checked by its field's rules, by the place of their columns.
  private func draft(_ members: JSONSlice, creating: Bool) throws -> [Int: DatabaseValue] {
    let rules = FieldRules(object: object, body: transaction.body)
    var values: [Int: DatabaseValue] = [:]
    var readOnly: [String] = []
    for (name, value) in members.members {
      if name == "attributes" { continue }
      guard let index = object.index(ofField: name) else {
        if let field = object.parentField(relationshipName: name), value.kind == .object,
          let position = position(of: field.name)
        {
          values[position] = try parent(value, of: field).databaseValue
          continue
        }
        throw ServerError.unknownField(name, of: object.name)
      }
      let field = object.fields[index]
      if creating, field.type == .id {
        throw ServerError(
          "INVALID_FIELD_FOR_INSERT_UPDATE", "cannot specify Id in an insert call", fields: ["Id"])
      }
      guard let position = object.table.positions[index],
        creating ? field.createable : field.updateable
      else {
        readOnly.append(field.name)
        continue
      }
      values[position] = try rules.stored(value, in: field)
    }
    if !readOnly.isEmpty { throw ServerError.readOnly(readOnly) }
    return values
  }

  /// The id of the parent that `members` name by an external id (`"Account": {"Key__c": "A1"}`).
  private func parent(_ members: JSONSlice, of field: FieldSchema) throws -> String {
    let type = members["attributes"]?["type"]?.string ?? field.referenceTo.first ?? ""
    guard let parent = transaction.schema.object(named: type) else {
      throw ServerError.invalidCrossReference()
    }
    let given = members.members.filter { $0.key != "attributes" }
    guard given.count == 1, let key = parent.field(named: given[0].key),
      key.externalId || key.idLookup
    else {
      throw ServerError(
        "INVALID_FIELD",
        "Foreign key external ID: \(given.first?.value.string ?? "") not found for field "
          + "\(given.first?.key ?? "") in entity \(parent.name)")
    }
    let value = try FieldRules(object: parent, body: transaction.body)
      .stored(given[0].value, in: key)
    let found = try RecordWriter(transaction: transaction, object: parent).ids(
      where: key, is: value)
    guard found.count == 1 else {
      throw ServerError(
        "INVALID_FIELD",
        "Foreign key external ID: \(given[0].value.string ?? given[0].value.description) not found "
          + "for field \(key.name) in entity \(parent.name)")
    }
    return found[0]
  }

  /// Every reference must name a record of the right object that is there.
  private func checkReferences(in values: [Int: DatabaseValue]) throws {
    for (position, value) in values {
      let field = object.fields[object.table.columns[position]]
      guard field.type == .reference, let id = String.fromDatabaseValue(value) else { continue }
      guard let parent = transaction.schema.object(keyPrefix: id.prefix(3)),
        field.canReference(parent)
      else {
        throw ServerError(
          "MALFORMED_ID", "\(field.label): id value of incorrect type: \(id)", fields: [field.name])
      }
      let statement = try database.cachedStatement(
        sql: "SELECT \"IsDeleted\" FROM \(parent.table.name) WHERE \"Id\" = ?")
      guard let deleted = try Bool.fetchOne(statement, arguments: [id]) else {
        throw ServerError(
          "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", fields: [field.name])
      }
      if deleted {
        throw ServerError("ENTITY_IS_DELETED", "entity is deleted", fields: [])
      }
      if field.name == "RecordTypeId", parent.name == "RecordType" {
        try checkRecordType(id, of: parent)
      }
      // A detail is a part of its master.
      let level: MockOrgSharing.Level = field.cascadeDelete && !field.nillable ? .edit : .read
      let parentWriter = RecordWriter(transaction: transaction, object: parent)
      guard try parentWriter.permits(level, on: id) else {
        throw ServerError.insufficientCrossReference(id)
      }
    }
  }

  /// The record type of a record that names none: the object's first active one, or null.
  private func usualRecordType() throws -> DatabaseValue {
    guard let types = transaction.schema.object(named: "RecordType") else { return .null }
    let statement = try database.cachedStatement(
      sql: "SELECT \"Id\" FROM \(types.table.name) WHERE \"SobjectType\" = ? AND \"IsActive\" = 1"
        + " AND \"IsDeleted\" = 0 ORDER BY rowid LIMIT 1")
    return try String.fetchOne(statement, arguments: [object.name])?.databaseValue ?? .null
  }

  /// A record type has to be one of the object's own that is in use.
  private func checkRecordType(_ id: String, of types: ObjectSchema) throws {
    let statement = try database.cachedStatement(
      sql: "SELECT \"IsActive\" FROM \(types.table.name) WHERE \"Id\" = ? AND \"SobjectType\" = ?")
    guard try Bool.fetchOne(statement, arguments: [id, object.name]) == true else {
      throw ServerError(
        "INVALID_CROSS_REFERENCE_KEY",
        "Record Type ID: this ID value isn't valid for the user: \(id)", fields: ["RecordTypeId"])
    }
  }

  private func checkUniqueness(of values: [Int: DatabaseValue], except id: String?) throws {
    for (position, value) in values where !value.isNull {
      let field = object.fields[object.table.columns[position]]
      guard field.unique else { continue }
      if let other = try ids(where: field, is: value).first(where: { $0 != id }) {
        let shown = try permits(.read, on: other) ? String(other.prefix(15)) : "<unknown>"
        throw ServerError(
          "DUPLICATE_VALUE",
          "duplicate value found: \(field.name) duplicates value on record with id: \(shown)",
          fields: [])
      }
    }
  }

  private func position(of field: String) -> Int? {
    object.index(ofField: field).flatMap { object.table.positions[$0] }
  }
}
