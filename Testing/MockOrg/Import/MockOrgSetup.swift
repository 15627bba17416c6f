public import Foundation
import SalesforceSDKCommon

/// The users, profiles, policies, sharing and duplicate rules of an org, as read from a file.
///
/// ```json
/// {"profiles": [{"name": "Technician", "hiddenObjects": ["Opportunity"], "readOnlyObjects": ["Account"],
///                "hiddenFields": {"Contact": ["Birthdate"]}, "readOnlyFields": {"Contact": ["Email"]},
///                "viewsAllData": false, "modifiesAllData": false,
///                "viewsAllOf": ["Case"], "modifiesAllOf": []}],
///  "users": [{"username": "tech@example.com", "password": "secret", "firstName": "Ted",
///             "lastName": "Tech", "email": "ted@example.com", "profile": "Technician",
///             "identity": {"custom_permissions": {"must_be_managed_app": true}}}],
///  "identity": {"mobile_policy": {"screen_lock": 10, "pin_length": 6},
///               "custom_attributes": {"ENABLE_BIOMETRIC_AUTHENTICATION": "true"}},
///  "sharing": {"Account": "Private", "Contact": "ControlledByParent", "Case": "Read"},
///  "duplicateRules": [{"object": "Contact", "fields": ["Email"], "action": "alert",
///                      "name": "Same_Email", "message": "There is one already."}]}
/// ```
///
/// Every member may be missing. A user without a profile may do everything; a profile that does not say
/// otherwise may, too. `identity` has members of the identity service's response, for users without an
/// `identity` of their own, which replaces all of them.
public struct MockOrgSetup: Sendable {
  /// The users, who come behind the one that every org has.
  public private(set) var users: [MockOrgUser] = []
  /// The org-wide defaults, by object.
  public private(set) var sharing: [String: MockOrgSharing] = [:]
  /// The duplicate rules.
  public private(set) var duplicateRules: [MockOrgDuplicateRule] = []
  /// The identity service's policy for users without one of their own; nil if the file has none.
  public private(set) var identityPolicy: MockOrgIdentityPolicy?

  /// Reads a file.
  ///
  /// - Throws: ``MockOrgError`` `unreadable`, or `invalidData` if a member is unknown or says what it
  ///   cannot.
  public init(file: URL) throws(MockOrgError) {
    try self.init(json: JSONFile.read(file), name: file.lastPathComponent)
  }

  init(json: JSONSlice, name: String) throws(MockOrgError) {
    try Self.checkObject(
      json, ["profiles", "users", "sharing", "duplicateRules", "identity"], name)
    identityPolicy = try json["identity"].map { json throws(MockOrgError) in
      try Self.identityPolicy(json, "The identity of \(name)")
    }
    var profiles: [String: MockOrgProfile] = [:]
    for (index, element) in try Self.list(json, "profiles", name).enumerated() {
      let profile = try Self.profile(element, "Profile \(index + 1) of \(name)")
      guard profiles.updateValue(profile, forKey: profile.name) == nil else {
        throw MockOrgError(.invalidData, "\(name) has two profiles '\(profile.name)'.")
      }
    }
    for (index, element) in try Self.list(json, "users", name).enumerated() {
      let user = try Self.user(element, profiles, "User \(index + 1) of \(name)")
      guard !users.contains(where: { $0.username.lowercased() == user.username.lowercased() })
      else { throw MockOrgError(.invalidData, "\(name) has two users '\(user.username)'.") }
      users.append(user)
    }
    for (object, value) in json["sharing"].map({ Array($0.members) }) ?? [] {
      guard let sharing = value.string.flatMap(MockOrgSharing.init(sharingModel:)) else {
        throw MockOrgError(
          .invalidData,
          "The sharing of \(object) in \(name) is none of Private, Read, ReadWrite, "
            + "ReadWriteTransfer, FullAccess, ControlledByParent.")
      }
      self.sharing[object] = sharing
    }
    for (index, element) in try Self.list(json, "duplicateRules", name).enumerated() {
      duplicateRules.append(try Self.rule(element, "Duplicate rule \(index + 1) of \(name)"))
    }
  }

  // MARK: Parts

  private static func profile(
    _ json: JSONSlice, _ what: String
  ) throws(MockOrgError) -> MockOrgProfile {
    try checkObject(
      json,
      [
        "name", "hiddenObjects", "readOnlyObjects", "hiddenFields", "readOnlyFields",
        "viewsAllData", "modifiesAllData", "viewsAllOf", "modifiesAllOf",
      ], what)
    var profile = MockOrgProfile(name: try text(json, "name", what))
    profile.hiddenObjects = try names(json, "hiddenObjects", what)
    profile.readOnlyObjects = try names(json, "readOnlyObjects", what)
    profile.hiddenFields = try fields(json, "hiddenFields", what)
    profile.readOnlyFields = try fields(json, "readOnlyFields", what)
    profile.viewsAllOf = try names(json, "viewsAllOf", what)
    profile.modifiesAllOf = try names(json, "modifiesAllOf", what)
    profile.modifiesAllData = try flag(json, "modifiesAllData", what) ?? true
    profile.viewsAllData = try flag(json, "viewsAllData", what) ?? profile.modifiesAllData
    return profile
  }

