import Foundation
import Synchronization

/// The state that all attempts of one call share: the receiver of its stream, and the events so far.
final class RestExchange: Sendable {
  typealias Receiver = @Sendable (RestStream) async throws -> Void

  private struct State {
    var account = Account()
    var isFinal = false
    var isDelivered = false
    var mayRefresh = true
  }

  /// A record of the call's cost, for the observer, the span and the log.
  struct Account {
    /// The name of the server of the last attempt.
    var host = ""
    var sentBytes: Int64 = 0
    var attempts = 0
    /// The status of the last response.
    var status: Int?
    /// The size of its body.
    var receivedBytes: Int64 = 0
  }

  /// Receives a successful response while it arrives; `nil` if the response is returned as a whole.
  let receiver: Receiver?
  private let state = Mutex(State())

  init(receiver: Receiver? = nil) { self.receiver = receiver }

  /// The cost so far.
  var account: Account { state.withLock { $0.account } }

  /// Whether no further attempt may follow, whatever its outcome: a receiver has seen a part of the response,
  /// or the session failed rather than the request.
  var isFinal: Bool { state.withLock { $0.isFinal } }

  /// Whether the receiver was called.
  var isDelivered: Bool { state.withLock { $0.isDelivered } }

  /// An attempt begins.
  func begin(_ request: TransportRequest) {
    state.withLock { state in
      state.account.attempts += 1
      state.account.host = request.url.host() ?? ""
      state.account.sentBytes = request.upload?.length ?? Int64(request.body?.count ?? 0)
    }
  }

  /// An attempt got a response.
  func end(_ response: RestResponse) {
    state.withLock { state in
      state.account.status = response.status
      state.account.receivedBytes = Int64(response.body.count)
    }
  }

  /// Returns true the first time: one call refreshes the token once.
  func takeRefresh() -> Bool {
    state.withLock { state in
      defer { state.mayRefresh = false }
      return state.mayRefresh
    }
  }

  /// Runs work whose errors no further attempt can cure.
  func withFinalErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      state.withLock { $0.isFinal = true }
      throw error
    }
  }

  /// Delivers a successful response to the receiver, once.
  ///
  /// - Returns: The response without its body.
  /// - Throws: The error of the receiver.
  func deliver(_ stream: RestStream, to receiver: Receiver) async throws -> RestResponse {
    state.withLock { state in
      state.isFinal = true
      state.isDelivered = true
    }
    try await receiver(
      RestStream(
        status: stream.status, headers: stream.headers, body: stream.body.forReceivers))
    return RestResponse(status: stream.status, headers: stream.headers)
  }
}
