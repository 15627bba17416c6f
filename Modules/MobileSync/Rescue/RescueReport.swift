public import SalesforceSDKCommon

/// What became of each record of a bundle.
public struct RescueReport: Sendable {
  /// A record of the bundle.
  public struct Record: Sendable {
    /// What became of it.
    public struct Outcome: Sendable, Hashable, CustomStringConvertible {
      private enum Kind: String {
        case added, edited, merged, conflict, unchanged, imported, uploaded
      }
      private let kind: Kind

      /// The store had no entry of the record; it has one now, unsynced.
      public static let added = Outcome(kind: .added)
      /// The store had the record as the server had it; the edit is applied to it.
      public static let edited = Outcome(kind: .edited)
      /// The store had edits of the record of its own; both are in the entry.
      public static let merged = Outcome(kind: .merged)
      /// The store had other values in the same fields; the entry waits for a decision (``SyncConflict``).
      public static let conflict = Outcome(kind: .conflict)
      /// The store had the same edit.
      public static let unchanged = Outcome(kind: .unchanged)
      /// An earlier import of the same bundle has brought it.
      public static let imported = Outcome(kind: .imported)
      /// The record was created locally, and this store has uploaded it since.
      public static let uploaded = Outcome(kind: .uploaded)

      /// The name of the outcome.
      public var description: String { kind.rawValue }
    }

    /// The soup.
    public let soupName: String
    /// The record's id: the server's, or one that was created locally; nil if it has none.
    public let id: String?
    /// The entry in this store; nil if it has none.
    public let entryId: Int64?
    /// What became of it.
    public let outcome: Outcome
  }

  /// The records, in the order of the bundle.
  public let records: [Record]
  /// Whether the import was tried and undone.
  public let isDryRun: Bool

  /// How many records had an outcome.
  public func count(_ outcome: Record.Outcome) -> Int { records.count { $0.outcome == outcome } }

  /// `{"entries": n, "files": 0, "conflicts": n, "records": [{"soup", "id", "entryId", "outcome"}]}`.
  public var json: JSONObject {
    [
      "entries": .integer(Int64(records.count)), "files": 0,
      "conflicts": .integer(Int64(count(.conflict))), "dryRun": .bool(isDryRun),
      "records": .array(
        records.map { record in
          [
            "soup": .string(record.soupName), "id": record.id.map { .string($0) } ?? .null,
            "entryId": record.entryId.map { .integer($0) } ?? .null,
            "outcome": .string("\(record.outcome)"),
          ]
        }),
    ]
  }
}

/// What a bundle has, to be shown before it is imported.
public struct RescueContents: Sendable {
  /// The user whose records they are.
  public let user: RescueUser
  /// When it was written, in milliseconds since 1970.
  public let time: Int64
  /// How many entries it has of each soup.
  public let entries: [String: Int]

  init(_ bundle: RescueBundle) {
    user = bundle.user
    time = bundle.time
    entries = bundle.entries.reduce(into: [:]) { $0[$1.soup, default: 0] += 1 }
  }
}
