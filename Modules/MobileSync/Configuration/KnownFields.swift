import SalesforceSDKCommon
import SmartStore

/// The fields of a soup's records, as far as the store knows the server's names of them.
struct KnownFields: Sendable {
  /// The object of the records; nil if it is not known.
  var objectType: String?
  /// All fields of the object, from a cached describe result; nil without one.
  var described: [Described]?
  /// The members of some entries that are as on the server.
  var ofEntries: [String] = []

  /// A field of a describe result.
  struct Described: Sendable {
    let name: String
    /// Whether the user may change it.
    let isEditable: Bool
  }

  /// The soup in which `MetadataSyncManager` keeps describe results, by object.
  static let describeSoup = "sfdcMetadata"
  /// The number of entries whose members are read.
  private static let sampleSize: Int64 = 10

  /// Reads the members of some entries, and the describe result of the object if one is cached.
  ///
  /// - Parameter objectType: The object that the soup's syncs name; nil means the one of the entries.
  static func read(
    _ soupName: String, objectType: String?, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> KnownFields {
    var known = KnownFields(objectType: objectType)
    for (_, entry) in try sample(of: soupName, in: reader) where !RecordFlags(of: entry).local {
      known.ofEntries =
        known.ofEntries + entry.members.map(\.key).filter { !known.ofEntries.contains($0) }
      if known.objectType == nil {
        known.objectType = entry[SyncKeys.attributes]?[SyncKeys.type]?.string
      }
    }
    if let object = known.objectType {
      known.described = try description(of: object, in: reader)
    }
    return known
  }

  private static func sample(
    of soupName: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(id: Int64, record: JSONSlice)] {
    guard reader.soupExists(forName: soupName) else { return [] }
    let id = "{\(soupName):\(SyncKeys.soupEntryId)}"
    let rows = try reader.rows(
      "SELECT \(id) FROM {\(soupName)} ORDER BY \(id) DESC LIMIT \(sampleSize)", [],
      limit: Int(sampleSize))
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: soupName)
  }

  private static func description(
    of object: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Described]? {
    guard reader.soupExists(forName: describeSoup) else { return nil }
    let rows = try reader.rows(
      "SELECT {\(describeSoup):\(SyncKeys.soupEntryId)} FROM {\(describeSoup)} "
        + "WHERE {\(describeSoup):\(SyncKeys.defaultIdField)} = ?", [.string(object)], limit: 1)
    let ids = rows.compactMap { $0[0]?.int64 }
    guard let entry = try reader.entries(ids, of: describeSoup).first?.record,
      let fields = entry["fields"], fields.count > 0
    else { return nil }
    return fields.elements.compactMap { field in
      field["name"]?.string.map {
        Described(name: $0, isEditable: field["updateable"]?.bool ?? true)
      }
    }
  }
}
