import Dispatch
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way: gathers the answer and ends the caller's wait exactly once.
///
/// The caller goes on as soon as the outcome is known, not when URLSession has cleaned up.
final class Exchange: Sendable {
  private typealias Waiter = CheckedContinuation<TransportResponse, any Error>

  private struct State {
    var status = 0
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Whether the server asked for credentials, which ends the exchange in its own way.
    var isChallenged = false
    var lastSign = DispatchTime.now()
    var timer: WatchTimer?
    var outcome: Result<TransportResponse, any Error>?
    var continuation: Waiter?
  }

  private let request: TransportRequest
  private let state = Mutex(State())

  init(_ request: TransportRequest) {
    self.request = request
  }

  /// Begins the exchange: takes the continuation that its end resumes, starts the watch over the
  /// timeout and calls `send`. If the exchange is over already, nothing is sent.
  ///
  /// - Parameter giveUp: Called if the timeout ends the exchange.
  /// - Returns: Whether `send` was called.
  func begin(
    _ continuation: CheckedContinuation<TransportResponse, any Error>,
    giveUp: @escaping @Sendable () -> Void, send: () -> Void
  ) -> Bool {
    start(continuation)
    guard watch(giveUp: giveUp) else { return false }
    send()
    return true
  }

  /// Starts the watch over the timeout; false if the exchange is over.
  private func watch(giveUp: @escaping @Sendable () -> Void) -> Bool {
    let timer = WatchTimer { [weak self] in
      if self?.checkTimeout() == true { giveUp() }
    }
    let isRunning = state.withLock { state in
      guard state.outcome == nil else { return false }
      state.lastSign = .now()
      state.timer = timer
      return true
    }
    if isRunning { timer.start(after: request.timeout) }
    return isRunning
  }

  /// Takes the continuation that the end of the exchange resumes.
  private func start(_ continuation: CheckedContinuation<TransportResponse, any Error>) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  /// Ends the exchange because the caller gave up.
  func cancel() { end(.failure(CancellationError())) }

  /// Notes that something went out, so the server is not silent yet.
  func didSend() {
    state.withLock { $0.lastSign = .now() }
  }

  /// Notes that the server asks for credentials: what came before is the answer.
  func didReceiveChallenge() {
    state.withLock { $0.isChallenged = true }
  }

  /// Ends the exchange because its body would have to be sent again.
  func refuseRepetition() {
    fail(.unreachable, "the connection was closed before \(request) was answered; it may be done")
  }

  /// Takes status and headers; false if the exchange is over.
  func receive(_ response: URLResponse) -> Bool {
    guard let http = response as? HTTPURLResponse else {
      return fail(.malformed, "\(request) was answered with something other than HTTP")
    }
    let expected = http.expectedContentLength
    guard expected <= Int64(request.maxResponseBytes) else {
      return fail(.tooLarge, tooLarge(expected))
    }
    return state.withLock { state in
      state.lastSign = .now()
      state.status = http.statusCode
      state.headers = HTTPFields(http)
      if expected > 0 { state.body.reserveCapacity(Int(expected)) }
      return state.outcome == nil
    }
  }

  /// Takes a piece of the body; false if the exchange is over.
  func receive(_ data: Data) -> Bool {
    let total: Int? = state.withLock { state in
      guard state.outcome == nil else { return nil }
      state.lastSign = .now()
      // One copy, into the array that the caller gets.
      data.withUnsafeBytes { state.body.append(contentsOf: $0) }
      return state.body.count
    }
    guard let total else { return false }
    return total <= request.maxResponseBytes || fail(.tooLarge, tooLarge(Int64(total)))
  }

  /// Ends the exchange as URLSession says.
  func finish(_ error: (any Error)?) {
    let answer = state.withLock { state in
      (state.isChallenged, state.status, state.headers, state.body)
    }
    let (isChallenged, status, headers, body) = answer
    if let error, !isChallenged {
      end(.failure(TransportError(urlError: error, request, answerBegan: status != 0)))
      return
    }
    guard status != 0 else {
      fail(.malformed, "\(request) got no HTTP answer")
      return
    }
    // Not every version of URLSession compares these two.
    if request.method != .head, headers[.contentEncoding] == nil,
      let length = headers[.contentLength].flatMap({ Int($0) }), body.count < length, status != 304
    {
      fail(.truncated, "the answer to \(request) ended after \(body.count) of \(length) bytes")
      return
    }
    end(.success(TransportResponse(status: status, headers: headers, body: body)))
  }

  /// Ends the exchange if nothing was heard for too long, or looks again later.
  private func checkTimeout() -> Bool {
    let (timer, deadline) = state.withLock { state in
      (state.outcome == nil ? state.timer : nil, state.lastSign + request.timeout.dispatchInterval)
    }
    guard let timer else { return false }
    if deadline > .now() {
      timer.schedule(at: deadline)
      return false
    }
    fail(.timedOut, "\(request): the server was silent for \(request.timeout)")
    return true
  }

  /// Ends the exchange with an error of ours; always false.
  @discardableResult
  private func fail(_ code: TransportError.Code, _ message: String) -> Bool {
    end(.failure(TransportError(code, message)))
    return false
  }

  private func end(_ outcome: Result<TransportResponse, any Error>) {
    let former = state.withLock { state in
      let former = (state.continuation, state.timer)
      guard state.outcome == nil else { return (nil, nil) as (Waiter?, WatchTimer?) }
      state.outcome = outcome
      state.body = []
      state.timer = nil
      state.continuation = nil
      return former
    }
    former.1?.cancel()
    former.0?.resume(with: outcome)
  }

  private func tooLarge(_ bytes: Int64) -> String {
    "the answer to \(request) has at least \(bytes) bytes, "
      + "and \(request.maxResponseBytes) are allowed"
  }
}

/// A timer that one exchange watches its timeout with.
///
/// `@unchecked Sendable` because each call on a dispatch source may come from any thread.
private final class WatchTimer: @unchecked Sendable {
  /// All timers share a queue; what they do there takes microseconds.
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
