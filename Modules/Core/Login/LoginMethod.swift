/// One way to log a user in, with all that it needs.
///
/// | to log in | method |
/// | --- | --- |
/// | a user at this machine | ``browser(to:app:presenter:options:)`` |
/// | a user without a browser here | ``device(to:app:showing:)`` |
/// | a user who scanned an address | ``scanned(_:app:presenter:)`` |
/// | a program without a user | ``grant(_:to:)`` |
/// | a user whom a program vouches for | ``grant(_:to:app:presenter:)`` |
/// | with tokens from elsewhere | ``tokens(accessToken:refreshToken:instance:app:)`` |
/// | a community's user without a page | ``password(username:password:to:app:)``, ``oneTimeCode(_:for:to:app:)`` |
///
/// A method is a value without state: it can be kept and used for several logins, unless what it was made of can
/// be used only once.
public struct LoginMethod: Sendable {
  /// A login at work, which returns the account as stored.
  typealias Work =
    @Sendable (_ accounts: UserAccountManager, _ makesCurrent: Bool) async throws -> UserAccount

  /// The server where the login begins.
  public let server: LoginServer
  /// The kind of the login.
  public let type: LoginType
  /// Checks what can be checked before the login begins, and returns its work.
  let begin: @Sendable (_ accounts: UserAccountManager) async throws -> Work

  init(
    _ type: LoginType, to server: LoginServer,
    begin: @escaping @Sendable (_ accounts: UserAccountManager) async throws -> Work
  ) {
    self.type = type
    self.server = server
    self.begin = begin
  }

  /// Creates a method with nothing to check before the login begins.
  init(_ type: LoginType, to server: LoginServer, _ work: @escaping Work) {
    self.init(type, to: server) { _ in work }
  }
}

/// The kind and the server, without names, codes and tokens.
extension LoginMethod: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "login \(type) at \(server)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["server": server, "type": type]) }
}
