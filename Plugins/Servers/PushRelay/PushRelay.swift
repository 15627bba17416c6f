#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import LocalServer
public import SalesforcePush
public import SalesforceSDKCommon

/// An endpoint on this machine to which a companion forwards the payloads of a push service (HT-72,
/// HT-95).
///
/// A POST of the payload, a JSON object, to `/push` with `Authorization: Bearer TOKEN` delivers it
/// and returns 202. A payload that cannot be decrypted also gets 202: with more information, a
/// sender could recover the content of other payloads.
///
/// ```swift
/// let relay = try await PushRelay.start(receiver) { error in log(error) }
/// print(relay.url, relay.token)
/// ```
public struct PushRelay: Sendable {
  /// The URL for POST requests, such as `http://127.0.0.1:49152/push`.
  public let url: String
  /// The token that senders must send; new for each relay.
  public let token: String
  private let server: LocalServer

  /// The longest payload, in bytes; those of push services have at most 4,096.
  public static let maxPayloadBytes = 16_384

  /// Starts a relay on a free port of the loopback interface; it serves until ``stop()``.
  ///
  /// - Parameters:
  ///   - service: The push service that defines the form of payloads.
  ///   - allowsRoot: Whether to serve in a process of root. Default: false.
  ///   - onFailure: Called with the error of each payload that could not be delivered.
  /// - Throws: ``PushRelayError`` `root`, `notListening`.
  public static func start(
    _ receiver: PushReceiver, service: PushService = .apple, allowsRoot: Bool = false,
    onFailure: @escaping @Sendable (PushError) -> Void = { _ in }
  ) async throws(PushRelayError) -> PushRelay {
    try await start(
      receiver, service: service, allowsRoot: allowsRoot, user: geteuid(), limits: limits,
      onFailure: onFailure)
  }

  static func start(
    _ receiver: PushReceiver, service: PushService, allowsRoot: Bool, user: uid_t,
    limits: ServerLimits, onFailure: @escaping @Sendable (PushError) -> Void
  ) async throws(PushRelayError) -> PushRelay {
    guard user != 0 || allowsRoot else {
      throw PushRelayError(
        .root, "The relay does not serve as root. Run it as another user, or allow it.")
    }
    let token = Base64URL.encode(RandomBytes.make(32))
    let responder = RelayResponder(
      token: token, service: service, receiver: receiver, onFailure: onFailure)
    do {
      let server = try await LocalServer.start(
        responder, host: "127.0.0.1", port: 0, limits: limits,
        onListening: { port in responder.listen(on: port) })
      return PushRelay(
        url: "http://127.0.0.1:\(server.port)\(RelayResponder.path)", token: token, server: server)
    } catch {
      throw PushRelayError(
        .notListening, "The relay cannot listen on the loopback interface: \(error)", cause: error)
    }
  }

  /// Stops listening and closes all connections.
  public func stop() async { await server.stop() }

  private static var limits: ServerLimits {
    var limits = ServerLimits()
    limits.maxConnections = 32
    limits.maxBodyBytes = maxPayloadBytes * 2
    limits.bodyTimeout = .seconds(5)
    limits.firstHeadTimeout = .seconds(5)
    return limits
  }
}

/// An error at the start of a relay.
public struct PushRelayError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case root, notListening }
    private let kind: Kind
    /// The process runs as root. Run it as another user.
    public static let root = Code(kind: .root)
    /// No port is available. Try again.
    public static let notListening = Code(kind: .notListening)

    /// The name of the code, such as `root`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and the remedy.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether a retry may succeed.
  public var isRetryable: Bool { code == .notListening }
}
