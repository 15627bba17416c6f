import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
public import NIOSSL
import NIOWebSocket
public import SalesforceSDKCore

/// A transport for WebSockets over SwiftNIO, on Linux and Apple systems.
///
/// Each connection has a socket of its own, with TLS unless the address is one of this machine. It responds to pings while
/// `body` runs. Up to ``maxBufferedMessages`` messages wait for a slow reader; then the connection ends with `tooLarge`.
public struct NIOWebSocketTransport: WebSocketTransport {
  /// The maximum size of a message in either direction, in bytes. Default: 16 MB.
  public let maxMessageBytes: Int
  /// The maximum number of messages that wait for their reader. Default: 1,000.
  public let maxBufferedMessages: Int
  private let tls: TLSConfiguration

  /// Creates a transport.
  ///
  /// - Parameter tls: Default: the system's certificate authorities, TLS 1.2 or later.
  public init(
    maxMessageBytes: Int = 16 << 20, maxBufferedMessages: Int = 1_000,
    tls: TLSConfiguration? = nil
  ) {
    self.maxMessageBytes = maxMessageBytes
    self.maxBufferedMessages = maxBufferedMessages
    self.tls =
      tls
      ?? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        return tls
      }()
  }

  public func withConnection<Result: Sendable>(
    to request: TransportRequest,
    _ body: @escaping @Sendable (WebSocketConnection) async throws -> Result
  ) async throws -> Result {
    switch try await handshake(request) {
    case .refused(let head): throw try await Self.refusal(head, request)
    case .open(let channel, let errors):
      return try await channel.executeThenClose { inbound, outbound in
        try await SocketExchange(
          outbound: outbound, maxMessageBytes: maxMessageBytes,
          maxBufferedMessages: maxBufferedMessages, errors: errors
        ).run(inbound, body)
      }
    }
  }

  // MARK: Handshake

  private typealias Frames = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>
  private typealias Head = NIOAsyncChannel<
    HTTPClientResponsePart, HTTPPart<HTTPRequestHead, ByteBuffer>
  >

  /// The result of a handshake.
  private enum Outcome: Sendable {
    case open(Frames, FrameErrorHandler)
    case refused(Head)
  }

  private func handshake(_ request: TransportRequest) async throws -> Outcome {
    guard let host = request.url.host(), let scheme = request.url.scheme?.lowercased() else {
      throw WebSocketError(.malformed, "The address of the WebSocket has no host. Correct it.")
    }
    let isSecure = scheme == "https" || scheme == "wss"
    let port = request.url.port ?? (isSecure ? 443 : 80)
    let context = isSecure ? try NIOSSLContext(configuration: tls) : nil
    let head = Self.head(of: request, host: host, port: request.url.port)
    let maxFrameBytes = min(maxMessageBytes, Int(UInt32.max))
    let seconds = Int64(request.timeout / .seconds(1))
    do {
      let upgrade = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(max(1, seconds)))
        .connect(host: host, port: port) { channel in
          channel.eventLoop.makeCompletedFuture {
            if let context {
              // Server names are no IP addresses.
              let name = Self.isAddress(host) ? nil : host
              try channel.pipeline.syncOperations.addHandler(
                NIOSSLClientHandler(context: context, serverHostname: name))
            }
            return try Self.configure(channel, head, maxFrameBytes)
          }
        }
      return try await upgrade.get()
    } catch let error as CancellationError {
      throw error
    } catch {
      throw WebSocketError(
        .unreachable,
        "\(scheme)://\(host) did not open a WebSocket. Check the network and the address.",
        cause: error)
    }
  }

  private static func configure(
    _ channel: any Channel, _ head: HTTPRequestHead, _ maxFrameBytes: Int
  ) throws -> EventLoopFuture<Outcome> {
    let upgrader = NIOTypedWebSocketClientUpgrader<Outcome>(
      maxFrameSize: maxFrameBytes, enableAutomaticErrorHandling: false
    ) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let errors = FrameErrorHandler()
        try channel.pipeline.syncOperations.addHandler(errors)
        return .open(try Frames(wrappingChannelSynchronously: channel), errors)
      }
    }
    let configuration = NIOTypedHTTPClientUpgradeConfiguration<Outcome>(
      upgradeRequestHead: head, upgraders: [upgrader]
    ) { channel in
      channel.eventLoop.makeCompletedFuture {
        .refused(try Head(wrappingChannelSynchronously: channel))
      }
    }
    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: .init(upgradeConfiguration: configuration))
  }

  private static func head(
    of request: TransportRequest, host: String, port: Int?
  ) -> HTTPRequestHead {
    var headers = HTTPHeaders()
    headers.add(name: "Host", value: port.map { "\(host):\($0)" } ?? host)
    headers.add(name: "Content-Length", value: "0")
    // The connection has its own.
    let own = ["host", "content-length"]
    for field in request.headers where !own.contains(field.name.canonicalName) {
      headers.add(name: field.name.rawName, value: field.value)
    }
    let path = request.url.path(percentEncoded: true)
    let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
    return HTTPRequestHead(
      version: .http1_1, method: .GET, uri: (path.isEmpty ? "/" : path) + query, headers: headers)
  }

  private static func isAddress(_ host: String) -> Bool {
    (try? SocketAddress(ipAddress: host.trimmingCharacters(in: ["[", "]"]), port: 0)) != nil
  }

  private static func refusal(_ channel: Head, _ request: TransportRequest) async throws
    -> WebSocketError
  {
    let status: Int? = try await channel.executeThenClose { inbound, _ in
      for try await part in inbound {
        if case .head(let head) = part { return Int(head.status.code) }
      }
      return nil
    }
    let host = request.url.host() ?? ""
    guard let status else {
      return WebSocketError(.malformed, "\(host) closed the connection during the handshake.")
    }
    return WebSocketError(
      .refused,
      "\(host) refused a WebSocket with status \(status). Check the address and the session.",
      status: status)
  }
}
