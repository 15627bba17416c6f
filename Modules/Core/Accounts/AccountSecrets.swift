import Crypto
import Foundation
import SalesforceSDKCommon

/// The secrets of accounts in a secret store: the key of the account files, and the tokens of each
/// login, every one on its own (CO-61).
struct AccountSecrets: Sendable {
  let store: any SecretStore

  /// The label of the key that the account files are encrypted with.
  private static let accountKeyName = SecretName(
    service: "com.salesforce.userAccount.encryptionKey")
  private static let keyLength = 32

  /// The key of the account files; `nil` if there certainly is none.
  func accountKey() throws(AccountError) -> SymmetricKey? {
    guard let bytes = try read(Self.accountKeyName) else { return nil }
    guard bytes.count == Self.keyLength else {
      throw AccountError(
        .keyUnavailable,
        "The key of the account files has \(bytes.count) bytes and not \(Self.keyLength). "
          + "Restore the secret store.")
    }
    return SymmetricKey(data: bytes)
  }

  /// Creates the key of the account files, or takes the one that another process just made.
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

  /// The secrets of a login by the names that account files note, and the service that each is kept
  /// under. The refresh token goes first: with it alone the account still works.
  private static let services: [(name: String, service: String)] =
    [("refresh_token", OAuthKeys.refreshService), ("access_token", OAuthKeys.accessService)]
    + OAuthKeys.webSessionServices.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }

  /// Gives `account` the secrets of its login. One that is missing stays `nil`, and so does one that
  /// cannot be read (CO-63). Without any token left, the account has no session.
  ///
  /// - Parameter noted: Those that there are; `nil` if they were not noted. No other is searched: in a
  ///   damaged store it is unknown whether it was there.
  /// - Returns: Why no new session can be had, if that is for damage.
  func fill(
    _ account: inout UserAccount, noted: Set<String>?
  ) throws(AccountError) -> AccountError? {
    let id = account.credentials.identifier
    var damage: AccountError?
    for (name, service) in Self.services where noted?.contains(name) ?? true {
      do throws(AccountError) {
        account.credentials[secret: name] = try text(service, id)
      } catch {
        guard error.code == .readFailed else { throw error }
        CoreLogger.log.error("the \(name) of \(account) cannot be read", error: error)
        if name == "refresh_token" || name == "access_token" { damage = damage ?? error }
      }
    }
    if account.loginState == .loggingOut, try !isLogoutNoted(id) {
      // An account file of an earlier login was put in the place of this one: nothing may be erased for it.
      CoreLogger.log.error("The logout that the file of \(account) notes is not one of its login.")
      account.loginState = .notLoggedIn
    }
    guard let damage, account.credentials.refreshToken == nil else { return nil }
    if account.credentials.accessToken == nil { account.loginState = .notLoggedIn }
    return AccountError(
      .readFailed, "\(account) has lost its tokens: \(damage.message) Log in again.", cause: damage)
  }

  /// Keeps the secrets of a login.
  ///
  /// - Parameter noted: Those that were there before; `nil` if they were not noted.
  /// - Returns: Those that there are now. One that cannot be read and has no other value stays: its
  ///   store may be restored.
  func write(
    _ credentials: OAuthCredentials, noted: Set<String>?
  ) throws(AccountError) -> Set<String> {
    var present: Set<String> = []
    for (name, service) in Self.services {
      let value = credentials[secret: name]
      let secret = SecretName(service: service, account: credentials.identifier)
      if value != nil {
        present.insert(name)
        try put(value, secret)
      } else if noted?.contains(name) ?? true {
        do throws(SecretStoreError) {
          _ = try store.read(secret)
        } catch {
          if noted != nil { present.insert(name) }
          continue
        }
        try put(nil, secret)
      }
    }
    return present
  }

  private static let logoutService = "com.salesforce.userAccount.logout"

  /// Notes that the logout of a login was decided. An account file alone cannot say so: an older one, of a login
  /// that ended, could be put in its place.
  func noteLogout(_ credentials: OAuthCredentials) throws(AccountError) {
    try put("decided", SecretName(service: Self.logoutService, account: credentials.identifier))
  }

  private func isLogoutNoted(_ id: String) throws(AccountError) -> Bool {
    do throws(AccountError) {
      return try text(Self.logoutService, id) != nil
    } catch {
      // What cannot be read erases nothing.
      guard error.code == .readFailed else { throw error }
      return false
    }
  }

  /// Removes the secrets of a login.
  func remove(_ credentials: OAuthCredentials) throws(AccountError) {
    try put(nil, SecretName(service: Self.logoutService, account: credentials.identifier))
    for (_, service) in Self.services {
      try put(nil, SecretName(service: service, account: credentials.identifier))
    }
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

  /// Writes or removes a secret; writes nothing if the secret does not change.
  private func put(_ value: String?, _ name: SecretName) throws(AccountError) {
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
        .writeFailed, "A secret cannot be written to the secret store: \(error.message)",
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
        .readFailed, "A secret of the account cannot be read: \(error.message)", cause: error)
    case .missingMasterKey:
      AccountError(
        .keyMissing, "The secret store gives no secrets: \(error.message)", cause: error)
    default:
      AccountError(
        .keyUnavailable, "The secret store gives no secrets now: \(error.message)", cause: error)
    }
  }
}

extension OAuthCredentials {
  /// A secret by its name on the wire.
  fileprivate subscript(secret name: String) -> String? {
    get {
      switch name {
      case "refresh_token": refreshToken
      case "access_token": accessToken
      default: webSession[name]
      }
    }
    set {
      switch name {
      case "refresh_token": refreshToken = newValue
      case "access_token": accessToken = newValue
      default: webSession[name] = newValue
      }
    }
  }
}
