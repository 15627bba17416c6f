public import SalesforceSDKCommon
public import SmartStore

extension SoupIndex {
  /// The indexes that syncs use: local changes and the sync of an entry.
  static let ofSync = [
    SoupIndex(path: SyncKeys.local, type: .string),
    SoupIndex(path: SyncKeys.syncId, type: .integer),
  ]

  /// Suggests indexes for a soup with the records of an object, from its describe result (BX-113): the id, the name, the
  /// references to other records, external ids, the modification date, and what syncs use.
  ///
  /// - Parameter fields: The fields that the soup has; others are left out. Default: all.
  /// - Returns: The indexes in the order of the description, the id first and those of syncs last.
  public static func suggested(
    forDescription description: JSONSlice, fields: Set<String>? = nil
  ) -> [SoupIndex] {
    var paths = [SyncKeys.defaultIdField]
    for field in description["fields"].map({ Array($0.elements) }) ?? [] {
      guard let name = field["name"]?.string, fields?.contains(name) != false,
        !paths.contains(name), isWorthAnIndex(field)
      else { continue }
      paths.append(name)
    }
    return paths.map { SoupIndex(path: $0, type: .string) } + ofSync
  }

  private static func isWorthAnIndex(_ field: JSONSlice) -> Bool {
    field["type"]?.string == "reference" || field["nameField"]?.bool == true
      || field["externalId"]?.bool == true
      || field["name"]?.string == SyncKeys.defaultModificationDateField
  }
}
