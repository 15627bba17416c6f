import Synchronization

/// A rule that detects records with the same values when another one is saved.
///
/// Two records are duplicates if all the rule's fields have values and these are the same, texts without
/// regard to case. The platform's fuzzy comparisons are its own.
public struct MockOrgDuplicateRule: Sendable, Hashable {
  /// What becomes of a duplicate.
  public struct Action: Sendable, Hashable {
    private enum Kind { case block, alert }
    private let kind: Kind
    /// It is refused, whatever the client says.
    public static let block = Action(kind: .block)
    /// It is refused unless the client has said that it wants to save duplicates
    /// (`Sforce-Duplicate-Rule-Header: allowSave=true`).
    public static let alert = Action(kind: .alert)
  }

  /// The rule's API name, as responses show it.
  public var name: String
  /// The API name of the object.
  public var object: String
  /// The API names of the fields that are compared.
  public var fields: [String]
  public var action: Action
  /// The message for the user.
  public var message = "Use one of these records?"
  /// Whether new records are checked.
  public var checksCreates = true
  /// Whether changes of the rule's fields are checked.
  public var checksUpdates = true

  /// A rule named after its object, as the platform names its own.
  public init(object: String, fields: [String], action: Action = .alert, name: String? = nil) {
    self.object = object
    self.fields = fields
    self.action = action
    self.name = name ?? "\(object)_Duplicate_Rule"
  }
}

/// The org's duplicate rules.
final class DuplicateRules: Sendable {
  private let state = Mutex<[MockOrgDuplicateRule]>([])

  var all: [MockOrgDuplicateRule] { state.withLock { $0 } }

  func add(_ rule: MockOrgDuplicateRule) { state.withLock { $0.append(rule) } }

  func replace(by rules: [MockOrgDuplicateRule]) { state.withLock { $0 = rules } }
}

extension MockOrg {
  /// Looks for duplicates from now on; records that are there stay.
  ///
  /// - Throws: ``MockOrgError`` `invalidData` if the org does not know the object or one of the fields,
  ///   or if a field is one that the org works out by itself.
  public func add(_ rule: MockOrgDuplicateRule) throws(MockOrgError) {
    guard let object = schema.object(named: rule.object) else {
      throw MockOrgError(
        .invalidData, "The duplicate rule \(rule.name) names the unknown object \(rule.object).")
    }
    guard !rule.fields.isEmpty else {
      throw MockOrgError(.invalidData, "The duplicate rule \(rule.name) names no fields.")
    }
    for name in rule.fields {
      guard let index = object.index(ofField: name), object.table.positions[index] != nil else {
        throw MockOrgError(
          .invalidData,
          "The duplicate rule \(rule.name) names '\(name)', which is no stored field of "
            + "\(object.name).")
      }
    }
    duplicateRules.add(rule)
  }

  /// Looks for duplicates no longer.
  public func removeAllDuplicateRules() { duplicateRules.replace(by: []) }
}