  private static func user(
    _ json: JSONSlice, _ profiles: [String: MockOrgProfile], _ what: String
  ) throws(MockOrgError) -> MockOrgUser {
    try checkObject(
      json, ["username", "password", "firstName", "lastName", "email", "profile", "identity"],
      what)
    let username = try text(json, "username", what)
    var user = MockOrgUser(
      username: username, firstName: try optionalText(json, "firstName", what) ?? "",
      lastName: try optionalText(json, "lastName", what)
        ?? String(username.prefix { $0 != "@" }))
    if let password = try optionalText(json, "password", what) { user.password = password }
    if let email = try optionalText(json, "email", what) { user.email = email }
    if let name = try optionalText(json, "profile", what) {
      guard let profile = profiles[name] else {
        throw MockOrgError(.invalidData, "\(what) has the unknown profile '\(name)'.")
      }
      user.profile = profile
    }
    if let identity = json["identity"] {
      user.identityPolicy = try identityPolicy(identity, "The identity of \(username) (\(what))")
    }
    return user
  }

  private static func rule(
    _ json: JSONSlice, _ what: String
  ) throws(MockOrgError) -> MockOrgDuplicateRule {
    try checkObject(json, ["name", "object", "fields", "action", "message"], what)
    let action: MockOrgDuplicateRule.Action
    switch try optionalText(json, "action", what)?.lowercased() {
    case nil, "alert": action = .alert
    case "block": action = .block
    case let other?:
      throw MockOrgError(
        .invalidData, "\(what) has the action '\(other)'; there are alert and block.")
    }
    var rule = MockOrgDuplicateRule(
      object: try text(json, "object", what), fields: try strings(json, "fields", what),
      action: action, name: try optionalText(json, "name", what))
    if let message = try optionalText(json, "message", what) { rule.message = message }
    return rule
  }

  // MARK: Members

  static func checkObject(
    _ json: JSONSlice, _ keys: Set<String>, _ what: String
  ) throws(MockOrgError) {
    guard json.kind == .object else {
      throw MockOrgError(.invalidData, "\(what) has to be a JSON object.")
    }
    try json.check(keys: keys, of: what)
  }

  private static func list(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> [JSONSlice] {
    guard let value = json[key] else { return [] }
    guard value.kind == .array else {
      throw MockOrgError(.invalidData, "'\(key)' of \(what) has to be an array.")
    }
    return Array(value.elements)
  }

  private static func text(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> String {
    guard let text = try optionalText(json, key, what), !text.isEmpty else {
      throw MockOrgError(.invalidData, "\(what) has no '\(key)'.")
    }
    return text
  }

  static func optionalText(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> String? {
    guard let value = json[key] else { return nil }
    guard let text = value.string else {
      throw MockOrgError(.invalidData, "'\(key)' of \(what) has to be a text.")
    }
    return text
  }

  private static func flag(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> Bool? {
    guard let value = json[key] else { return nil }
    guard let flag = value.bool else {
      throw MockOrgError(.invalidData, "'\(key)' of \(what) has to be true or false.")
    }
    return flag
  }

  private static func strings(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> [String] {
    let list = try list(json, key, what)
    let strings = list.compactMap(\.string)
    guard strings.count == list.count else {
      throw MockOrgError(.invalidData, "'\(key)' of \(what) has to be an array of texts.")
    }
    return strings
  }

  private static func names(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> Set<String> { Set(try strings(json, key, what)) }

  private static func fields(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> [String: Set<String>] {
    guard let value = json[key] else { return [:] }
    guard value.kind == .object else {
      throw MockOrgError(
        .invalidData, "'\(key)' of \(what) has to be an object of arrays, by object.")
    }
    var fields: [String: Set<String>] = [:]
    for (object, _) in value.members { fields[object] = try names(value, object, what) }
    return fields
  }
}

extension MockOrg {
  /// Takes up the sharing and the duplicate rules of a file; its users and its identity policy belong into the options.
  ///
  /// - Throws: ``MockOrgError`` `invalidData` if an object or field is unknown; `storage`.
  public func apply(_ setup: MockOrgSetup) async throws(MockOrgError) {
    for (object, sharing) in setup.sharing.sorted(by: { $0.key < $1.key }) {
      try await setSharing(sharing, of: object)
    }
    for rule in setup.duplicateRules { try add(rule) }
  }
}
