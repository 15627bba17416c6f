public import SalesforceSDKCommon

/// A soup's name and its features.
///
/// JSON form: `{"name": "photos", "features": ["externalStorage"]}`.
public struct SoupSpec: Sendable, Hashable {
  /// The feature of a soup that stores each entry in a file of its own outside the database. It is
  /// meant for entries of a megabyte and more; smaller entries are faster in the database.
  public static let featureExternalStorage = "externalStorage"

  /// The soup's name.
  public let name: String
  /// The names of features. Unknown names are kept and have no effect.
  public let features: [String]

  /// Creates a spec. Without features the soup is an ordinary one.
  public init(name: String, features: [String]? = nil) {
    self.name = name
    self.features = features ?? []
  }

  /// Reads the JSON form. Missing or null `features` mean no features.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName` if `name` is missing or not a text.
  public init(json: JSONValue) throws(SmartStoreError) {
    guard let name = json["name"]?.string else {
      throw SmartStoreError(
        .invalidSoupName, "Bogus soup name: a soup spec needs a text \"name\".")
    }
    self.init(name: name, features: json["features"]?.array?.compactMap(\.string))
  }

  /// The JSON form.
  public var json: JSONValue {
    ["name": .string(name), "features": .array(features.map { .string($0) })]
  }

  /// Whether entries are stored in files.
  public var isExternal: Bool { features.contains(Self.featureExternalStorage) }
}
