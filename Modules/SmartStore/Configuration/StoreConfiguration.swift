/// The soups that a configuration file defines (SS-85).
///
/// ```json
/// {"soups": [{"soupName": "accounts", "indexes": [{"path": "Name", "type": "string"}]}]}
/// ```
///
/// Reading never fails: an entry that defines no valid soup is skipped, and ``problems`` names each line that is wrong.
public struct StoreConfiguration: Sendable, Hashable {
  /// One soup to register.
  public struct Soup: Sendable, Hashable {
    public let name: String
    public let indexes: [SoupIndex]

    public init(name: String, indexes: [SoupIndex]) {
      self.name = name
      self.indexes = indexes
    }
  }

  /// The soups in the order of the file.
  public let soups: [Soup]
  /// The problems of the file, in its order.
  public let problems: [StoreConfigurationProblem]

  /// A problem without a message at the place of each of ``soups``, for one that cannot be registered.
  let places: [StoreConfigurationProblem]

  /// Reads a file's content.
  ///
  /// - Parameter file: The file's name, for ``problems``.
  public init(parsing content: [UInt8], file: String) {
    self.init(parsing: content, file: file) { _, _ in nil }
  }

  /// Reads a file's content.
  ///
  /// - Parameter meant: Gives the word that a misspelled one stands for, of some.
  package init(
    parsing content: [UInt8], file: String,
    meant: @escaping (_ word: String, _ words: [String]) -> String?
  ) {
    let reader = StoreConfigurationReader(content, file: file, meant: meant)
    soups = reader.soups
    problems = reader.problems
    places = reader.places
  }
}
