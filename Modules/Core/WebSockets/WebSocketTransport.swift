/// A transport that opens WebSockets.
///
/// It does the handshake and moves messages; tokens and refreshes belong to ``RestClient``. The program brings its own.
public protocol WebSocketTransport: Sendable {
  /// Opens a WebSocket and calls `body` with it once the server has accepted the handshake. The connection is closed when `body`
  /// returns or throws.
  ///
  /// - Parameter request: A GET with the header fields of the handshake, to an `https` address, or an `http` address of this
  ///   machine. Redirects are not followed: they would pass the token on.
  /// - Returns: The result of `body`.
  /// - Throws: ``WebSocketError`` `refused`, `unreachable`; errors of `body` are rethrown; `CancellationError`.
  func withConnection<Result: Sendable>(
    to request: TransportRequest,
    _ body: @escaping @Sendable (WebSocketConnection) async throws -> Result
  ) async throws -> Result
}

/// An open WebSocket. It is valid inside the closure that received it.
public struct WebSocketConnection: Sendable {
  /// The messages of the server, in order. The sequence is for one reader. It ends when the server closes the connection
  /// normally; otherwise it throws ``WebSocketError`` `closed`, `tooLarge` or `malformed`.
  public let messages: AsyncThrowingStream<WebSocketMessage, any Error>
  private let sender: @Sendable (WebSocketMessage) async throws -> Void
  private let closer: @Sendable (_ code: Int, _ reason: String) async throws -> Void

  /// Creates a connection, for a transport.
  public init(
    messages: AsyncThrowingStream<WebSocketMessage, any Error>,
    send: @escaping @Sendable (WebSocketMessage) async throws -> Void,
    close: @escaping @Sendable (_ code: Int, _ reason: String) async throws -> Void
  ) {
    self.messages = messages
    sender = send
    closer = close
  }

  /// Sends a message. Returns when the connection has accepted it.
  ///
  /// - Throws: ``WebSocketError`` `closed`.
  public func send(_ message: WebSocketMessage) async throws { try await sender(message) }

  /// Sends a text.
  ///
  /// - Throws: ``WebSocketError`` `closed`.
  public func send(_ text: String) async throws { try await send(.text(text)) }

  /// Closes the connection.
  ///
  /// - Parameter code: A code of RFC 6455. Default: 1000, a normal end.
  /// - Parameter reason: At most 123 bytes; a longer text is cut.
  public func close(code: Int = 1_000, reason: String = "") async throws {
    try await closer(code, reason)
  }
}
