public import Foundation
import SalesforceSDKCommon
import Synchronization

/// A storage for accounts, from which they are read after a restart.
///
/// ``EncryptedAccountDirectory`` stores them in files, ``InMemoryAccountPersister`` only while the
/// process runs.
public protocol AccountPersister: Sendable {
  /// Reads all accounts, and reports those that cannot be read. Changes only the files described at
  /// ``UnreadableAccount``.
  ///
  /// - Throws: ``AccountError`` `keyUnavailable`, `keyMissing` or `readFailed` if no account can be
  ///   read.
  func fetchAll() async throws(AccountError) -> StoredAccounts

  /// Reads the current value of one account; `nil` if it does not exist.
  ///
  /// - Throws: ``AccountError``.
  func fetch(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount?

  /// Stores an account, and replaces the one with the same identity. On return it is on disk; on
  /// error the former one remains.
  ///
  /// - Throws: ``AccountError`` `writeFailed`, or one of the key codes.
  func save(_ account: UserAccount) async throws(AccountError)

  /// Deletes an account and its secrets. Succeeds if it does not exist (CO-96).
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  func delete(_ account: UserAccount) async throws(AccountError)

  /// Changes the current user in one step that excludes other changes, in this process and in
  /// others.
  ///
  /// - Parameter change: Receives the current user and returns the new one; `nil` for none. Called once.
  /// - Returns: The user that `change` returned.
  /// - Throws: ``AccountError`` `readFailed`, `writeFailed`, `busy`; then nothing changes.
  @discardableResult
  func updateCurrent(
    _ change: @escaping @Sendable (UserAccountIdentity?) -> UserAccountIdentity?
  ) async throws(AccountError) -> UserAccountIdentity?

  /// Runs `body` with exclusive access to this account, across threads and processes, and waits
  /// until it is available (CO-98). It is never called for an account inside of `body` for the same
  /// one.
  ///
  /// - Throws: The error of `body`; ``AccountError`` `writeFailed` if the lock cannot be created,
  ///   `busy` if the access does not become available; `CancellationError` while waiting.
  func withExclusiveAccess<Result: Sendable>(
    to identity: UserAccountIdentity, _ body: @Sendable () async throws -> Result
  ) async throws -> Result
}

/// The content of an account storage.
public struct StoredAccounts: Sendable {
  /// The accounts that could be read.
  public var accounts: [UserAccount]
  /// The current user, as stored last.
  public var current: UserAccountIdentity?
  /// The accounts that could not be read, or whose tokens could not be read.
  public var unreadable: [UnreadableAccount]
  /// The lock policies of accounts whose files cannot be read. They apply all the same.
  package var heldPolicies: [UserAccountIdentity: LockPolicy] = [:]

  /// Creates a value with the content of a storage.
  public init(
    accounts: [UserAccount] = [], current: UserAccountIdentity? = nil,
    unreadable: [UnreadableAccount] = []
  ) {
    self.accounts = accounts
    self.current = current
    self.unreadable = unreadable
  }
}

/// An account file that could not be read, with its present location; the file is never deleted. Or
/// an account whose tokens cannot be read: it remains, without a session, until its user logs in
/// again.
public struct UnreadableAccount: Sendable {
  /// The location of the file, with its new name if it is damaged.
  public let url: URL
  /// The reason why it could not be read.
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
  /// The accounts under exclusive access, each with an outcome that is delivered when the access
  /// ends.
  private let turns = Mutex<[UserAccountIdentity: SharedOutcome<Void>]>([:])

  /// Creates an empty storage.
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

  /// Runs `body` after the current holder of the account's lock. Other processes have no access to
  /// these accounts.
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
