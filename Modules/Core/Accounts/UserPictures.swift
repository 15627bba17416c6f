import Foundation
import SalesforceSDKCommon

/// The pictures of the users, encrypted with each user's other data (CO-75).
///
/// ```swift
/// let pictures = UserPictures(accounts: accounts, stores: stores, transport: transport)
/// let following = Task { await pictures.follow() }
/// let bytes = try pictures.picture(of: account)
/// ```
///
/// A logout removes the user's picture, with the user's other key-value stores.
public struct UserPictures: Sendable {
  /// The maximum size of a picture, 4 MB. A larger one is not stored.
  public static let maxBytes = 4 << 20
  private static let storeName = "photos"
  private static let key = "thumbnail"

  private let accounts: UserAccountManager
  private let stores: KeyValueStores
  private let transport: any HTTPTransport

  /// Creates the pictures of `accounts`; reads nothing yet.
  public init(
    accounts: UserAccountManager, stores: KeyValueStores, transport: any HTTPTransport
  ) {
    self.accounts = accounts
    self.stores = stores
    self.transport = transport
  }

  /// Returns the picture that was fetched last, in the server's format; `nil` if there is none.
  ///
  /// - Throws: ``EncryptionError``, as ``KeyValueEncryptedFileStore/readData(forKey:maxBytes:)``.
  public func picture(of account: UserAccount) throws(EncryptionError) -> [UInt8]? {
    try store(of: account).readData(forKey: Self.key, maxBytes: Self.maxBytes)
  }

  /// Fetches the small picture of the profile, and replaces the stored one. If the profile has no
  /// picture, the stored one is removed.
  ///
  /// The request contains the token. So the address must be the account's or one of the platform,
  /// from the response of the account's own identity service.
  ///
  /// - Returns: The picture.
  /// - Throws: The errors of ``RestClient/send(_:)``; ``EncryptionError``; ``AccountError``
  ///   `unknownAccount` if the account does not exist, `illegalState` if the user is being logged
  ///   out. Then the former picture remains until the logout.
  @discardableResult
  public func refresh(of identity: UserAccountIdentity) async throws -> [UInt8]? {
    let account = try await account(identity)
    guard let url = account.profile.thumbnailURL else {
      try store(of: account).removeValue(forKey: Self.key)
      return nil
    }
    var redirects = RedirectRule()
    if RedirectRule.isPlatform(url) { redirects.trustedOrigins = [url.origin] }
    let client = RestClient(
      account: account, accounts: accounts, transport: transport, redirects: redirects)
    let response = try await client.send(
      RestRequest(
        path: url.absoluteString, host: .base(url), endpoint: "", maxResponseBytes: Self.maxBytes))
    try store(of: try await self.account(identity)).saveData(response.body, forKey: Self.key)
    do {
      _ = try await self.account(identity)
    } catch {
      // A logout that has begun since may have removed the stores before this one was created
      // again.
      try stores.removeStore(named: Self.storeName, for: account)
      throw error
    }
    return response.body
  }

  /// Fetches a user's picture after each login, token refresh and fetch of the profile. If a
  /// picture cannot be fetched, the error is logged and the stored picture remains.
  ///
  /// Returns when the manager is closed, or the task is cancelled.
  public func follow() async {
    for await event in accounts.events() {
      switch event.kind {
      case .didLogIn, .didRefreshToken: break
      case .didChangeProfile where event.changes.contains(.profile): break
      default: continue
      }
      do {
        try await refresh(of: event.account.identity)
      } catch {
        if Task.isCancelled { return }
        CoreLogger.log.warning("the picture of \(event.account) was not fetched: \(error)")
      }
    }
  }

  private func store(
    of account: UserAccount
  ) throws(EncryptionError) -> KeyValueEncryptedFileStore {
    try stores.store(named: Self.storeName, for: account)
  }

  private func account(_ identity: UserAccountIdentity) async throws -> UserAccount {
    guard let account = await accounts.account(for: identity) else {
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
    guard account.loginState != .loggingOut else {
      throw AccountError(.illegalState, "\(account) is being logged out.")
    }
    return account
  }
}
