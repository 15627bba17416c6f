/// Why an account is logged out; also sent to the server with the revocation (CO-38).
public struct LogoutReason: Sendable, Hashable, CustomStringConvertible {
  /// The word that is sent.
  public let rawValue: String

  /// Makes a reason of your own.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static let corruptState = LogoutReason(rawValue: "corrupt_state")
  public static let corruptStateAppConfigurationSettings = LogoutReason(
    rawValue: "corrupt_state_app_configuration_settings")
  public static let corruptStateAppProviderErrorInvalidUser = LogoutReason(
    rawValue: "corrupt_state_app_provider_error_invalid_user")
  public static let corruptStateAppInvalidRestClient = LogoutReason(
    rawValue: "corrupt_state_app_invalid_restclient")
  public static let corruptStateAppOther = LogoutReason(rawValue: "corrupt_state_app_other")
  public static let corruptStateMSDK = LogoutReason(rawValue: "corrupt_state_msdk")
  public static let refreshTokenExpired = LogoutReason(rawValue: "refresh_token_expired")
  public static let ssdkLogoutPolicy = LogoutReason(rawValue: "ssdk_logout_policy")
  public static let timeout = LogoutReason(rawValue: "timeout")
  public static let unexpected = LogoutReason(rawValue: "unexpected")
  public static let unexpectedResponse = LogoutReason(rawValue: "unexpected_response")
  public static let unknown = LogoutReason(rawValue: "unknown")
  public static let userLogout = LogoutReason(rawValue: "user_logout")
  public static let refreshTokenRotated = LogoutReason(rawValue: "refresh_token_rotated")

  public var description: String { rawValue }
}
