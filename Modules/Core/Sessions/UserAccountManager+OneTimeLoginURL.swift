public import Foundation
import SalesforceSDKCommon

/// Pages that open with an existing session.
extension UserAccountManager {
  /// Returns a one-time URL that opens `target` in a browser with the account's session (CO-42).
  ///
  /// - Parameter target: A path of the org, or an absolute URL in it.
  /// - Throws: ``OAuthError`` `malformedResponse`, or with the server's refusal; the errors of a
  ///   refresh; ``TransportError`` if the server was not reached; ``AccountError``
  ///   `unknownAccount`, `notLoggedIn`, `closed`.
  public func oneTimeLoginURL(
    to target: String, for identity: UserAccountIdentity
  ) async throws -> URL {
    try await withFreshSession(of: identity) { account in
      try await self.service.oneTimeLoginURL(to: target, with: account.credentials)
    }
  }
}
