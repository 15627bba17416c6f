import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The session's delegate: leads each callback to the exchange it belongs to.
final class ExchangeTable: NSObject, URLSessionDataDelegate, Sendable {
  private let exchanges = Mutex<[Int: Exchange]>([:])

  /// Registers the exchange of a task.
  func add(_ exchange: Exchange, for task: Int) {
    exchanges.withLock { $0[task] = exchange }
  }

  /// Removes a task that will not run.
  func remove(_ task: Int) {
    exchanges.withLock { _ = $0.removeValue(forKey: task) }
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.receive(response)
    // Never `.cancel`: on Linux a task refused that way never ends. The exchange cancels what it refuses.
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.receive(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    exchange(of: task)?.didSend(total: totalBytesSent)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.isForPassword else { return completionHandler(.performDefaultHandling, nil) }
    // The tokens are all there is. The default would wait for a password for ever on Linux.
    exchange(of: task)?.didReceiveChallenge()
    // Not here: on Linux it waits for the queue on which this may run.
    DispatchQueue.aside.async { completionHandler(.rejectProtectionSpace, nil) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Redirects are decided above the transport.
    completionHandler(nil)
  }

  /// A body is needed a second time, since a connection that was kept alive ended before a response.
  ///
  /// Whether the server did the work is not known, so nothing but the caller may repeat it. On Linux
  /// the repetition would also hang: it announces a body and sends none.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    exchange(of: task)?.refuseRepetition()
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    exchange?.finish(error)
  }
}
