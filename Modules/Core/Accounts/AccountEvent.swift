import Synchronization

/// Something that happened to an account (CO-110).
public struct AccountEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// A user logged in, for the first time or again.
    case didLogIn
    /// The tokens were refreshed and are on disk.
    case didRefreshToken
    /// The server moved the account to another host; requests go there from now on.
    case didChangeInstance
    /// The server refused the refresh token. Data is kept; the user must log in again.
    case sessionDidEnd(LogoutReason)
    /// A logout begins; its observers run now.
    case willLogOut(LogoutReason)
    /// A logout ended; the account is gone.
    case didLogOut(LogoutReason)
    /// It became the current user.
    case didBecomeCurrent(previous: UserAccountIdentity?)
    /// Nobody is the current user any more.
    case didResignCurrent
  }

  /// What happened.
  public let kind: Kind
  /// The account as it is after it.
  public let account: UserAccount
}

/// Gives every subscriber every event from its subscription on, in order.
final class AccountEvents: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<AccountEvent>.Continuation] = [:]
    var next = 0
    var isFinished = false
  }
  private let state = Mutex(State())

  /// A new subscription; it keeps what its reader has not read yet.
  func stream() -> AsyncStream<AccountEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: AccountEvent.self, bufferingPolicy: .unbounded)
    let id: Int? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.next += 1
      state.subscribers[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: id) }
    }
    return stream
  }

  /// Tells all subscribers.
  func send(_ kind: AccountEvent.Kind, _ account: UserAccount) {
    let subscribers = state.withLock { Array($0.subscribers.values) }
    for subscriber in subscribers { subscriber.yield(AccountEvent(kind: kind, account: account)) }
  }

  /// Ends all subscriptions.
  func finish() {
    let subscribers = state.withLock { state in
      state.isFinished = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
