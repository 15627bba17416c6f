import Synchronization

/// The choice of the connected app for a login, by login server, with an override for tests (CO-4).
public final class ConnectedAppSelector: Sendable {
  /// The app for a login server, or `nil` for the usual one.
  public typealias Choice = @Sendable (LoginServer) async throws -> ConnectedApp?

  /// The app for servers without an app of their own.
  public let usual: ConnectedApp

  private let choose: Choice
  private let override = Mutex<ConnectedApp?>(nil)

  /// Makes a selector; `choose` is called at the start of each login and kept as long as this.
  public init(_ usual: ConnectedApp, choose: @escaping Choice = { _ in nil }) {
    self.usual = usual
    self.choose = choose
  }

  /// The app that overrides all others until the next successful login; `nil` ends the override (BX-35).
  public func setOverride(_ app: ConnectedApp?) {
    override.withLock { $0 = app }
  }

  /// The app for a login at `server`.
  ///
  /// - Throws: What the choice throws.
  public func app(for server: LoginServer) async throws -> ConnectedApp {
    if let app = override.withLock({ $0 }) { return app }
    return try await choose(server) ?? usual
  }

  /// A login with `app` succeeded: if it was the override, that is over.
  func didLogIn(with app: ConnectedApp) {
    override.withLock { if $0 == app { $0 = nil } }
  }
}
