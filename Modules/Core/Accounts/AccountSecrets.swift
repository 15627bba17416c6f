import Crypto
import Foundation
import SalesforceSDKCommon

/// The secrets of accounts in a secret store: the key of the account files, and the tokens of each
/// login, every one on its own (CO-61).
struct AccountSecrets: Sendable {
  let store: any SecretStore

  /// The label of the key that the account files are sealed with.
  private static let accountKeyName = SecretName(
    service: "com.salesforce.userAccount.encryptionKey")
  private static let keyLength = 32

  /// The key of the account files; `nil` if there certainly is none.
  func accountKey() throws(AccountError) -> SymmetricKey? {
    guard let bytes = try read(Self.accountKeyName) else { return nil }
    guard bytes.count == Self.keyLength else {
      throw AccountError(
        .keyUnavailable,
        "the key of the account files has \(bytes.count) bytes and not \(Self.keyLength); "
          + "restore the secret store")
    }
    return SymmetricKey(data: bytes)
  }

  /// Makes the key of the account files, or takes the one that another process just made.
  func makeAccountKey() throws(AccountError) -> SymmetricKey {
    do throws(SecretStoreError) {
      return SymmetricKey(
        data: try store.readOrCreate(Self.accountKeyName) {
          SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        })
    } catch {
      throw unavailable(error)
    }
  }

  /// `account` with the secrets of its login. One that is missing stays `nil`.
  func fill(_ account: UserAccount) throws(AccountError) -> UserAccount {
    var account = account
    let id = account.credentials.identifier
    account.credentials.accessToken = try text(OAuthKeys.accessService, id)
    account.credentials.refreshToken = try text(OAuthKeys.refreshService, id)
    for (key, service) in OAuthKeys.webSessionServices {
      if let value = try text(service, id) { account.credentials.webSession[key] = value }
    }
    return account
  }

  /// Keeps the secrets of a login. The refresh token goes first: with it alone the account still
  /// works.
  func write(_ credentials: OAuthCredentials) throws(AccountError) {
    let id = credentials.identifier
    try put(credentials.refreshToken, OAuthKeys.refreshService, id)
    try put(credentials.accessToken, OAuthKeys.accessService, id)
    for (key, service) in OAuthKeys.webSessionServices {
      try put(credentials.webSession[key], service, id)
    }
  }

  /// Removes the secrets of a login.
  func remove(_ credentials: OAuthCredentials) throws(AccountError) {
    let services =
      [OAuthKeys.accessService, OAuthKeys.refreshService] + OAuthKeys.webSessionServices.values
    for service in services { try put(nil, service, credentials.identifier) }
  }

  private func text(_ service: String, _ id: String) throws(AccountError) -> String? {
    try read(SecretName(service: service, account: id)).map { String(decoding: $0, as: UTF8.self) }
  }

  private func read(_ name: SecretName) throws(AccountError) -> [UInt8]? {
    do throws(SecretStoreError) {
      return try store.read(name)
    } catch {
      throw unavailable(error)
    }
  }

  /// Writes or removes a secret; one that already is as it shall be costs no write.
  private func put(_ value: String?, _ service: String, _ id: String) throws(AccountError) {
    let name = SecretName(service: service, account: id)
    let wanted = value.map { Array($0.utf8) }
    if isStored(wanted, name) { return }
    do throws(SecretStoreError) {
      if let wanted {
        try store.write(wanted, for: name)
      } else {
        try store.remove(name)
      }
    } catch {
      throw AccountError(
        .writeFailed, "a secret cannot be written to the secret store: \(error.message)",
        cause: error)
    }
  }

  /// Whether the store certainly holds just that.
  private func isStored(_ wanted: [UInt8]?, _ name: SecretName) -> Bool {
    do throws(SecretStoreError) {
      return try store.read(name) == wanted
    } catch {
      return false
    }
  }

  /// What the secret store's failure means: one damaged secret concerns its account alone, all else
  /// concerns every account.
  private func unavailable(_ error: SecretStoreError) -> AccountError {
    switch error.code {
    case .corrupt:
      AccountError(
        .readFailed, "a secret of the account cannot be read: \(error.message)", cause: error)
    case .missingMasterKey:
      AccountError(
        .keyMissing, "the secret store gives no secrets: \(error.message)", cause: error)
    default:
      AccountError(
        .keyUnavailable, "the secret store gives no secrets now: \(error.message)", cause: error)
    }
  }
}
