import Synchronization

/// A selector of the connected app for a login, by login server, with an override for tests (CO-4).
public final class ConnectedAppSelector: Sendable {
  /// A function that returns the app for a login server, or `nil` for the usual one.
  public typealias Choice = @Sendable (LoginServer) async throws -> ConnectedApp?

  /// The app for servers without an app of their own.
  public let usual: ConnectedApp

  private let choose: Choice
  private let managed: ManagedConfigurationFile?
  private let override = Mutex<ConnectedApp?>(nil)

  /// Creates a selector.
  ///
  /// - Parameters:
  ///   - managed: The managed configuration, whose consumer key and callback replace those of the
  ///     selected app and of the override. Default: none.
  ///   - choose: Called at the start of each login, and retained by the selector.
  public init(
    _ usual: ConnectedApp, managed: ManagedConfigurationFile? = nil,
    choose: @escaping Choice = { _ in nil }
  ) {
    self.usual = usual
    self.managed = managed
    self.choose = choose
  }

  /// Sets the app that overrides all others until the next successful login; `nil` removes it
  /// (BX-35).
  public func setOverride(_ app: ConnectedApp?) {
    override.withLock { $0 = app }
  }

  /// Returns the app for a login at `server`.
  ///
  /// - Throws: The error of the choice; ``OAuthError`` `badManagedConfiguration` (681).
  public func app(for server: LoginServer) async throws -> ConnectedApp {
    try await selection(for: server).app
  }

  /// The app for a login, and the override that it comes from.
  func selection(
    for server: LoginServer
  ) async throws -> (app: ConnectedApp, override: ConnectedApp?) {
    let override = override.withLock { $0 }
    var app = override
    if app == nil { app = try await choose(server) }
    return (try managed?.current.applied(to: app ?? usual) ?? app ?? usual, override)
  }

  /// Removes the override after a successful login with it.
  func didLogIn(withOverride used: ConnectedApp?) {
    override.withLock { if $0 == used { $0 = nil } }
  }
}
