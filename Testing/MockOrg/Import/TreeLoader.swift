import GRDB
import SalesforceSDKCommon

/// Which record each `@Ref` of a plan means.
struct TreeReferences: Sendable {
  private var indexes: [String: [(record: Int, file: Int)]] = [:]

  init(_ data: TreeData) {
    for (index, record) in data.records.enumerated() {
      if let name = record.reference {
        indexes[name, default: []].append((index, record.fileIndex))
      }
    }
  }

  /// The record that `reference` means in `record`: the last one of that name up to its own file, else
  /// the first one after.
  func index(of reference: String, from record: TreeData.Record) -> Int? {
    guard let candidates = indexes[reference] else { return nil }
    return (candidates.last { $0.file <= record.fileIndex } ?? candidates.first)?.record
  }

  func object(of reference: String, from record: TreeData.Record, in data: TreeData) -> String? {
    index(of: reference, from: record).map { data.records[$0].object }
  }
}

/// Writes the records of a plan.
struct TreeLoader: Sendable {
  let data: TreeData
  let references: TreeReferences
  let inference: SchemaInference

  /// How many records are written between two calls of the progress closure.
  private static let progressStep = 5000

  func load(
    _ transaction: OrgTransaction, progress: (@Sendable (Int, Int) -> Void)? = nil
  ) throws -> [MockOrg.Loaded] {
    // All ids are given first, so that a reference may point forward.
    var ids: [String] = []
    ids.reserveCapacity(data.records.count)
    for record in data.records {
      guard let prefix = transaction.schema.object(named: record.object)?.keyPrefix else {
        throw MockOrgError(
          .invalidData, "\(record.file): records of \(record.object) cannot be created.")
      }
      ids.append(transaction.ids.next(prefix: prefix))
    }
    var writers: [String: RecordWriter] = [:]
    var counts: [(name: String, count: Int)] = []
    for (index, record) in data.records.enumerated() {
      let writer: RecordWriter
      if let known = writers[record.object] {
        writer = known
      } else {
        writer = RecordWriter(
          transaction: transaction, object: try transaction.object(named: record.object))
        writers[record.object] = writer
      }
      do {
        try writer.insert(
          row(of: record, object: writer.object, ids: ids), id: ids[index], completing: true)
      } catch let error as ServerError {
        throw MockOrgError(
          .invalidData,
          "\(record.file): the record '\(record.reference ?? String(index + 1))' of "
            + "\(record.object) breaks a rule: \(Self.shortened(error.message)) (\(error.code)).")
      }
      if let place = counts.firstIndex(where: { $0.name == writer.object.name }) {
        counts[place].count += 1
      } else {
        counts.append((writer.object.name, 1))
      }
      if (index + 1) % Self.progressStep == 0 { progress?(index + 1, data.records.count) }
    }
    return counts.map { MockOrg.Loaded(object: $0.name, count: $0.count) }
  }

  /// The platform quotes a refused value whole, however long it is; a person needs its ends.
  private static func shortened(_ message: String) -> String {
    message.count <= 400 ? message : "\(message.prefix(200)) … \(message.suffix(100))"
  }

  /// The values of a record, system fields such as `CreatedDate` included where the data have them.
  private func row(
    of record: TreeData.Record, object: ObjectSchema, ids: [String]
  ) throws -> [DatabaseValue] {
    var row = [DatabaseValue](repeating: .null, count: object.table.columns.count)
    let rules = FieldRules(object: object, body: [])
    for (name, value) in record.members {
      guard let index = object.index(ofField: name), let position = object.table.positions[index]
      else { continue }
      let field = object.fields[index]
      if field.type == .id || value.isNull { continue }
      if field.type == .reference, let text = value.string, text.hasPrefix("@") {
        guard let target = references.index(of: String(text.dropFirst()), from: record) else {
          throw MockOrgError(
            .invalidData,
            "\(record.file): '\(text)' in \(field.name) is the reference of no record in the plan.")
        }
        row[position] = ids[target].databaseValue
      } else if value.kind == .object || value.kind == .array {
        row[position] = value.description.databaseValue
      } else {
        row[position] = try rules.stored(value, in: field)
      }
    }
    if let (parent, relationship) = record.parent {
      let field = inference.linkField(
        of: record.object, to: data.records[parent].object, relationship: relationship)
      if let index = object.index(ofField: field), let position = object.table.positions[index] {
        row[position] = ids[parent].databaseValue
      }
    }
    return row
  }
}
