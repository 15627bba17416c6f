import Dispatch
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A receiver of a response that arrives in pieces. Each call is made after the previous one has
/// returned, except ``end(_:)``, which may be called at any time; calls after it are ignored.
protocol ResponseSink: AnyObject, Sendable {
  /// Receives status and header fields, and the announced length of the body.
  func begin(status: Int, headers: HTTPFields, expectedBytes: Int64)
  /// Receives a piece of the body, without blocking.
  ///
  /// - Throws: The error that ends the exchange, because the piece cannot be processed.
  func take(_ piece: Data) throws
  /// Ends the response: complete, or not.
  func end(_ outcome: Result<Void, any Error>)
}

/// One request in flight: watches over it and ends its response exactly once.
///
/// The caller continues as soon as the outcome is known, not when URLSession has cleaned up.
final class Exchange: Sendable {
  private struct State {
    var status = 0
    var headers: HTTPFields = [:]
    var receivedBytes: Int64 = 0
    /// Whether the server asked for credentials, which ends the exchange in its own way.
    var isChallenged = false
    var lastSign = DispatchTime.now()
    var timer: WatchTimer?
    /// Cancels the task below; kept until URLSession reports its end.
    var cancelTask: (@Sendable () -> Void)?
    var isOver = false
    /// Whether a piece that arrived after the end has stopped the reading, which is not resumed yet.
    var isStopped = false
  }

  let request: TransportRequest
  private let sink: any ResponseSink
  private let state = Mutex(State())

  init(_ request: TransportRequest, into sink: any ResponseSink) {
    self.request = request
    self.sink = sink
  }

  /// Begins the exchange: starts the watch over the timeout and calls `send`. If the exchange is over
  /// already, nothing is sent.
  ///
  /// - Parameter cancelTask: Called if anything but URLSession ends the exchange, and again if the response
  ///   keeps arriving then, on threads that may wait for URLSession.
  /// - Returns: Whether `send` was called.
  func begin(cancelTask: @escaping @Sendable () -> Void, send: () -> Void) -> Bool {
    let timer = WatchTimer { [weak self] in self?.checkTimeout() }
    let isRunning = state.withLock { state in
      guard !state.isOver else { return false }
      state.lastSign = .now()
      state.timer = timer
      state.cancelTask = cancelTask
      return true
    }
    guard isRunning else {
      DispatchQueue.aside.async(execute: cancelTask)
      return false
    }
    timer.start(after: request.timeout)
    request.progress?.update { amounts in
      amounts = .init()
      amounts.toSend = request.upload?.length ?? Int64(request.body?.count ?? 0)
    }
    send()
    return true
  }

  /// Ends the exchange because the caller gave up.
  func cancel() { end(.failure(CancellationError())) }

  /// Records that data was sent, so that the timeout of a silent server starts again.
  ///
  /// - Parameter total: The number of bytes of the body that were sent so far.
  func didSend(total: Int64) {
    state.withLock { $0.lastSign = .now() }
    request.progress?.update { $0.sent = total }
  }

  /// Records that the server requests credentials. The response received so far is the result.
  func didReceiveChallenge() {
    state.withLock { $0.isChallenged = true }
  }

  /// Ends the exchange because its body would have to be sent again.
  func refuseRepetition() {
    fail(
      .unreachable,
      "The connection was closed before the response to \(request). It may be processed.")
  }

  /// Ends the exchange because its body cannot be read.
  func refuse(_ error: TransportError) { end(.failure(error)) }

  /// Receives status and headers, unless the exchange has ended.
  func receive(_ response: URLResponse) {
    guard let http = response as? HTTPURLResponse else {
      fail(.malformed, "The response to \(request) is not HTTP.")
      return
    }
    // The response to a HEAD has the length of a body that does not come.
    let expected = request.method == .head ? 0 : http.expectedContentLength
    guard expected <= Int64(request.maxResponseBytes) else {
      fail(.tooLarge, tooLarge(expected))
      return
    }
    let headers = HTTPFields(http)
    let isOver = state.withLock { state in
      state.lastSign = .now()
      state.status = http.statusCode
      state.headers = headers
      return state.isOver
    }
    guard !isOver else { return }
    request.progress?.update { $0.toReceive = expected >= 0 ? expected : nil }
    sink.begin(status: http.statusCode, headers: headers, expectedBytes: expected)
  }

