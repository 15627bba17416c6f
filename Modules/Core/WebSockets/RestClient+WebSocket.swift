import HTTPTypes
import Synchronization

extension RestClient {
  /// Opens a WebSocket with the account's session, and closes it when `body` returns or throws (CO-189, BX-46).
  ///
  /// ```swift
  /// try await client.withWebSocket(to: RestRequest(path: "/events"), over: transport) { socket in
  ///   try await socket.send(#"{"subscribe": "orders"}"#)
  ///   for try await message in socket.messages { print(message) }
  /// }
  /// ```
  ///
  /// The token is sent in the handshake, to the account's own servers only. If the server refuses it with 401, one refresh,
  /// which is shared with the client's other requests, precedes a second handshake; a second 401 is the caller's. Nothing is
  /// repeated once `body` has been called: to resume after a loss, call this again.
  ///
  /// - Parameter request: Its path, query, header fields and host; method and body are not used.
  /// - Returns: The result of `body`.
  /// - Throws: ``WebSocketError`` `refused` or `unreachable`; the errors of ``response(to:)`` for requests that cannot be sent;
  ///   errors of `body` are rethrown; `CancellationError`.
  public func withWebSocket<Result: Sendable>(
    to request: RestRequest, over sockets: some WebSocketTransport,
    _ body: @escaping @Sendable (WebSocketConnection) async throws -> Result
  ) async throws -> Result {
    var handshake = request
    handshake.method = .get
    handshake.body = nil
    handshake.upload = nil
    var account = try await session.account(for: handshake)
    var mayRefresh =
      account != nil && handshake.requiresAuthentication && handshake.headers[.authorization] == nil
    let opening = Opening()
    while true {
      let wired = try writer.wire(handshake, as: account)
      do {
        return try await sockets.withConnection(to: wired) { socket in
          opening.isDone.withLock { $0 = true }
          return try await body(socket)
        }
      } catch let error as WebSocketError
        where error.status == 401 && mayRefresh && !opening.isDone.withLock({ $0 })
      {
        mayRefresh = false
        account = try await session.refreshedAccount(for: handshake, replacing: account)
      }
    }
  }
}

/// Whether the server has accepted a handshake.
private final class Opening: Sendable {
  let isDone = Mutex(false)
}
