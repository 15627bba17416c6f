public import SalesforceSDKCommon

/// The outcome of each record of a bundle.
public struct RescueReport: Sendable {
  /// A record of the bundle.
  public struct Record: Sendable {
    /// The outcome of a record.
    public struct Outcome: Sendable, Hashable, CustomStringConvertible {
      private enum Kind: String {
        case added, edited, merged, conflict, unchanged, imported, uploaded
      }
      private let kind: Kind

      /// The store had no entry for the record; it now has an unsynced one.
      public static let added = Outcome(kind: .added)
      /// The store had the record without local edits; the edit is applied to it.
      public static let edited = Outcome(kind: .edited)
      /// The store had its own edits of the record; the entry has both.
      public static let merged = Outcome(kind: .merged)
      /// The store had other values in the same fields; the entry waits for a decision (``SyncConflict``).
      public static let conflict = Outcome(kind: .conflict)
      /// The store had the same edit.
      public static let unchanged = Outcome(kind: .unchanged)
      /// An earlier import of the same bundle imported the record.
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
    /// The outcome.
    public let outcome: Outcome
  }

  /// The records, in the order of the bundle.
  public let records: [Record]
  /// Whether the import was a dry run, which is undone.
  public let isDryRun: Bool

  /// Returns the number of records with an outcome.
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

/// The content of a bundle, for display before an import.
public struct RescueContents: Sendable {
  /// The user whose records they are.
  public let user: RescueUser
  /// The time at which it was written, in milliseconds since 1970.
  public let time: Int64
  /// The number of entries of each soup.
  public let entries: [String: Int]

  init(_ bundle: RescueBundle) {
    user = bundle.user
    time = bundle.time
    entries = bundle.entries.reduce(into: [:]) { $0[$1.soup, default: 0] += 1 }
  }
}
