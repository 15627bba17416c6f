/// The rights of the users of a profile.
public struct MockOrgProfile: Sendable, Hashable {
  /// The profile's name, as its record has it.
  public var name: String
  /// Objects that its users do not know of.
  public var hiddenObjects: Set<String> = []
  /// Objects whose records its users may only read.
  public var readOnlyObjects: Set<String> = []
  /// Fields that its users do not know of, by object: `["Contact": ["Birthdate"]]`.
  public var hiddenFields: [String: Set<String>] = [:]
  /// Fields that its users may only read, by object.
  public var readOnlyFields: [String: Set<String>] = [:]
  /// Whether its users read every record, regardless of its owner.
  public var viewsAllData = true
  /// Whether its users read, change, delete and transfer every record, regardless of its owner.
  public var modifiesAllData = true
  /// Objects all of whose records its users read, where they do not view all data.
  public var viewsAllOf: Set<String> = []
  /// Objects with all of whose records its users do everything, where they do not modify all data.
  public var modifiesAllOf: Set<String> = []

  /// A profile that may do everything.
  public init(name: String = "System Administrator") { self.name = name }

  /// Whether there is nothing that the profile hides or forbids.
  var seesEverything: Bool {
    hiddenObjects.isEmpty && readOnlyObjects.isEmpty && hiddenFields.isEmpty
      && readOnlyFields.isEmpty && modifiesAllData
  }
}
