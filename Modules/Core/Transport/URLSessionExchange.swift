import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way: gathers the answer and ends the caller's wait exactly once.
final class Exchange: Sendable {
  private struct State {
    var status = 0
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    var failure: TransportError?
    var isCancelled = false
    var continuation: CheckedContinuation<TransportResponse, any Error>?
  }

  private let request: TransportRequest
  private let state = Mutex(State())

  init(_ request: TransportRequest) {
    self.request = request
  }

  /// Takes the continuation that the end of the exchange resumes.
  func start(_ continuation: CheckedContinuation<TransportResponse, any Error>) {
    state.withLock { $0.continuation = continuation }
  }

  /// Remembers that the caller gave up, so that the end is reported as a cancellation.
  func noteCancellation() {
    state.withLock { $0.isCancelled = true }
  }

  /// Takes status and headers; false if the answer is refused already.
  func receive(_ response: URLResponse) -> Bool {
    guard let http = response as? HTTPURLResponse else {
      fail(.malformed, "\(request) was answered with something other than HTTP")
      return false
    }
    let expected = http.expectedContentLength
    guard expected <= Int64(request.maxResponseBytes) else {
      fail(.tooLarge, tooLarge(expected))
      return false
    }
    state.withLock { state in
      state.status = http.statusCode
      state.headers = HTTPFields(http)
      if expected > 0 { state.body.reserveCapacity(Int(expected)) }
    }
    return true
  }

  /// Takes a piece of the body; false if there is now more than allowed.
  func receive(_ data: Data) -> Bool {
    let total = state.withLock { state in
      // One copy, into the array that the caller gets.
      data.withUnsafeBytes { state.body.append(contentsOf: $0) }
      return state.body.count
    }
    guard total > request.maxResponseBytes else { return true }
    fail(.tooLarge, tooLarge(Int64(total)))
    return false
  }

  /// Ends the exchange: with the answer, or with the reason why there is none.
  func finish(_ error: (any Error)?) {
    // The body moves out of the state, so that nothing is copied.
    let end = state.withLock { state in
      let end = state
      state = State()
      return end
    }
    end.continuation?.resume(with: result(error, end))
  }

  private func result(
    _ error: (any Error)?, _ state: State
  ) -> Result<TransportResponse, any Error> {
    if let failure = state.failure { return .failure(failure) }
    if state.isCancelled { return .failure(CancellationError()) }
    if let error {
      return .failure(TransportError(urlError: error, request, answerBegan: state.status != 0))
    }
    guard state.status != 0 else {
      return .failure(TransportError(.malformed, "\(request) got no HTTP answer"))
    }
    // Not every version of URLSession compares these two.
    if request.method != .head, state.headers[.contentEncoding] == nil,
      let length = state.headers[.contentLength].flatMap({ Int($0) }), state.body.count < length
    {
      return .failure(
        TransportError(
          .truncated,
          "the answer to \(request) ended after \(state.body.count) of \(length) bytes"))
    }
    return .success(
      TransportResponse(status: state.status, headers: state.headers, body: state.body))
  }

  private func fail(_ code: TransportError.Code, _ message: String) {
    state.withLock { state in
      if state.failure == nil { state.failure = TransportError(code, message) }
    }
  }

  private func tooLarge(_ bytes: Int64) -> String {
    "the answer to \(request) has at least \(bytes) bytes, "
      + "and \(request.maxResponseBytes) are allowed"
  }
}

/// The session's delegate: leads each callback to the exchange it belongs to.
final class ExchangeTable: NSObject, URLSessionDataDelegate, Sendable {
  private let exchanges = Mutex<[Int: Exchange]>([:])

  /// Notes which exchange a task serves.
  func add(_ exchange: Exchange, for task: Int) {
    exchanges.withLock { $0[task] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(exchange(of: dataTask)?.receive(response) == true ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if exchange(of: dataTask)?.receive(data) == false { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Redirects are decided above the transport.
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    exchange?.finish(error)
  }
}
