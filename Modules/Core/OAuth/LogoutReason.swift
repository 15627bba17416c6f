/// The reason of a logout. It is also sent to the server with the revocation (CO-38).
public struct LogoutReason: Sendable, Hashable, CustomStringConvertible {
  /// The value that is sent.
  public let rawValue: String

  /// Creates a custom reason.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The stored data is inconsistent.
  public static let corruptState = LogoutReason(rawValue: "corrupt_state")
  /// The app's settings contradict the account.
  public static let corruptStateAppConfigurationSettings = LogoutReason(
    rawValue: "corrupt_state_app_configuration_settings")
  /// The app requested a user that does not exist.
  public static let corruptStateAppProviderErrorInvalidUser = LogoutReason(
    rawValue: "corrupt_state_app_provider_error_invalid_user")
  /// The app has no client for the user.
  public static let corruptStateAppInvalidRestClient = LogoutReason(
    rawValue: "corrupt_state_app_invalid_restclient")
  /// The app found another inconsistency.
  public static let corruptStateAppOther = LogoutReason(rawValue: "corrupt_state_app_other")
  /// This package found an inconsistency.
  public static let corruptStateMSDK = LogoutReason(rawValue: "corrupt_state_msdk")
  /// The server refused the refresh token.
  public static let refreshTokenExpired = LogoutReason(rawValue: "refresh_token_expired")
  /// A policy of the org requires it.
  public static let ssdkLogoutPolicy = LogoutReason(rawValue: "ssdk_logout_policy")
  /// The session was idle for too long.
  public static let timeout = LogoutReason(rawValue: "timeout")
  /// An unexpected failure occurred.
  public static let unexpected = LogoutReason(rawValue: "unexpected")
  /// The server's response is unknown.
  public static let unexpectedResponse = LogoutReason(rawValue: "unexpected_response")
  /// The caller gave no reason.
  public static let unknown = LogoutReason(rawValue: "unknown")
  /// The user requested it.
  public static let userLogout = LogoutReason(rawValue: "user_logout")
  /// A newer refresh token replaced it.
  public static let refreshTokenRotated = LogoutReason(rawValue: "refresh_token_rotated")

  public var description: String { rawValue }
}
