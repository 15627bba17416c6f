/// The findings of a verification.
public struct StoreReport: Sendable {
  /// One thing that is wrong. It never holds record data: SQLite's own lines, which findings of kind
  /// ``Kind/structure`` repeat, name pages, tables, indexes and rows.
  public struct Finding: Sendable, Hashable {
    /// What is wrong. Kinds may be added; compare, do not enumerate.
    public struct Kind: RawRepresentable, Sendable, Hashable {
      public let rawValue: String

      public init(rawValue: String) { self.rawValue = rawValue }

      /// A page was changed outside the store, or belongs to another place or store.
      public static let page = Kind(rawValue: "page")
      /// The log was damaged outside the store, and transactions in it are lost.
      public static let log = Kind(rawValue: "log")
      /// SQLite cannot open the database, or finds its structure broken.
      public static let structure = Kind(rawValue: "structure")
      /// The schema has a table, an index, a trigger or a view that the store does not make of its soups.
      public static let schema = Kind(rawValue: "schema")
      /// The tables that describe soups contradict the tables that hold them.
      public static let soup = Kind(rawValue: "soup")
      /// An element is no JSON object, or its system members are not those of its row.
      public static let element = Kind(rawValue: "element")
      /// A column of an index holds something else than the element.
      public static let indexColumn = Kind(rawValue: "indexColumn")
      /// Elements of a soup have a value at a path and none in its column, as an alter without
      /// re-indexing leaves them, or the value or a name in a spelling that older versions kept: queries by
      /// this path do not find them. `reIndexSoup` puts it right. One finding for all elements of a path.
      public static let notIndexed = Kind(rawValue: "notIndexed")
      /// A full-text row is missing, too many, or holds something else than the element.
      public static let fullText = Kind(rawValue: "fullText")
    }

    public let kind: Kind
    /// The page of the database file, counted from 1.
    public var page: UInt32?
    /// The soup.
    public var soup: String?
    /// The element in it.
    public var entryId: Int64?
    /// The indexed path.
    public var path: String?
    /// What is wrong there.
    public let detail: String

    /// Where it is, such as `soup accounts, element 5, path Name`; empty for the whole store.
    public var place: String {
      var parts: [String] = []
      if let page { parts.append("page \(page)") }
      if let soup { parts.append("soup \(soup)") }
      if let entryId { parts.append("element \(entryId)") }
      if let path { parts.append("path \(path)") }
      return parts.joined(separator: ", ")
    }
  }

  /// How many pages were checked, of the database file and of its log.
  public internal(set) var pages = 0
  /// How many soups were checked.
  public internal(set) var soups = 0
  /// How many elements were checked.
  public internal(set) var elements = 0
  /// The first findings, at most ``findingLimit``.
  public private(set) var findings: [Finding] = []
  /// How many findings there were.
  public private(set) var findingCount = 0

  /// How many findings are kept.
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
  /// Place and detail in one line.
  public var description: String { place.isEmpty ? detail : "\(place): \(detail)" }
}
