public import SalesforceSDKCommon

/// The way in which the values of an indexed path are stored and compared.
///
/// A value can have any text, as in a stored or received spec; registering a soup refuses types that are not
/// among the constants.
public struct SoupIndexType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Text, compared byte by byte. Booleans are stored as `1` and `0`, numbers in one canonical form
  /// (`100000` for `1e5`, `1.5` for `1.50`), objects and arrays as compact JSON without unnecessary
  /// escapes.
  public static let string = SoupIndexType(rawValue: "string")
  /// A signed 64-bit integer. Fractions are truncated, numbers out of range are clamped, Booleans
  /// are 1 and 0; any other value is null.
  public static let integer = SoupIndexType(rawValue: "integer")
  /// An IEEE double. Booleans are 1 and 0; any other value is null.
  public static let floating = SoupIndexType(rawValue: "floating")
  /// As ``string``, and searchable by words with a match query.
  public static let fullText = SoupIndexType(rawValue: "full_text")
  /// An index without a stored copy: SQLite reads the path from the entry. The path cannot lead
  /// through an array.
  public static let json1 = SoupIndexType(rawValue: "json1")

  /// Whether registering a soup accepts this type.
  public var isKnown: Bool {
    switch self {
    case .string, .integer, .floating, .fullText, .json1: true
    default: false
    }
  }

  /// The stored word.
  public var description: String { rawValue }
}

/// An index spec: a path into the entries of a soup, and the type of its values.
///
/// JSON form: `{"path": "Owner.Name", "type": "string"}`, with `columnName` where a column is known.
public struct SoupIndex: Sendable, Hashable {
  /// Keys separated by `.`; a path through an array collects the values of its items.
  public let path: String
  /// The type of the stored values.
  public let type: SoupIndexType
  /// The column that contains the values, or the expression that extracts them. Set by the store.
  public let columnName: String?

  public init(path: String, type: SoupIndexType, columnName: String? = nil) {
    self.path = path
    self.type = type
    self.columnName = columnName
  }

  /// Reads the JSON form.
  ///
  /// - Throws: ``SmartStoreError`` `invalidIndexSpec` if path or type is missing, or the type is not
  ///   a known word.
  public init(json: JSONValue) throws(SmartStoreError) {
    guard let path = json["path"]?.string, let word = json["type"]?.string else {
      throw SmartStoreError(
        .invalidIndexSpec,
        "Invalid index spec: it needs a text \"path\" and a text \"type\".")
    }
    self.init(
      path: path, type: SoupIndexType(rawValue: word), columnName: json["columnName"]?.string)
    try validate()
  }

  /// The JSON form with `path` and `type`, as it was registered.
  public var json: JSONValue {
    .object(["path": .string(path), "type": .string(type.rawValue)])
  }

  /// Refuses specs that no soup can be registered with.
  func validate() throws(SmartStoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SmartStoreError(
        .invalidIndexSpec,
        "Invalid index spec: the path is empty or holds a NUL. Name the member to index.")
    }
    guard type.isKnown else {
      throw SmartStoreError(
        .invalidIndexSpec,
        "Invalid index spec: \"\(type)\" is not a type. "
          + "Use string, integer, floating, full_text or json1.")
    }
  }
}
