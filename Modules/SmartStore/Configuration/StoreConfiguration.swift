import SalesforceSDKCommon

/// The soups that a configuration file defines (SS-85).
///
/// ```json
/// {"soups": [{"soupName": "accounts", "indexes": [{"path": "Name", "type": "string"}]}]}
/// ```
///
/// Reading never fails: an entry that defines no valid soup is skipped and reported in ``problems``.
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
  /// The skipped entries, with a sentence about each.
  public let problems: [String]

  /// Reads a file's content.
  public init(parsing content: [UInt8]) {
    var soups: [Soup] = []
    var problems: [String] = []
    do throws(JSONError) {
      let entries = try JSONSlice(parsing: content)["soups"]?.value.array
      if entries == nil { problems.append("it has no list \"soups\".") }
      for (position, entry) in (entries ?? []).enumerated() {
        do throws(SmartStoreError) {
          soups.append(try Soup(json: entry))
        } catch {
          problems.append("soup \(position) is left out: \(error.message)")
        }
      }
    } catch {
      problems.append("it is no JSON: \(error)")
    }
    self.soups = soups
    self.problems = problems
  }
}

extension StoreConfiguration.Soup {
  /// Reads `{"soupName": …, "indexes": […]}`.
  init(json: JSONValue) throws(SmartStoreError) {
    guard let name = json["soupName"]?.string, !name.isEmpty else {
      throw SmartStoreError(.invalidSoupName, "Bogus soup name: it is missing or empty.")
    }
    guard let specs = json["indexes"]?.array, !specs.isEmpty else {
      throw SmartStoreError(.noIndexSpecs, "No indexSpecs specified for soup: \(name).")
    }
    var indexes: [SoupIndex] = []
    for spec in specs {
      let index = try SoupIndex(json: spec)
      indexes.append(SoupIndex(path: index.path, type: index.type))
    }
    self.init(name: name, indexes: indexes)
  }
}
