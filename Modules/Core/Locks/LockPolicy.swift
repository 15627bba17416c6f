import SalesforceSDKCommon

/// An org's policy for locking the app (CO-154).
///
/// It comes from `mobile_policy` of the identity service, or from the custom attributes of
/// biometric authentication, which take precedence. A policy without a time is ignored.
public struct LockPolicy: Sendable, Hashable {
  /// Minutes without use after which the app locks itself; at least 1.
  public let timeoutMinutes: Int
  /// The number of digits of the passcode; 0 if the org does not specify it.
  public let passcodeLength: Int
  /// Whether the org requires biometric authentication. On a device without biometrics, its other
  /// ways to authenticate are accepted.
  public let isBiometric: Bool
  /// Whether biometrics may replace the passcode.
  public let allowsBiometricUnlock: Bool

  /// The time without use after which the app locks itself.
  public var timeout: Duration { .seconds(60 * timeoutMinutes) }

  /// The longest accepted time: a week, in minutes.
  public static let maxTimeoutMinutes = 7 * 24 * 60
  /// The longest passcode that a policy can require, in digits.
  public static let maxPasscodeLength = 16
  /// The minimum time for biometric authentication, in minutes.
  static let minBiometricMinutes = 15

  /// Creates a policy. Values out of range are clamped.
  public init(
    timeoutMinutes: Int, passcodeLength: Int = 0, isBiometric: Bool = false,
    allowsBiometricUnlock: Bool = true
  ) {
    self.timeoutMinutes = min(max(timeoutMinutes, 1), Self.maxTimeoutMinutes)
    self.passcodeLength = min(max(passcodeLength, 0), Self.maxPasscodeLength)
    self.isBiometric = isBiometric
    self.allowsBiometricUnlock = allowsBiometricUnlock
  }

  /// The policy of a user; nil if the org has none.
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

  /// Returns the combined policy of several users: the shortest time, the longest passcode, and the
  /// restrictions of each.
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
  static func isOn(_ value: JSONValue?) -> Bool? {
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
