import SalesforceSDKCommon

/// What happened to the records of one object.
struct DemoCounts {
  let object: String
  var loaded = 0
  var syncedDown = 0
  var created = 0
  var updated = 0
  var deleted = 0
  var conflicts = 0
  var syncedUp = 0
  var ghosts = 0
  var compared = 0
  var differences = 0

  var document: JSONValue {
    [
      "sobject": .string(object), "loaded": .integer(Int64(loaded)),
      "syncedDown": .integer(Int64(syncedDown)), "created": .integer(Int64(created)),
      "updated": .integer(Int64(updated)), "deleted": .integer(Int64(deleted)),
      "conflicts": .integer(Int64(conflicts)), "syncedUp": .integer(Int64(syncedUp)),
      "ghosts": .integer(Int64(ghosts)), "compared": .integer(Int64(compared)),
      "differences": .integer(Int64(differences)),
    ]
  }
}

/// How the story ended.
struct DemoReport {
  var counts: [DemoCounts]
  /// Files of the device that show text of a record.
  var leaks: [String]

  /// Whether both sides hold the same records and the device shows nothing.
  var agree: Bool { leaks.isEmpty && counts.allSatisfy { $0.differences == 0 && $0.compared > 0 } }

  /// `{"agree", "leaks", "sobjects": [{"sobject", "loaded", …}]}`.
  var document: JSONValue {
    [
      "agree": .bool(agree), "leaks": .array(leaks.map { .string($0) }),
      "sobjects": .array(counts.map(\.document)),
    ]
  }
}
