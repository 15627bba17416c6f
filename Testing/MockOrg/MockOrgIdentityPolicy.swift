/// The restrictions of apps and the rights of a user that the identity service returns.
///
/// ```json
/// {"mobile_policy": {"screen_lock": "10", "pin_length": "6"},
///  "custom_attributes": {"BIOMETRIC_UNLOCK": "false"},
///  "custom_permissions": {"must_be_managed_app": true}}
/// ```
public struct MockOrgIdentityPolicy: Sendable, Hashable {
  /// When apps have to lock themselves. Default: nil, never; the response then has no `mobile_policy`.
  public var mobilePolicy: MockOrgMobilePolicy?
  /// The custom attributes of the connected app, such as `ENABLE_BIOMETRIC_AUTHENTICATION`, whose values are texts.
  /// Default: none; the response then has no `custom_attributes`.
  public var customAttributes: [String: String] = [:]
  /// The custom permissions of the user, such as `must_be_managed_app`. Default: none; the response then has no
  /// `custom_permissions`.
  public var customPermissions: [String: Bool] = [:]

  /// Creates a policy without restrictions.
  public init() {}

  /// The members of the identity service's response.
  var members: ResponseJSON {
    var members: [ResponseJSON.Member] = []
    if let mobilePolicy {
      members.append(
        (
          "mobile_policy",
          [
            "screen_lock": "\(mobilePolicy.screenLockMinutes)",
            "pin_length": "\(mobilePolicy.pinLength)",
          ]
        ))
    }
    if !customAttributes.isEmpty {
      let sorted = customAttributes.sorted { $0.key < $1.key }
      members.append(("custom_attributes", .object(sorted.map { ($0.key, .string($0.value)) })))
    }
    if !customPermissions.isEmpty {
      let sorted = customPermissions.sorted { $0.key < $1.key }
      members.append(("custom_permissions", .object(sorted.map { ($0.key, .bool($0.value)) })))
    }
    return .object(members)
  }
}

/// When an org demands that apps lock themselves, as the identity service says.
public struct MockOrgMobilePolicy: Sendable, Hashable {
  /// Minutes without use.
  public var screenLockMinutes: Int
  /// The number of digits of a passcode. Default: 4.
  public var pinLength: Int

  /// Makes a policy.
  public init(screenLockMinutes: Int, pinLength: Int = 4) {
    self.screenLockMinutes = screenLockMinutes
    self.pinLength = pinLength
  }
}
