public import Foundation
import SalesforceSDKCommon

/// A presenter for a machine without a browser: the user opens the shown address on another machine
/// and pastes the address of the redirect (CO-44).
public struct PastedLoginPresenter: DiscoveryPresenter {
  private let show: @concurrent @Sendable (URL) async throws -> Void
  private let read: @concurrent @Sendable () async throws -> String?

  /// Creates a presenter. The closures run outside the account manager, which can handle other
  /// calls while the user types.
  ///
  /// - Parameter show: Shows an address to the user.
  /// - Parameter read: Returns the pasted text: the whole address, or in the web-server flow only
  ///   the code; `nil` if the user cancelled.
  public init(
    show: @escaping @concurrent @Sendable (URL) async throws -> Void,
    read: @escaping @concurrent @Sendable () async throws -> String?
  ) {
    self.show = show
    self.read = read
  }

  /// Shows the page and reads lines until one is the address of this login.
  ///
  /// - Throws: ``OAuthError`` `cancelled` if the user cancels; the errors of the closures.
  public func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
    let redirectURI = attempt.app.redirectURI
    try await show(try await attempt.loginPage(redirectURI: redirectURI))
    while let line = try await read() {
      let address = Self.address(of: line.trimmed, attempt)
      if case .foreign = attempt.verdict(on: address, redirectURI: redirectURI) { continue }
      return LoginRedirect(address: address, redirectURI: redirectURI)
    }
    throw OAuthError(.cancelled, "Nothing was pasted, so the login was cancelled.")
  }

  /// Shows the page and reads lines until one is its callback.
  public func discover(
    _ discovery: MyDomainDiscovery
  ) async throws -> MyDomainDiscovery.Result {
    try await show(discovery.url)
    while let line = try await read() {
      if let result = discovery.result(of: line.trimmed) { return result }
    }
    throw OAuthError(.cancelled, "Nothing was pasted, so the login was cancelled.")
  }

  /// Returns the redirect's address for a pasted code. It needs no state: the server refuses a code
  /// of another login, because the verifier of this login does not match.
  private static func address(of line: String, _ attempt: AuthorizationSession) -> String {
    guard attempt.flow == .webServer, !line.isEmpty, !line.contains("://"), !line.contains("=")
    else { return line }
    let separator = attempt.app.redirectURI.contains("?") ? "&" : "?"
    return "\(attempt.app.redirectURI)\(separator)code=\(line)&state=\(attempt.state)"
  }
}
