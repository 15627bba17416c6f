import GRDB

extension MockOrg {
  /// Makes up `count` records of an object, the same ones for the same seed and the same org.
  ///
  /// References name records that are there already, so generate parents first. A custom object that
  /// the org does not know (`Widget__c`) is made up with a few fields.
  ///
  /// - Parameter progress: Called after every few thousand records with their number so far.
  /// - Throws: ``MockOrgError`` `invalidData` if the object is a standard one that the org does not
  ///   know or whose records cannot be created.
  public func generate(
    _ name: String, count: Int, seed: UInt64 = 1,
    progress: (@Sendable (Int) -> Void)? = nil
  ) async throws(MockOrgError) {
    if schema.object(named: name) == nil {
      guard name.hasSuffix("__c") else {
        throw MockOrgError(
          .invalidData,
          "The org knows no object \(name). Give its description with --describe, or choose another."
        )
      }
      var inference = SchemaInference(schema: schema)
      inference.insertObject(named: name, fields: Self.usualFields)
      try await change(to: inference.schema, names: inference.changed)
    }
    guard let object = schema.object(named: name), object.createable, let prefix = object.keyPrefix
    else { throw MockOrgError(.invalidData, "Records of \(name) cannot be created.") }
    do {
      let parents = try await read { [self] database in
        var parents: [String: [String]] = [:]
        for name in RecordGenerator.parents(of: object) {
          guard let parent = schema.object(named: name) else { continue }
          parents[name] = try String.fetchAll(
            database,
            sql: "SELECT \"Id\" FROM \(parent.table.name) WHERE \"IsDeleted\" = 0 LIMIT 50000")
        }
        return parents
      }
      var generator = RecordGenerator(object: object, seed: seed, parents: parents)
      var made = 0
      while made < count {
        let step = min(5000, count - made)
        let first = made
        let current = generator
        generator = try await database.write { [self] database in
          var generator = current
          let transaction = transaction(database, userID: userID)
          let writer = RecordWriter(transaction: transaction, object: object)
          for number in first..<first + step {
            try writer.insert(
              generator.row(number + 1), id: ids.next(prefix: prefix), completing: true)
          }
          return generator
        }
        made += step
        progress?(made)
      }
    } catch {
      throw MockOrgError(.storage, "The records of \(name) cannot be written.", cause: error)
    }
  }

  /// The fields of an object that is only known by its name.
  private static var usualFields: [FieldSchema] {
    func custom(_ name: String, _ type: FieldType, length: Int = 0) -> FieldSchema {
      var field = FieldSchema(name: name, label: SchemaInference.label(of: name), type: type)
      field.custom = true
      field.length = length
      return field
    }
    var amount = custom("Amount__c", .double)
    amount.precision = 18
    amount.scale = 2
    var status = custom("Status__c", .picklist, length: 255)
    status.picklistValues = ["Open", "Planned", "Done"].map { PicklistValue(value: $0, label: $0) }
    return [
      status, amount, custom("Due_Date__c", .date), custom("Notes__c", .textarea, length: 32768),
    ]
  }
}
