import SalesforceSDKCommon

extension MockOrgSetup {
  /// Reads members of the identity service's response.
  ///
  /// - Parameter what: What the object is, for the message.
  /// - Throws: ``MockOrgError`` `invalidData` if a member is unknown or has a value that the platform never returns.
  static func identityPolicy(
    _ json: JSONSlice, _ what: String
  ) throws(MockOrgError) -> MockOrgIdentityPolicy {
    try checkObject(json, ["mobile_policy", "custom_attributes", "custom_permissions"], what)
    var policy = MockOrgIdentityPolicy()
    if let mobile = json["mobile_policy"] {
      let what = "'mobile_policy' of \(what)"
      try checkObject(mobile, ["screen_lock", "pin_length"], what)
      guard let minutes = try number(mobile, "screen_lock", what) else {
        throw MockOrgError(.invalidData, "\(what) has no 'screen_lock', the minutes without use.")
      }
      policy.mobilePolicy = MockOrgMobilePolicy(screenLockMinutes: minutes)
      if let length = try number(mobile, "pin_length", what) {
        policy.mobilePolicy?.pinLength = length
      }
    }
    for (key, value) in try members(json, "custom_attributes", what) {
      guard let text = value.string else {
        throw MockOrgError(
          .invalidData,
          "'\(key)' in 'custom_attributes' of \(what) has to be a text, as the platform returns it."
        )
      }
      policy.customAttributes[key] = text
    }
    for (key, value) in try members(json, "custom_permissions", what) {
      guard let flag = value.bool else {
        throw MockOrgError(
          .invalidData, "'\(key)' in 'custom_permissions' of \(what) has to be true or false.")
      }
      policy.customPermissions[key] = flag
    }
    return policy
  }

  private static func members(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> [(key: String, value: JSONSlice)] {
    guard let object = json[key] else { return [] }
    guard object.kind == .object else {
      throw MockOrgError(.invalidData, "'\(key)' of \(what) has to be a JSON object.")
    }
    return object.members.map { (key: $0.key, value: $0.value) }
  }

  /// Reads a whole number from 0 to 1,000,000, also as a text, which is the platform's form.
  private static func number(
    _ json: JSONSlice, _ key: String, _ what: String
  ) throws(MockOrgError) -> Int? {
    guard let value = json[key] else { return nil }
    guard let number = value.int64 ?? value.string.flatMap({ Int64($0) }),
      (0...1_000_000).contains(number)
    else {
      throw MockOrgError(
        .invalidData, "'\(key)' of \(what) has to be a whole number from 0 to 1000000.")
    }
    return Int(number)
  }
}
