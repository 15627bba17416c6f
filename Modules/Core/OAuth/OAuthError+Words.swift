/// The words of the token endpoint (`error` in its responses).
///
/// Only a word of the platform says something about the session. A captive portal or a proxy may respond with JSON of
/// its own, and with any status.
enum OAuthWord {
  /// The words after which the same request may succeed later.
  private static let temporary: Set<String> = [
    "app_attest_failed_retry", "server_error", "service_unavailable", "system_down",
    "temporarily_unavailable", "unknown_error",
  ]

  /// The other words of the platform, and of RFC 6749 and 8628.
  private static let final: Set<String> = [
    "access_denied", "app_attest_failed", "app_blocked", "app_not_found", "auth_config",
    "auth_timeout", "authorization_pending", "bad_jti_claim", "browser_launch_failed",
    "ecapp_policy_not_found", "exceeded_registration_limit", "expired_token",
    "fail_close_app_blocked", "failed_registration", "immediate_unsuccessful", "inactive_org",
    "inactive_user", "installation_error", "invalid_app_access", "invalid_assertion_type",
    "invalid_basic_auth_header", "invalid_client", "invalid_client_credentials",
    "invalid_client_id", "invalid_distribution_state", "invalid_dpop_proof", "invalid_expid",
    "invalid_grant", "invalid_otp", "invalid_request", "invalid_scope", "invalid_session_level",
    "invalid_token", "jwt_launch_failed", "login_error", "malformed_response",
    "oauth_ec_app_not_found", "oauth_flow_disabled", "oauth_policy_not_found", "otp_error",
    "rate_limit_exceeded", "redirect_uri_mismatch", "redirect_uri_missing", "registration_error",
    "slow_down", "unauthorized_client", "unknown_advanced_auth_config", "unsupported_expid",
    "unsupported_grant_type", "unsupported_response_type", "unsupported_token_type",
    "use_dpop_nonce", "wrong_version",
  ]

  /// Returns the error for a word in a response of the token endpoint.
  static func error(
    _ word: String, description: String?, status: Int, during what: String
  ) -> OAuthError {
    // A server that cannot work says nothing about the session, whatever words come with it.
    let passing =
      OAuthError(unavailable: status, during: what)?.code
      ?? (temporary.contains(word) ? .serverUnavailable : nil)
    let error = OAuthError(
      serverError: word, code: passing, description: description, during: what)
    return passing == nil && !final.contains(word) ? error.unexpected : error
  }
}
