public import Foundation
public import HTTPTypes

/// A transport, which sends a request to a server and returns the whole response.
///
/// A transport only does the I/O: it follows no redirects, sends no cookies, has no cache and sends
/// no body twice. The client above it interprets the status, follows redirects with or without the
/// token, and repeats requests, so every transport is equally safe.
///
/// This module has two: ``URLSessionTransport`` for the network and ``ScriptedTransport`` for
/// tests.
public protocol HTTPTransport: Sendable {
  /// Sends `request` and returns the complete response, whatever its status; a 3xx is a response too.
  ///
  /// - Throws: ``TransportError``; `CancellationError` if the calling task was cancelled, after the
  ///   connection was closed.
  func send(_ request: TransportRequest) async throws -> RestResponse

  /// Sends `request` and calls `body` with the response as soon as its header fields have arrived.
  /// The connection is closed if `body` returns before the end of the response.
  ///
  /// A transport that can deliver a response piece by piece implements this; the default passes the
  /// complete response of ``send(_:)``.
  ///
  /// - Returns: The result of `body`.
  /// - Throws: As ``send(_:)``; errors of `body` are rethrown.
  func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (RestStream) async throws -> Result
  ) async throws -> Result
}

extension HTTPTransport {
  public func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    let response = try await send(request)
    return try await body(
      RestStream(
        status: response.status, headers: response.headers, body: RestBody(response.body)))
  }
}

/// One complete HTTP request: a transport adds only the header fields that the protocol requires
/// (`Host`, `Content-Length`, `Accept-Encoding`).
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
  /// The maximum time without data from the server.
  public var timeout: Duration
  /// The longest body accepted; a longer one is refused as soon as that is known.
  public var maxResponseBytes: Int
  /// Whether the request uses a separate connection: it waits for no other request, and is not sent
  /// on a connection that was kept alive and may be dead. True for token requests. Default: false.
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

  /// The default maximum, 256 MB: far more than a page of records, and safe for a process's memory.
  public static let defaultMaxResponseBytes = 256 * 1024 * 1024
}

/// The method and the address without its query: neither token nor record data.
extension TransportRequest: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(method) \(url.withoutQuery)" }
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
