import IdentityProviderURLs
import PeerSocket

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Receives commands on a socket until it is stopped.
public final class IdentityListener: Sendable {
  private let listener: PeerListener

  private init(_ listener: PeerListener) { self.listener = listener }

  /// Stops listening, and cancels the logins under way.
  public func stop() async { await listener.stop() }

  static func start(
    _ socket: IdentitySocket, allowsRoot: Bool, user: UInt32 = geteuid(),
    limits: PeerSocketLimits = PeerSocketLimits(),
    respond: @escaping @Sendable (IdentityURL, IdentityPeer) async -> IdentityURL?
  ) async throws(IdentityLoginError) -> IdentityListener {
    guard user != 0 || allowsRoot else {
      throw IdentityLoginError(
        .root,
        "No login through another app is served as root. Run it as another user, or allow it."
      )
    }
    do throws(PeerSocketError) {
      return IdentityListener(
        try await PeerListener.start(at: socket.path, limits: limits) { message, peer in
          // What is no command gets no response.
          guard let text = String(validating: message, as: UTF8.self),
            let url = try? IdentityURL(parsing: text)
          else { return nil }
          let response = await respond(url, IdentityPeer(peer))
          return Task.isCancelled ? nil : Array((response?.text ?? "").utf8)
        })
    } catch {
      throw IdentityLoginError(error)
    }
  }
}
