import SalesforceSDKCommon

/// The changes of an alter, as they are recorded (SS-182).
///
/// ```json
/// { "soupName": "accounts", "soupTableName": "TABLE_3", "reIndexData": true,
///   "oldIndexSpecs": [{ "path": "Name", "type": "string", "columnName": "TABLE_3_0" }],
///   "newIndexSpecs": [{ "path": "Name", "type": "full_text" }] }
/// ```
///
/// It also has `oldSoupSpec` and `newSoupSpec` if either soup is stored externally. New specs have
/// their columns from the step that creates the table.
struct AlterDetails: Sendable, Equatable {
  let soupName: String
  /// The number in the name of the soup's table.
  let number: Int64
  let oldIndexes: [SoupIndex]
  let newIndexes: [SoupIndex]
  let oldSpec: SoupSpec
  let newSpec: SoupSpec
  let reIndexData: Bool

  init(_ soup: Soup, to newIndexes: [SoupIndex], newSpec: SoupSpec, reIndexData: Bool) {
    soupName = soup.name
    number = soup.number
    oldIndexes = soup.indexes
    self.newIndexes = newIndexes.map { SoupIndex(path: $0.path, type: $0.type) }
    oldSpec = soup.spec
    self.newSpec = newSpec
    self.reIndexData = reIndexData
  }

  /// Reads the recorded form; nil if the text is not one.
  init?(json text: String) {
    guard let json = try? JSONValue(parsing: text), let name = json["soupName"]?.string,
      let table = json["soupTableName"]?.string, table.hasPrefix("TABLE_"),
      let number = Int64(table.dropFirst(6)), number > 0,
      let old = AlterDetails.indexes(json["oldIndexSpecs"]),
      let new = AlterDetails.indexes(json["newIndexSpecs"]), !new.isEmpty
    else { return nil }
    soupName = name
    self.number = number
    oldIndexes = old
    newIndexes = new.map { SoupIndex(path: $0.path, type: $0.type) }
    oldSpec = AlterDetails.spec(json["oldSoupSpec"], name)
    newSpec = AlterDetails.spec(json["newSoupSpec"], name)
    reIndexData = json["reIndexData"]?.bool ?? (json["reIndexData"]?.int64 == 1)
  }

  private static func indexes(_ json: JSONValue?) -> [SoupIndex]? {
    guard let array = json?.array else { return nil }
    let indexes = array.compactMap { try? SoupIndex(json: $0) }
    return indexes.count == array.count ? indexes : nil
  }

  private static func spec(_ json: JSONValue?, _ name: String) -> SoupSpec {
    SoupSpec(name: name, features: json?["features"]?.array?.compactMap(\.string))
  }

  /// The recorded form.
  ///
  /// - Parameter withNewColumns: Whether the new table exists.
  func json(withNewColumns: Bool) -> String {
    var json: JSONValue = [
      "soupName": .string(soupName), "soupTableName": .string(newSoup.table),
      "oldIndexSpecs": .array(oldIndexes.map(\.jsonWithColumn)),
      "newIndexSpecs": .array(
        (withNewColumns ? newSoup.indexes : newIndexes).map(\.jsonWithColumn)),
      "reIndexData": .bool(reIndexData),
    ]
    if oldSpec.isExternal || newSpec.isExternal {
      json["oldSoupSpec"] = oldSpec.json
      json["newSoupSpec"] = newSpec.json
    }
    return json.text
  }

  /// The soup before the alter.
  var oldSoup: Soup {
    Soup(name: soupName, number: number, indexes: oldIndexes, isExternal: oldSpec.isExternal)
  }

  /// The soup after the alter.
  var newSoup: Soup {
    Soup(name: soupName, number: number, indexes: newIndexes, isExternal: newSpec.isExternal)
  }
}

extension SoupIndex {
  /// The JSON form with `columnName`, if it is known.
  fileprivate var jsonWithColumn: JSONValue {
    var json = self.json
    json["columnName"] = columnName.map { .string($0) }
    return json
  }
}
