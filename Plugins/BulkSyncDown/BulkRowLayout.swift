import BulkJobs
import MobileSync
import SalesforceSDKCommon

/// The conversion of a file's rows to records, in the form in which a query returns them.
struct BulkRowLayout: Sendable {
  /// A member of a record.
  private indirect enum Member: Sendable {
    case field(String, column: Int, BulkTypes.Kind)
    case parent(String, object: String?, [Member])
  }

  /// The most names in a column's path: five parents, as in SOQL, and the field.
  private static let maxDepth = 6
  /// The most columns. A query has at most 100,000 characters.
  private static let maxColumns = 10_000

  private let members: [Member]
  private let columns: Int
  private let idColumn: Int
  private let isPlatformId: Bool
  private let object: String
  private let place: String
  private let job: String

  /// Reads a file's header.
  ///
  /// - Throws: `SyncError` `unexpectedResponse` if there is no column of the id field, or if there are more columns or
  ///   parents of a column than a query can have; `CancellationError`.
  init(
    _ header: [String], idField: String, _ job: String, _ types: inout BulkTypes,
    in context: SyncContext
  ) async throws {
    guard header.count <= Self.maxColumns else { throw BulkResults.noCSV(job) }
    guard let idColumn = header.firstIndex(where: { SOQLNames.areSame($0, idField) })
    else { throw BulkResults.noCSV(job) }
    var root = Node()
    for (column, name) in header.enumerated() {
      try Task.checkCancellation()
      // The split stops at one part more than the limit, which is enough to refuse the path.
      let path = name.split(
        separator: ".", maxSplits: Self.maxDepth, omittingEmptySubsequences: false
      ).map(String.init)
      guard path.count <= Self.maxDepth else { throw BulkResults.noCSV(job) }
      let (kind, parents) = try await types.kind(at: path, in: context)
      // The id field stands under the name by which sync knows it.
      let leaf = column == idColumn ? idField : path.last ?? name
      root.add(.field(leaf, column: column, kind), at: path.dropLast()[...], parents[...])
    }
    members = root.members
    columns = header.count
    self.idColumn = idColumn
    isPlatformId = idField == SyncKeys.defaultIdField
    object = types.object
    place = "/services/data/\(context.apiVersion)/sobjects/\(types.object)/"
    self.job = job
  }

  /// The columns with a common path, while the header is read.
  private struct Node {
    private enum Entry {
      case member(Member)
      case parent(String)
    }

    private var entries: [Entry] = []
    private var parents: [String: (object: String?, node: Node)] = [:]

    mutating func add(
      _ member: Member, at path: ArraySlice<String>, _ objects: ArraySlice<String?>
    ) {
      guard let name = path.first else { return entries.append(.member(member)) }
      if parents[name] == nil { entries.append(.parent(name)) }
      parents[name, default: (objects.first ?? nil, Node())].node.add(
        member, at: path.dropFirst(), objects.dropFirst())
    }

    /// The members, in the order of the header.
    var members: [Member] {
      entries.compactMap { entry -> Member? in
        switch entry {
        case .member(let member): return member
        case .parent(let name):
          return parents[name].map { Member.parent(name, object: $0.object, $0.node.members) }
        }
      }
    }
  }

  /// Writes a row as a record.
  ///
  /// - Throws: `SyncError` `unexpectedResponse` if the row does not fit the header, has no id, or a value is not of
  ///   its field's type.
  func write(
    _ cells: [CSVReader.Cell], of reader: CSVReader, to writer: inout JSONWriter
  ) throws {
    guard cells.count == columns else { throw BulkResults.noCSV(job) }
    let id = reader.text(cells[idColumn])
    guard !isPlatformId || Self.isPlatformId(id) else { throw BulkResults.noCSV(job) }
    writer.beginObject()
    writer.key(SyncKeys.attributes)
    writer.beginObject()
    writer.key(SyncKeys.type)
    writer.string(object)
    if isPlatformId {
      writer.key("url")
      writer.string(place + id)
    }
    writer.endObject()
    for member in members { try write(member, cells, reader, &writer) }
    writer.endObject()
  }

  private static func isPlatformId(_ id: String) -> Bool {
    (id.utf8.count == 18 || id.utf8.count == 15)
      && id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: false
        }
      }
  }

  private func write(
    _ member: Member, _ cells: [CSVReader.Cell], _ reader: CSVReader, _ writer: inout JSONWriter
  ) throws {
    switch member {
    case .field(let name, let column, let kind):
      writer.key(name)
      let cell = cells[column]
      if cell.isEmpty { return writer.null() }
      try write(reader.text(cell), kind, &writer)
    case .parent(let name, let object, let inner):
      writer.key(name)
      if inner.allSatisfy({ Self.isEmpty($0, cells) }) { return writer.null() }
      writer.beginObject()
      if let object {
        writer.key(SyncKeys.attributes)
        writer.beginObject()
        writer.key(SyncKeys.type)
        writer.string(object)
        writer.endObject()
      }
      for member in inner { try write(member, cells, reader, &writer) }
      writer.endObject()
    }
  }

  private static func isEmpty(_ member: Member, _ cells: [CSVReader.Cell]) -> Bool {
    switch member {
    case .field(_, let column, _): cells[column].isEmpty
    case .parent(_, _, let inner): inner.allSatisfy { isEmpty($0, cells) }
    }
  }

  private func write(_ text: String, _ kind: BulkTypes.Kind, _ writer: inout JSONWriter) throws {
    switch kind {
    case .text: writer.string(text)
    case .boolean:
      guard let value = Bool(text.lowercased()) else { throw BulkResults.noCSV(job) }
      writer.bool(value)
    case .number:
      guard let number = JSONNumber(text) else { throw BulkResults.noCSV(job) }
      try writer.value(.number(number))
    case .dateTime:
      // Files have `Z`, queries `+0000`.
      writer.string(SalesforceDate.parse(text)?.text ?? text)
    }
  }
}
