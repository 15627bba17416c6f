import SalesforceSDKCommon

/// When an org demands that the app locks itself (CO-154).
///
/// It comes from `mobile_policy` of the identity service, or from the custom attributes of biometric authentication,
/// which win. A policy without a time counts as none.
public struct LockPolicy: Sendable, Hashable {
  /// Minutes without use after which the app locks itself; at least 1.
  public let timeoutMinutes: Int
  /// The number of digits that a passcode has; 0 if the org demands none in particular.
  public let passcodeLength: Int
  /// Whether the org demands biometric authentication. Where a device has none, its other ways to authenticate count.
  public let isBiometric: Bool
  /// Whether a face or a finger may take the place of the passcode.
  public let allowsBiometricUnlock: Bool

  /// The time without use after which the app locks itself.
  public var timeout: Duration { .seconds(60 * timeoutMinutes) }

  /// The longest time that counts: a week, in minutes.
  public static let maxTimeoutMinutes = 7 * 24 * 60
  /// The longest passcode that can be demanded, in digits.
  public static let maxPasscodeLength = 16
  /// What biometric authentication has at least, in minutes.
  static let minBiometricMinutes = 15

  /// Makes a policy; values out of range are moved to its end.
  public init(
    timeoutMinutes: Int, passcodeLength: Int = 0, isBiometric: Bool = false,
    allowsBiometricUnlock: Bool = true
  ) {
    self.timeoutMinutes = min(max(timeoutMinutes, 1), Self.maxTimeoutMinutes)
    self.passcodeLength = min(max(passcodeLength, 0), Self.maxPasscodeLength)
    self.isBiometric = isBiometric
    self.allowsBiometricUnlock = allowsBiometricUnlock
  }

  /// The policy of a user; nil if the org demands none.
  public init?(_ profile: UserProfile) {
    let attributes = profile.customAttributes ?? [:]
    let pin = Int(clamping: profile.pinLength)
    let allowsBiometricUnlock = Self.isOn(attributes["BIOMETRIC_UNLOCK"]) ?? true
    if Self.isOn(attributes["ENABLE_BIOMETRIC_AUTHENTICATION"]) == true {
      let minutes = Self.number(attributes["BIOMETRIC_AUTHENTICATION_TIMEOUT"]) ?? 0
      self.init(
        timeoutMinutes: max(Int(clamping: minutes), Self.minBiometricMinutes), passcodeLength: pin,
        isBiometric: true, allowsBiometricUnlock: allowsBiometricUnlock)
    } else if profile.screenLockMinutes > 0 {
      self.init(
        timeoutMinutes: Int(clamping: profile.screenLockMinutes), passcodeLength: pin,
        allowsBiometricUnlock: allowsBiometricUnlock)
    } else {
      return nil
    }
  }

  /// What holds for an app with several users: the shortest time, the longest passcode, and what any of them forbids.
  ///
  /// - Returns: Nil without policies.
  public static func strictest(_ policies: some Sequence<LockPolicy>) -> LockPolicy? {
    policies.reduce(nil) { strictest, policy in
      guard let strictest else { return policy }
      return LockPolicy(
        timeoutMinutes: min(strictest.timeoutMinutes, policy.timeoutMinutes),
        passcodeLength: max(strictest.passcodeLength, policy.passcodeLength),
        isBiometric: strictest.isBiometric || policy.isBiometric,
        allowsBiometricUnlock: strictest.allowsBiometricUnlock && policy.allowsBiometricUnlock)
    }
  }

  /// Attributes are texts. One that says neither yes nor no demands what it names.
  private static func isOn(_ value: JSONValue?) -> Bool? {
    guard let value, !value.isNull else { return nil }
    if let bool = value.bool { return bool }
    guard let text = value.string?.trimmed.lowercased() else { return true }
    return text.isEmpty ? nil : text != "false" && text != "0"
  }

  private static func number(_ value: JSONValue?) -> Int64? {
    value?.int64 ?? value?.string.flatMap { Int64($0.trimmed) }
  }

  // MARK: In an account's file

  init?(_ json: JSONSlice) {
    guard let minutes = json["timeout"]?.int64, minutes > 0 else { return nil }
    self.init(
      timeoutMinutes: Int(clamping: minutes),
      passcodeLength: Int(clamping: json["pinLength"]?.int64 ?? 0),
      isBiometric: json["biometric"]?.bool ?? false,
      allowsBiometricUnlock: json["biometricUnlock"]?.bool ?? true)
  }

  var json: JSONObject {
    [
      "timeout": .integer(Int64(timeoutMinutes)), "pinLength": .integer(Int64(passcodeLength)),
      "biometric": .bool(isBiometric), "biometricUnlock": .bool(allowsBiometricUnlock),
    ]
  }
}
