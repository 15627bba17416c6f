import Dispatch
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transport over URLSession: connections are kept alive and shared by all requests that go
/// through one instance, up to `maxConnectionsPerHost`.
///
/// No cookie is kept, nothing is cached, no credential is looked up. Cancelling the calling task
/// closes the connection of its request.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession
  private let exchanges: ExchangeTable

  /// Makes a transport.
  ///
  /// - Parameter maxConnectionsPerHost: Further requests wait for a free connection.
  ///   Default: 6.
  public init(maxConnectionsPerHost: Int = 6) {
    precondition(
      maxConnectionsPerHost > 0, "maxConnectionsPerHost is \(maxConnectionsPerHost), not above 0")
    let exchanges = ExchangeTable()
    self.exchanges = exchanges
    self.session = URLSession.makeBare(
      maxConnectionsPerHost: maxConnectionsPerHost, delegate: exchanges)
  }

  deinit {
    // The session keeps its delegate alive until it is told to end.
    session.finishTasksAndInvalidate()
  }

  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    guard request.url.isAllowedForTransport else {
      throw TransportError(
        .insecureURL,
        "\(request.url.withoutQuery) is not https; plain http is for this machine alone")
    }
    let exchange = Exchange(request)
    let task = session.dataTask(with: URLRequest(request))
    exchanges.add(exchange, for: task.taskIdentifier)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isSent = exchange.begin(continuation) {
          task.cancelFromAside()
        } send: {
          task.resume()
        }
        // A task that never ran has no end that would be told.
        if !isSent { exchanges.remove(task.taskIdentifier) }
      }
    } onCancel: {
      exchange.cancel()
      task.cancelFromAside()
    }
  }
}

extension URLSessionTask {
  /// Cancels without waiting for the session.
  ///
  /// On Linux `cancel()` waits for the session's queue. Called from a callback it would wait for itself,
  /// and called while a Swift task is being cancelled it would hold that task's lock meanwhile, when the
  /// queue may be about to resume the very task.
  func cancelFromAside() {
    DispatchQueue.global().async { self.cancel() }
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
