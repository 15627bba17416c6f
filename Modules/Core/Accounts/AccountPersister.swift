public import Foundation
import SalesforceSDKCommon
import Synchronization

/// A storage for accounts, from which they are read after a restart.
///
/// ``EncryptedAccountDirectory`` keeps them in files, ``InMemoryAccountPersister`` for as long as
/// the process runs.
public protocol AccountPersister: Sendable {
  /// Brings all accounts, and tells of those that cannot be read. Nothing is changed but what
  /// is said in ``UnreadableAccount``.
  ///
  /// - Throws: ``AccountError`` `keyUnavailable`, `keyMissing` or `readFailed` if none can be read.
  func fetchAll() async throws(AccountError) -> StoredAccounts

  /// Brings one account as it is now; `nil` if there is none.
  ///
  /// - Throws: ``AccountError``.
  func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount?

  /// Keeps an account, in place of the one with the same identity. On return it is on disk; on
  /// error the former one still is.
  ///
  /// - Throws: ``AccountError`` `writeFailed`, or one of the key codes.
  func save(_ account: UserAccount) async throws(AccountError)

  /// Forgets an account and its secrets. One that is not there is not an error (CO-96).
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  func delete(_ account: UserAccount) async throws(AccountError)

  /// Changes the current user in one step that excludes other changes, in this process and in
  /// others.
  ///
  /// - Parameter change: Receives the current user and returns the new one; `nil` for none. Called once.
  /// - Returns: What `change` said.
  /// - Throws: ``AccountError`` `readFailed`, `writeFailed`, `busy`; then nothing is changed.
  @discardableResult
  func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity?

  /// Runs `body` with exclusive access to this account, across threads and processes; waits
  /// for its turn (CO-98). It is never called for an account inside of `body` for the same one.
  ///
  /// - Throws: What `body` throws; ``AccountError`` `writeFailed` if the lock cannot be made, `busy` if
  ///   its turn does not come; `CancellationError` while waiting.
  func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result
}

/// The content of an account storage.
public struct StoredAccounts: Sendable {
  /// The accounts that could be read.
  public var accounts: [UserAccount]
  /// The current user, as last remembered.
  public var current: UserAccountIdentity?
  /// The accounts that could not be read, or not with their tokens.
  public var unreadable: [UnreadableAccount]

  /// Makes a holding.
  public init(
    accounts: [UserAccount] = [], current: UserAccountIdentity? = nil,
    unreadable: [UnreadableAccount] = []
  ) {
    self.accounts = accounts
    self.current = current
    self.unreadable = unreadable
  }
}

/// An account file that could not be read, with its present location; it is never deleted. Or an account
/// whose tokens cannot be read: it stays, without a session, until its user logs in again.
public struct UnreadableAccount: Sendable {
  /// The file: where it was, or under a new name if it is damaged.
  public let url: URL
  /// Why.
  public let error: AccountError

  /// Creates a report.
  public init(url: URL, error: AccountError) {
    self.url = url
    self.error = error
  }
}

/// An in-memory storage for accounts, for tests and for programs that write nothing to disk.
public final class InMemoryAccountPersister: AccountPersister {
  private let stored = Mutex(StoredAccounts())
  /// The accounts under exclusive access; the outcome is delivered when that access ends.
  private let turns = Mutex<[UserAccountIdentity: SharedOutcome<Void>]>([:])

  /// Makes an empty one.
  public init() {}

  public func fetchAll() async throws(AccountError) -> StoredAccounts {
    stored.withLock { $0 }
  }

  public func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    stored.withLock { stored in stored.accounts.first { $0.identity == identity } }
  }

  public func save(_ account: UserAccount) async throws(AccountError) {
    stored.withLock { stored in
      stored.accounts.removeAll { $0.identity == account.identity }
      stored.accounts.append(account)
    }
  }

  public func delete(_ account: UserAccount) async throws(AccountError) {
    stored.withLock { stored in stored.accounts.removeAll { $0.identity == account.identity } }
  }

  @discardableResult
  public func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity? {
    stored.withLock { stored in
      stored.current = change(stored.current)
      return stored.current
    }
  }

  /// Runs `body` after the current holder of the account's lock; no other process has access to these
  /// accounts.
  public func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    while true {
      let other: SharedOutcome<Void>? = turns.withLock { turns in
        if let other = turns[identity] { return other }
        turns[identity] = SharedOutcome()
        return nil
      }
      guard let other else { break }
      try await other.value()
    }
    defer { turns.withLock { $0.removeValue(forKey: identity) }?.resolve(.success(())) }
    return try await body()
  }
}
