import Crypto
import Foundation
import SalesforceSDKCommon

/// The secrets of accounts in a secret store: the key of the account files, and the tokens of each
/// login, each as a separate secret (CO-61).
struct AccountSecrets: Sendable {
  let store: any SecretStore

  /// The name of the key that encrypts the account files.
  private static let accountKeyName = SecretName(
    service: "com.salesforce.userAccount.encryptionKey")
  private static let keyLength = 32

  /// Returns the key of the account files; `nil` if it certainly does not exist.
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

  /// Creates the key of the account files, or returns the one that another process has just
  /// created.
  func makeAccountKey() throws(AccountError) -> SymmetricKey {
    do throws(SecretStoreError) {
      return SymmetricKey(
        data: try store.readOrCreate(Self.accountKeyName) {
          SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        })
    } catch {
      throw Self.unavailable(error)
    }
  }

  /// The secrets of a login by the names in account files, with the service of each. The refresh
  /// token is first, because the account works with it alone.
  private static let services: [(name: String, service: String)] =
    [("refresh_token", OAuthKeys.refreshService), ("access_token", OAuthKeys.accessService)]
    + OAuthKeys.webSessionServices.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }

  /// The names of the secrets of a login in account files.
  static let names = services.map(\.name)

  /// Adds the secrets of its login to `account`. A secret that is missing or cannot be read stays
  /// `nil` (CO-63). Without any token, the account has no session.
  ///
  /// - Parameter noted: The secrets that exist; `nil` if they were not recorded. Other secrets are
  ///   not read, because in a damaged store it is unknown whether they existed.
  /// - Returns: The reason why no new session can be obtained, if that is damage.
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
      // An account file of an earlier login has replaced this one: it must not cause data to be
      // erased.
      CoreLogger.log.error("The logout that the file of \(account) notes is not one of its login.")
      account.loginState = .notLoggedIn
    }
    guard let damage, account.credentials.refreshToken == nil else { return nil }
    if account.credentials.accessToken == nil { account.loginState = .notLoggedIn }
    return AccountError(
      .readFailed, "\(account) has lost its tokens: \(damage.message) Log in again.", cause: damage)
  }

  /// Stores the secrets of a login.
  ///
  /// - Parameter noted: The secrets that existed before; `nil` if they were not recorded.
  /// - Returns: The secrets that exist now. A secret that cannot be read and has no new value
  ///   remains, because its store may be restored.
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

  /// Records that the logout of a login was decided. The account file alone cannot show it, because
  /// an older file, of a login that has ended, could replace it.
  func noteLogout(_ credentials: OAuthCredentials) throws(AccountError) {
    try put("decided", SecretName(service: Self.logoutService, account: credentials.identifier))
  }

  private func isLogoutNoted(_ id: String) throws(AccountError) -> Bool {
    do throws(AccountError) {
      return try text(Self.logoutService, id) != nil
    } catch {
      // A secret that cannot be read must not cause data to be erased.
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
      throw Self.unavailable(error)
    }
  }

  /// Writes or removes a secret. Does nothing if the secret does not change.
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
      throw Self.notWritten(error)
    }
  }

  static func notWritten(_ error: SecretStoreError) -> AccountError {
    AccountError(
      .writeFailed, "A secret cannot be written to the secret store: \(error.message)",
      cause: error)
  }

  /// Whether the store certainly contains exactly this value.
  private func isStored(_ wanted: [UInt8]?, _ name: SecretName) -> Bool {
    do throws(SecretStoreError) {
      return try store.read(name) == wanted
    } catch {
      return false
    }
  }

  /// Converts the secret store's failure: one damaged secret concerns only its account, any other
  /// failure concerns every account.
  static func unavailable(_ error: SecretStoreError) -> AccountError {
    switch error.code {
    case .corrupt, .damaged:
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
  /// A secret by its name in requests and responses.
  subscript(secret name: String) -> String? {
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