  /// Receives a piece of the body, unless the exchange has ended.
  func receive(_ data: Data) {
    let total: Int64? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.lastSign = .now()
      state.receivedBytes += Int64(data.count)
      return state.receivedBytes
    }
    guard let total else { return stopReading() }
    guard total <= Int64(request.maxResponseBytes) else {
      fail(.tooLarge, tooLarge(total))
      return
    }
    do {
      try sink.take(data)
    } catch {
      end(.failure(error))
      return
    }
    request.progress?.update { $0.received = total }
  }

  /// Prevents URLSession from reading more of a response that has ended for the caller.
  ///
  /// On Linux a server that sends without a pause keeps the cancellation from taking effect: a gigabyte
  /// arrived before it did. So an unwanted piece stops the reading of this session until a thread,
  /// which waits for nothing else, has cancelled the task. The cancellation passes several queues: on a busy
  /// machine more pieces arrive before it is through, and each stops the reading again.
  private func stopReading() {
    let cancelTask = state.withLock { state in
      defer { state.isStopped = true }
      return state.isStopped ? nil : state.cancelTask
    }
    guard let cancelTask else { return }
    let reading = PausedReading()
    Thread.detachNewThread { [self] in
      cancelTask()
      guard let reading else { return }
      reading.resume()
      state.withLock { $0.isStopped = false }
    }
  }

  /// Ends the exchange as URLSession says.
  func finish(_ error: (any Error)?) {
    let result = state.withLock { state in
      defer { state.cancelTask = nil }
      return (state.isChallenged, state.status, state.headers, state.receivedBytes)
    }
    let (isChallenged, status, headers, received) = result
    if let error, !isChallenged {
      end(
        .failure(TransportError(urlError: error, request, responseBegan: status != 0)), isDone: true
      )
      return
    }
    guard status != 0 else {
      fail(.malformed, "\(request) got no HTTP response.")
      return
    }
    // Not every version of URLSession compares these two.
    if request.method != .head, headers[.contentEncoding] == nil,
      let length = headers[.contentLength].flatMap({ Int64($0) }), received < length, status != 304
    {
      fail(.truncated, "The response to \(request) ended after \(received) of \(length) bytes.")
      return
    }
    end(.success(()), isDone: true)
  }

  /// Ends the exchange if nothing was heard for too long, or looks again later.
  private func checkTimeout() {
    let (timer, deadline) = state.withLock { state in
      (state.isOver ? nil : state.timer, state.lastSign + request.timeout.dispatchInterval)
    }
    guard let timer else { return }
    if deadline > .now() {
      timer.schedule(at: deadline)
    } else {
      fail(.timedOut, "\(request): the server was silent for \(request.timeout).")
    }
  }

  /// Ends the exchange with an error of ours.
  private func fail(_ code: TransportError.Code, _ message: String) {
    end(.failure(TransportError(code, message)))
  }

  /// - Parameter isDone: Whether URLSession has nothing more to do.
  private func end(_ outcome: Result<Void, any Error>, isDone: Bool = false) {
    let (isFirst, timer, cancelTask) = state.withLock { state in
      defer {
        state.isOver = true
        state.timer = nil
      }
      return (!state.isOver, state.timer, state.cancelTask)
    }
    timer?.cancel()
    guard isFirst else { return }
    if !isDone, let cancelTask { DispatchQueue.aside.async(execute: cancelTask) }
    sink.end(outcome)
  }

  private func tooLarge(_ bytes: Int64) -> String {
    "The response to \(request) has at least \(bytes) bytes, "
      + "and \(request.maxResponseBytes) are allowed."
  }
}

/// Gathers a whole response and resumes the caller with it.
final class BufferedResponse: ResponseSink {
  typealias Waiter = CheckedContinuation<RestResponse, any Error>

  private struct State {
    var response = RestResponse(status: 0)
    var outcome: Result<RestResponse, any Error>?
    var waiter: Waiter?
  }

  private let state = Mutex(State())

  /// Stores the continuation that the end of the response resumes.
  func resume(_ waiter: Waiter) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.waiter = waiter }
      return state.outcome
    }
    if let outcome { waiter.resume(with: outcome) }
  }

  func begin(status: Int, headers: HTTPFields, expectedBytes: Int64) {
    state.withLock { state in
      state.response.status = status
      state.response.headers = headers
      // A server may announce what it never sends.
      if expectedBytes > 0 { state.response.body.reserveCapacity(Int(min(expectedBytes, 1 << 20))) }
    }
  }

  func take(_ piece: Data) {
    // One copy, into the array that the caller gets.
    state.withLock { state in
      piece.withUnsafeBytes { state.response.body.append(contentsOf: $0) }
    }
  }

  func end(_ outcome: Result<Void, any Error>) {
    let (waiter, result) = state.withLock { state in
      let result = outcome.map { state.response }
      state.outcome = result
      state.response.body = []
      defer { state.waiter = nil }
      return (state.waiter, result)
    }
    waiter?.resume(with: result)
  }
}

/// A timer that one exchange watches its timeout with.
///
/// `@unchecked Sendable` because each call on a dispatch source may come from any thread.
private final class WatchTimer: @unchecked Sendable {
  /// All timers share a queue, because their work takes only microseconds.
  private static let queue = DispatchQueue(label: "com.salesforce.network.timeouts")
  private let source: any DispatchSourceTimer

  init(_ fire: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.setEventHandler(handler: fire)
  }

  deinit {
    // A source must not be released before it was activated.
    source.activate()
    source.cancel()
  }

  func start(after span: Duration) {
    source.schedule(deadline: .now() + span.dispatchInterval)
    source.activate()
  }

  func schedule(at deadline: DispatchTime) { source.schedule(deadline: deadline) }

  func cancel() { source.cancel() }
}

extension Duration {
  /// The same span for timers, to the microsecond; spans of centuries are cut.
  fileprivate var dispatchInterval: DispatchTimeInterval {
    .microseconds(Int(clamping: Int64(min(self / .microseconds(1), 1e15))))
  }
}
