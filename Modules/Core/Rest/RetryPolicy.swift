import HTTPTypes
import SalesforceSDKCommon
import Synchronization

/// The number and the delays of retries after a 503, after a 429 that names a wait, or without a response.
///
/// Only repeatable requests are retried (``RestRequest/isRepeatable``). Each wait is a random part
/// of a span that doubles with each attempt, so that clients that failed together do not retry
/// together. A `Retry-After` of the server is the minimum wait.
public struct RetryPolicy: Sendable, Equatable {
  /// The maximum number of attempts, including the first.
  public var maxAttempts: Int
  /// The longest wait before the second attempt; it doubles for each further one.
  public var firstWait: Duration
  /// The maximum wait. If a server requests a longer one, there is no further attempt, and its
  /// response is returned to the caller.
  public var maxWait: Duration
  /// The maximum number of repetitions that a client saves up. Each repetition uses one of them, and each
  /// request earns a tenth of one: if the server is down for long, the traffic grows by a tenth instead of
  /// threefold.
  public var budget: Int

  /// Creates a policy.
  ///
  /// - Parameter maxAttempts: Default: 3.
  /// - Parameter firstWait: Default: half a second.
  /// - Parameter maxWait: Default: 30 seconds.
  /// - Parameter budget: Default: 10.
  public init(
    maxAttempts: Int = 3, firstWait: Duration = .milliseconds(500),
    maxWait: Duration = .seconds(30), budget: Int = 10
  ) {
    precondition(maxAttempts > 0, "maxAttempts is \(maxAttempts), not above 0")
    self.maxAttempts = maxAttempts
    self.firstWait = firstWait
    self.maxWait = maxWait
    self.budget = budget
  }

  /// Every request is sent once.
  public static let never = RetryPolicy(maxAttempts: 1)
}

/// Decides after each attempt whether there is another one. No clock, no chance, no I/O.
struct RetryMachine {
  /// The result of an attempt.
  enum Outcome: Equatable {
    case response(status: Int, retryAfter: Duration?)
    case failure(RestError.Code)
  }

  let policy: RetryPolicy
  let isRepeatable: Bool
  /// The attempts so far.
  private(set) var attempts = 0

  init(policy: RetryPolicy, isRepeatable: Bool) {
    self.policy = policy
    self.isRepeatable = isRepeatable
  }

  /// The wait before the next attempt; `nil` if this outcome is the last.
  ///
  /// - Parameter chance: 0..<1, drawn for each call.
  mutating func wait(after outcome: Outcome, chance: Double) -> Duration? {
    attempts += 1
    guard isRepeatable, attempts < policy.maxAttempts, outcome.mayPass else { return nil }
    let span = min(policy.firstWait * (1 << min(attempts - 1, 20)), policy.maxWait)
    guard case .response(_, let asked?) = outcome else { return span * chance }
    // Not before the server said, and not all at the same time.
    let wait = asked + policy.firstWait * chance
    return asked <= policy.maxWait ? wait : nil
  }
}

extension RetryMachine.Outcome {
  /// Whether the same request may fare better later.
  fileprivate var mayPass: Bool {
    switch self {
    // A 429 without a wait may pass in a second or in a day.
    case .response(let status, let asked): status == 503 || (status == 429 && asked != nil)
    case .failure(let code): code == .unreachable || code == .truncated
    }
  }
}

/// The retry budget of a client.
final class RetryBudget: Sendable {
  private let limit: Double
  private let saved: Mutex<Double>

  init(_ limit: Int) {
    self.limit = Double(limit)
    saved = Mutex(Double(limit))
  }

  /// A request was sent for the first time.
  func earn() { saved.withLock { $0 = min(limit, $0 + 0.1) } }

  /// Uses one repetition; returns false if none is left.
  func spend() -> Bool {
    saved.withLock { saved in
      guard saved >= 1 else { return false }
      saved -= 1
      return true
    }
  }
}

extension HTTPFields {
  /// The wait that the server requests: a number of seconds, or the time until a date; a day at
  /// most.
  func retryAfter(now: SalesforceDate) -> Duration? {
    guard let text = self[.retryAfter]?.trimmed else { return nil }
    if let seconds = Int64(text) {
      return seconds >= 0 ? .seconds(Swift.min(seconds, 86_400)) : nil
    }
    guard let date = SalesforceDate.parseHTTP(text) else { return nil }
    return .milliseconds(Swift.min(Swift.max(0, date.milliseconds - now.milliseconds), 86_400_000))
  }
}
