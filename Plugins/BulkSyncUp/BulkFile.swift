import BulkJobs
import MobileSync
import SalesforceSDKCommon

/// The file of an ingest job: the records of one action, object type and external id field.
struct BulkFile: Sendable {
  /// The operation and records of a job.
  struct Subject: Sendable, Hashable {
    let action: SyncUpAction
    let objectType: String
    let externalIdField: String?

    init(_ record: SyncUpRecord) {
      action = record.action
      objectType = record.objectType
      externalIdField = record.externalId?.field
    }

    init?(json: JSONValue) {
      guard let action = json["action"]?.string.flatMap(SyncUpAction.init(rawValue:)),
        let objectType = json["objectType"]?.string
      else { return nil }
      self.action = action
      self.objectType = objectType
      externalIdField = json["externalIdField"]?.string
    }

    var json: JSONObject {
      [
        "action": .string(action.rawValue), "objectType": .string(objectType),
        "externalIdField": externalIdField.map { .string($0) } ?? .null,
      ]
    }
  }

  let subject: Subject
  let records: [SyncUpRecord]
  /// The names of the columns; the first identifies the record, unless it is to be created.
  let columns: [String]

  /// Describes the file of records that have one subject; there must be one.
  init(_ records: [SyncUpRecord]) {
    guard let first = records.first else { preconditionFailure("a file needs a record") }
    subject = Subject(first)
    self.records = records
    var columns: [String] =
      switch subject.action {
      case .create: []
      case .update, .delete: [SyncKeys.defaultIdField]
      case .upsert: [subject.externalIdField ?? SyncKeys.defaultIdField]
      }
    if subject.action != .delete {
      var known = Set(columns)
      for record in records {
        for (name, _) in record.values where known.insert(name).inserted { columns.append(name) }
      }
    }
    self.columns = columns
  }

  /// The body of the request that creates the job.
  var jobDescription: JSONObject {
    let operation =
      switch subject.action {
      case .create: "insert"
      case .update: "update"
      case .upsert: "upsert"
      case .delete: "delete"
      }
    var description: JSONObject = [
      "object": .string(subject.objectType), "operation": .string(operation),
      "contentType": "CSV", "lineEnding": "LF",
    ]
    if subject.action == .upsert, let field = subject.externalIdField {
      description["externalIdFieldName"] = .string(field)
    }
    return description
  }

  /// The CSV.
  var bytes: [UInt8] {
    var writer = CSVWriter(capacity: records.count * 128)
    writer.row(columns)
    for record in records { writer.row(cells(of: record, columns)) }
    return writer.bytes
  }

  /// A record's cells under these columns; nil where it says nothing.
  func cells(of record: SyncUpRecord, _ columns: [String]) -> [String?] {
    var texts: [String: String] = [:]
    if subject.action != .delete {
      for (name, value) in record.values { texts[name] = Self.text(of: value) }
    }
    switch subject.action {
    case .create: break
    case .update, .delete: texts[SyncKeys.defaultIdField] = record.id
    case .upsert:
      if let externalId = record.externalId { texts[externalId.field] = externalId.value }
    }
    return columns.map { texts[$0] }
  }

  /// The values that were sent.
  func values(of record: SyncUpRecord) -> JSONObject {
    JSONObject(record.values.map { (key: $0.name, value: $0.value.value) })
  }

  // MARK: Values

  /// The text for null. An empty cell leaves its field unchanged.
  static let null = "#N/A"
  /// The platform takes 400,000 characters in a record and 131,072 in a field.
  private static let longestRecord = 120_000

  /// Whether a record can stand in a file: its values are texts, numbers, booleans and null, and none of them
  /// is the text that means null.
  static func canHold(_ record: SyncUpRecord) -> Bool {
    switch record.action {
    case .create: break
    case .update, .delete: if record.id?.isEmpty ?? true { return false }
    case .upsert: if record.externalId == nil { return false }
    }
    guard record.record.utf8.count <= longestRecord else { return false }
    if record.action == .delete { return true }
    let values = record.values
    // A row without anything would be an empty line.
    return !values.isEmpty
      && values.allSatisfy { name, value in
        if name.contains(".") { return false }
        switch value.kind {
        case .string: return value.string.map { $0 != null } ?? false
        case .number, .bool, .null: return true
        case .array, .object: return false
        }
      }
  }

  private static func text(of value: JSONSlice) -> String {
    switch value.kind {
    case .bool: value.bool == true ? "true" : "false"
    case .number: value.numberText ?? null
    // The platform stores an empty text as null.
    default: value.string.flatMap { $0.isEmpty ? nil : $0 } ?? null
    }
  }
}
