import Synchronization

/// The handlers of the URLs that an app receives, each of which may take one. They are tried in the platform's order
/// (CO-168), whatever the order in which they were added.
public final class URLHandlers: Sendable {
  /// A kind of URL, in the order in which the kinds are tried.
  public enum Kind: Int, Sendable, Comparable, CaseIterable {
    /// The redirect of a login in the browser.
    case browserRedirect
    /// The code for a login of this app.
    case authResponse
    /// The identity provider starts a login of this app.
    case login
    /// The identity provider starts a login and brings its code.
    case loginWithCode
    /// The identity provider refuses.
    case failure
    /// An app asks this identity provider for a code.
    case authRequest
    /// A login that began on another screen.
    case scannedLogin
    /// A URL of the app's own.
    case other

    public static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }
  }

  /// Takes a URL or leaves it to others; whether it took it.
  public typealias Handler = @Sendable (_ url: String) async throws -> Bool

  private let handlers = Mutex<[(kind: Kind, handle: Handler)]>([])

  /// Makes an empty list.
  public init() {}

  /// Adds a handler behind those of its kind.
  public func add(_ kind: Kind, _ handler: @escaping Handler) {
    handlers.withLock { handlers in
      let place = handlers.firstIndex { $0.kind > kind } ?? handlers.endIndex
      handlers.insert((kind, handler), at: place)
    }
  }

  /// Gives a URL to the handlers in order, until one takes it.
  ///
  /// - Returns: The kind of the handler that took it; nil if it is none of theirs.
  /// - Throws: What the handler throws; then no other handler gets the URL.
  @discardableResult
  public func handle(_ url: String) async throws -> Kind? {
    for (kind, handle) in handlers.withLock({ $0 }) where try await handle(url) { return kind }
    return nil
  }
}
