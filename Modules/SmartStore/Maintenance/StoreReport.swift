/// The findings of a verification.
public struct StoreReport: Sendable {
  /// A finding. It never contains record data. Findings of kind ``Kind/structure`` repeat SQLite's
  /// own lines, which contain the names of pages, tables, indexes and rows.
  public struct Finding: Sendable, Hashable {
    /// The kind of a finding. Later versions may add kinds: compare with the constants, do not list
    /// them all.
    public struct Kind: RawRepresentable, Sendable, Hashable {
      public let rawValue: String

      public init(rawValue: String) { self.rawValue = rawValue }

      /// A page was changed outside the store, or belongs to another position or store.
      public static let page = Kind(rawValue: "page")
      /// The write-ahead log (WAL) was damaged outside the store, and transactions in it are lost.
      public static let log = Kind(rawValue: "log")
      /// SQLite cannot open the database, or finds its structure broken.
      public static let structure = Kind(rawValue: "structure")
      /// The schema has a table, an index, a trigger or a view that the store does not create for
      /// its soups.
      public static let schema = Kind(rawValue: "schema")
      /// The tables that describe soups contradict the tables that contain their entries.
      public static let soup = Kind(rawValue: "soup")
      /// An entry is not a JSON object, or its system members differ from the columns of its row.
      public static let element = Kind(rawValue: "element")
      /// A column of an index has another value than the entry.
      public static let indexColumn = Kind(rawValue: "indexColumn")
      /// Entries of a soup have a value at a path and none in its column, as after an alter without
      /// re-indexing, or the value or a name is in the form of older versions: queries by this path
      /// do not find them. Correct it with `reIndexSoup`. One finding covers all entries of a path.
      public static let notIndexed = Kind(rawValue: "notIndexed")
      /// A full-text row is missing or redundant, or has another text than the entry.
      public static let fullText = Kind(rawValue: "fullText")
    }

    public let kind: Kind
    /// The page of the database file, counted from 1.
    public var page: UInt32?
    /// The soup.
    public var soup: String?
    /// The entry in it.
    public var entryId: Int64?
    /// The indexed path.
    public var path: String?
    /// A description of the finding.
    public let detail: String

    /// The location, such as `soup accounts, element 5, path Name`; empty for the whole store.
    public var place: String {
      var parts: [String] = []
      if let page { parts.append("page \(page)") }
      if let soup { parts.append("soup \(soup)") }
      if let entryId { parts.append("element \(entryId)") }
      if let path { parts.append("path \(path)") }
      return parts.joined(separator: ", ")
    }
  }

  /// The number of checked pages, of the database file and of its WAL.
  public internal(set) var pages = 0
  /// The number of checked soups.
  public internal(set) var soups = 0
  /// The number of checked entries.
  public internal(set) var elements = 0
  /// The first findings, at most ``findingLimit``.
  public private(set) var findings: [Finding] = []
  /// The number of all findings.
  public private(set) var findingCount = 0

  /// The maximum number of findings in a report.
  public static let findingLimit = 1000

  /// Whether nothing was found, not even a path that is not indexed.
  public var isClean: Bool { findingCount == 0 }

  init() {}

  mutating func add(_ finding: Finding) {
    findingCount += 1
    if findings.count < Self.findingLimit { findings.append(finding) }
  }
}

extension StoreReport.Finding: CustomStringConvertible {
  /// The location and the detail in one line.
  public var description: String { place.isEmpty ? detail : "\(place): \(detail)" }
}
