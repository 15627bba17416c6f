public import Crypto
public import SalesforceSDKCommon

/// Keeps the key in a `SecretStore`: a random one of 256 bits, made once, for
/// the first store (SS-28).
///
/// Losing the secret makes every store that it wrapped unreadable; none is replaced by an empty one.
public struct SecretStoreKeyProvider: StoreKeyProvider {
  /// The name of the secret, unless the app gives another.
  public static let defaultName = SecretName(
    service: "com.salesforce.smartstore.encryption.keyLabel")

  private let secrets: any SecretStore
  private let name: SecretName

  /// Reads nothing yet.
  public init(_ secrets: some SecretStore, name: SecretName = Self.defaultName) {
    self.secrets = secrets
    self.name = name
  }

  public func key() throws(SmartStoreError) -> SymmetricKey? {
    do {
      return try secrets.read(name).map { SymmetricKey(data: $0) }
    } catch {
      throw Self.failure(error)
    }
  }

  public func createKey() throws(SmartStoreError) -> SymmetricKey {
    do {
      // Two processes that make their first store at once get the same key.
      let secret = try secrets.readOrCreate(name) { () throws(SecretStoreError) in
        SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
      }
      return SymmetricKey(data: secret)
    } catch {
      throw Self.failure(error)
    }
  }

  /// What the secret store's failure means for a store.
  private static func failure(_ error: SecretStoreError) -> SmartStoreError {
    switch error.code {
    case .locked:
      SmartStoreError(
        .keyLocked,
        "The secret store is locked: \(error.message) Then open the store again.", cause: error)
    case .missingMasterKey:
      SmartStoreError(
        .keyMissing,
        "The secret store's own key is missing, and with it the key of the store: \(error.message)",
        cause: error)
    case .authenticationFailed:
      SmartStoreError(
        .wrongKey, "The secret store was opened with another master key: \(error.message)",
        cause: error)
    case .corrupt, .unknownFormat:
      SmartStoreError(
        .corruptKeyFile,
        "The key of the store cannot be read, since the secret store cannot be used: "
          + error.message, cause: error)
    default:
      SmartStoreError(
        .io, "The secret store could not be used (\(error.message)). Correct that and try again.",
        cause: error)
    }
  }
}
