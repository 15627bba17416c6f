public import Foundation
public import HTTPTypes

/// A transport, which sends a request to a server and returns the whole response.
///
/// A transport does the I/O and nothing else: it follows no redirect, sends no cookie, keeps no
/// cache and sends no body twice. What a status means, whether a token may travel on and whether work
/// without a response is done again is decided above it, so that every transport is as safe as the next.
///
/// Two come with this module: ``URLSessionTransport`` for the network and ``ScriptedTransport`` for
/// tests.
public protocol HTTPTransport: Sendable {
  /// Sends `request` and returns the complete response, whatever its status; a 3xx is a response too.
  ///
  /// - Throws: ``TransportError`` with a code of its list; `CancellationError` when the calling task
  ///   was cancelled, after the connection was closed.
  func send(_ request: TransportRequest) async throws -> TransportResponse

  /// Sends `request` and lends the response to `body` as soon as its header fields are there. The
  /// connection is closed if `body` ends before the response does.
  ///
  /// A transport that can pass on a response piece by piece implements this; the others lend the complete
  /// response of ``send(_:)``.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: As ``send(_:)``; what `body` throws passes through.
  func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (TransportStream) async throws -> Result
  ) async throws -> Result
}

extension HTTPTransport {
  public func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (TransportStream) async throws -> Result
  ) async throws -> Result {
    let response = try await send(request)
    return try await body(
      TransportStream(
        status: response.status, headers: response.headers, body: TransportBody(response.body)))
  }
}

/// One complete HTTP request: a transport adds only what the protocol demands (`Host`, `Content-Length`,
/// `Accept-Encoding`).
public struct TransportRequest: Sendable, Equatable {
  /// The HTTP method.
  public var method: HTTPRequest.Method
  /// The address, with its query.
  public var url: URL
  /// The header fields.
  public var headers: HTTPFields
  /// The body, or `nil` for none.
  public var body: [UInt8]?
  /// A body that is read while it is sent; it takes the place of ``body``.
  public var upload: UploadBody?
  /// Receives the progress of the transfer; `nil` for none.
  public var progress: TransferProgress?
  /// The longest time to wait without hearing anything from the server.
  public var timeout: Duration
  /// The longest body accepted; a longer one is refused as soon as that is known.
  public var maxResponseBytes: Int
  /// Whether the request has a connection of its own: it waits for no other request, and is not sent on a
  /// connection that was kept alive and may be dead. Token requests do. Default: false.
  ///
  /// A transport without connections ignores it.
  public var usesOwnConnection = false

  /// Creates a request.
  ///
  /// - Parameter timeout: Default: 60 seconds.
  /// - Parameter maxResponseBytes: Counted after decompression. Default: 256 MB.
  public init(
    method: HTTPRequest.Method, url: URL, headers: HTTPFields = [:], body: [UInt8]? = nil,
    upload: UploadBody? = nil, timeout: Duration = .seconds(60),
    maxResponseBytes: Int = TransportRequest.defaultMaxResponseBytes,
    progress: TransferProgress? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.upload = upload
    self.timeout = timeout
    self.maxResponseBytes = maxResponseBytes
    self.progress = progress
  }

  /// 256 MB: far above any page of records, far below what would harm a process.
  public static let defaultMaxResponseBytes = 256 * 1024 * 1024
}

/// The complete response to one request.
public struct TransportResponse: Sendable, Equatable {
  /// The HTTP status.
  public var status: Int
  /// The header fields.
  public var headers: HTTPFields
  /// The body, decompressed; empty if there was none.
  public var body: [UInt8]

  /// Makes a response.
  public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Makes a response with a JSON text as its body.
  public init(status: Int = 200, json: String) {
    self.init(
      status: status, headers: [.contentType: "application/json;charset=UTF-8"],
      body: Array(json.utf8))
  }
}

/// The method and the address without its query: neither token nor record data.
extension TransportRequest: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(method) \(url.withoutQuery)" }
  public var debugDescription: String { description }
}

/// The status and the size of the body, never its text: it may hold tokens or records.
extension TransportResponse: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(status), \(body.count) bytes" }
  public var debugDescription: String { description }
}

extension URL {
  /// The address as it may be shown: without user, query and fragment, where secrets would stand.
  package var withoutQuery: String {
    guard let host = host(percentEncoded: true) else { return path(percentEncoded: true) }
    let port = port.map { ":\($0)" } ?? ""
    return "\(scheme ?? "https")://\(host)\(port)\(path(percentEncoded: true))"
  }
}
