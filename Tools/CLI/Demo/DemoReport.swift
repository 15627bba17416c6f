import SalesforceSDKCommon

/// The results for the records of one object.
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

/// The result of the demo.
struct DemoReport {
  var counts: [DemoCounts]
  /// The device's files that contain a record's text in plaintext.
  var leaks: [String]

  /// Whether both sides have the same records and no file contains a record's text.
  var agree: Bool { leaks.isEmpty && counts.allSatisfy { $0.differences == 0 && $0.compared > 0 } }

  /// `{"agree", "leaks", "sobjects": [{"sobject", "loaded", …}]}`.
  var document: JSONValue {
    [
      "agree": .bool(agree), "leaks": .array(leaks.map { .string($0) }),
      "sobjects": .array(counts.map(\.document)),
    ]
  }
}
