import Dispatch
public import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transport over URLSession: connections are kept alive and shared by all requests of one
/// instance, up to `maxConnectionsPerHost`. Each stream, upload and token request has a separate
/// connection, so it never waits for other requests.
///
/// It stores no cookies, caches nothing and looks up no credentials. Cancelling the calling task
/// closes the connection of its request.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession
  private let exchanges: ExchangeTable
  private let semaphore: ConnectionSemaphore
  private let temporaryFolder: URL

  /// Creates a transport.
  ///
  /// - Parameter maxConnectionsPerHost: The maximum number of simultaneous requests to one server,
  ///   not counting streams. Further requests wait, in order; their timeouts begin when they are
  ///   sent. Default: 6.
  /// - Parameter temporaryFolder: The folder for the unread part of a streamed response, which is
  ///   encrypted in a file without a name. Default: the system's folder for such files.
  public init(
    maxConnectionsPerHost: Int = 6,
    temporaryFolder: URL = FileManager.default.temporaryDirectory
  ) {
    precondition(
      maxConnectionsPerHost > 0, "maxConnectionsPerHost is \(maxConnectionsPerHost), not above 0")
    let exchanges = ExchangeTable()
    self.exchanges = exchanges
    self.semaphore = ConnectionSemaphore(limit: maxConnectionsPerHost)
    self.temporaryFolder = temporaryFolder
    self.session = URLSession.makeBare(
      maxConnectionsPerHost: maxConnectionsPerHost, delegate: exchanges)
  }

  deinit {
    // The session keeps its delegate alive until it is invalidated.
    session.endFromAside()
  }

  public func send(_ request: TransportRequest) async throws -> RestResponse {
    // One that was kept alive may be dead, which is known when the body is half sent, and then only the
    // caller may send it again.
    guard request.upload == nil, !request.usesOwnConnection else {
      return try await sendOnOwnConnection(request)
    }
    try request.url.checkIsSecure()
    let server = request.url.origin
    try await semaphore.enter(server)
    defer { semaphore.leave(server) }
    let response = BufferedResponse()
    let exchange = Exchange(request, into: response)
    let task = session.dataTask(with: URLRequest(request))
    exchanges.add(exchange, for: task.taskIdentifier)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        response.resume(continuation)
        let isSent = exchange.begin {
          task.cancel()
        } send: {
          task.resume()
        }
        // A task that never ran reports no end.
        if !isSent { exchanges.remove(task.taskIdentifier) }
      }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Each streamed exchange has a separate connection, so that it does not block a shared one for
  /// long.
  public func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (RestStream) async throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    try request.url.checkIsSecure()
    let exchanges = ExchangeTable()
    let response = StreamedResponse(diskBuffer: DiskBuffer(in: temporaryFolder))
    let exchange = Exchange(request, into: response)
    let session = URLSession.makeBare(maxConnectionsPerHost: 1, delegate: exchanges)
    var sent = URLRequest(request)
    if let upload = request.upload { sent.setBody(upload, of: exchange) }
    let task = session.dataTask(with: sent)
    exchanges.add(exchange, for: task.taskIdentifier)
    defer {
      exchange.cancel()
      session.endFromAside()
    }
    return try await withTaskCancellationHandler {
      _ = exchange.begin {
        task.cancel()
      } send: {
        task.resume()
      }
      let (status, headers) = try await response.head()
      return try await body(
        RestStream(status: status, headers: headers, body: RestBody(response)))
    } onCancel: {
      exchange.cancel()
    }
  }

  private func sendOnOwnConnection(
    _ request: TransportRequest
  ) async throws -> RestResponse {
    try await withStream(to: request) { stream in
      var response = RestResponse(status: stream.status, headers: stream.headers)
      for try await piece in stream.body { response.body += piece }
      return response
    }
  }
}

extension DispatchQueue {
  /// For calls that on Linux wait for the queue from which URLSession reads all connections. Made from a
  /// callback they would wait for themselves; made while a Swift task is being cancelled they would hold
  /// that task's lock, when the queue may be about to resume the very task.
  ///
  /// One after the other: calls that wait on many threads at once would use up all that Dispatch has, and
  /// leave none for the queue they wait for.
  static let aside = DispatchQueue(label: "com.salesforce.network.aside")
}

extension URLSession {
  /// Ends a session that gets no further tasks.
  fileprivate func endFromAside() {
    DispatchQueue.aside.async { self.finishTasksAndInvalidate() }
  }
}

extension URLRequest {
  /// The same request in URLSession's form.
  fileprivate init(_ request: TransportRequest) {
    self.init(
      url: request.url, cachePolicy: .reloadIgnoringLocalCacheData,
      timeoutInterval: URLSession.noTimeout)
    httpMethod = request.method.rawValue
    httpShouldHandleCookies = false
    for field in request.headers {
      addValue(field.value, forHTTPHeaderField: field.name.rawName)
    }
    httpBody = request.body.map { Data($0) }
  }
}
