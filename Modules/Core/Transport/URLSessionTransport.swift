import Dispatch
public import Foundation
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
  private let temporaryFolder: URL

  /// Makes a transport.
  ///
  /// - Parameter maxConnectionsPerHost: Further requests wait for a free connection.
  ///   Default: 6.
  /// - Parameter temporaryFolder: Where the rest of a streamed answer waits for a slow reader, sealed
  ///   and in a file without a name. Default: the system's folder for such files.
  public init(
    maxConnectionsPerHost: Int = 6,
    temporaryFolder: URL = FileManager.default.temporaryDirectory
  ) {
    precondition(
      maxConnectionsPerHost > 0, "maxConnectionsPerHost is \(maxConnectionsPerHost), not above 0")
    let exchanges = ExchangeTable()
    self.exchanges = exchanges
    self.temporaryFolder = temporaryFolder
    self.session = URLSession.makeBare(
      maxConnectionsPerHost: maxConnectionsPerHost, delegate: exchanges)
  }

  deinit {
    // The session keeps its delegate alive until it is told to end.
    session.end(cancelling: nil)
  }

  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    // On a connection of its own: one that was kept alive may be dead, which is known when the body is
    // half sent, and then only the caller may send it again.
    guard request.upload == nil else { return try await sendUpload(request) }
    try Task.checkCancellation()
    try request.url.checkIsSecure()
    let answer = WholeAnswer()
    let exchange = Exchange(request, into: answer)
    let task = session.dataTask(with: URLRequest(request))
    exchanges.add(exchange, for: task.taskIdentifier)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.resume(continuation)
        let isSent = exchange.begin {
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

  /// Each streamed exchange has a connection of its own, so that it does not use one up for long.
  public func withStream<Result: Sendable>(
    to request: TransportRequest,
    _ body: @Sendable (TransportStream) async throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    try request.url.checkIsSecure()
    let exchanges = ExchangeTable()
    let answer = StreamedAnswer(spool: Spool(in: temporaryFolder))
    let exchange = Exchange(request, into: answer)
    let session = URLSession.makeBare(maxConnectionsPerHost: 1, delegate: exchanges)
    var sent = URLRequest(request)
    if let upload = request.upload { sent.setBody(upload, of: exchange) }
    let task = session.dataTask(with: sent)
    exchanges.add(exchange, for: task.taskIdentifier)
    defer {
      let isComplete = answer.isComplete
      exchange.cancel()
      session.end(cancelling: isComplete ? nil : task)
    }
    return try await withTaskCancellationHandler {
      _ = exchange.begin {
        task.cancelFromAside()
      } send: {
        task.resume()
      }
      let (status, headers) = try await answer.head()
      return try await body(
        TransportStream(status: status, headers: headers, body: TransportBody(answer)))
    } onCancel: {
      exchange.cancel()
      task.cancelFromAside()
    }
  }

  private func sendUpload(_ request: TransportRequest) async throws -> TransportResponse {
    try await withStream(to: request) { stream in
      var response = TransportResponse(status: stream.status, headers: stream.headers)
      for try await piece in stream.body { response.body += piece }
      return response
    }
  }
}

extension URLSession {
  /// Ends a session that serves nothing more.
  ///
  /// - Parameter task: Still running; it is given up. Default: all tasks come to their end.
  fileprivate func end(cancelling task: URLSessionTask?) {
    // Not here: on Linux both calls wait for the session's queue, which may wait for this thread.
    DispatchQueue.global().async {
      task?.cancel()
      self.finishTasksAndInvalidate()
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
