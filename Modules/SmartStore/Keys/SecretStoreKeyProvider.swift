public import Crypto
public import SalesforceSDKCommon

/// A key provider that keeps random keys of 256 bits in a `SecretStore`: one for the stores of the app and
/// one for each user, created with the first store of each (SS-28).
///
/// A logout deletes the user's key, after which no copy of the user's stores can be opened. If a key is lost,
/// every store that it wrapped is unreadable; no store is replaced by an empty one.
///
/// The secret store also records which stores are encrypted. If a plaintext database, or files of
/// another store or an older state, replace those of a recorded store, opening the store fails.
public struct SecretStoreKeyProvider: StoreKeyProvider {
  /// The default name of the app's key. The names of users' keys and of the records of stores begin with it.
  public static let defaultName = SecretName(
    service: "com.salesforce.smartstore.encryption.keyLabel")

  private let secrets: any SecretStore
  private let name: SecretName

  /// Creates a provider. Reads nothing yet.
  public init(_ secrets: some SecretStore, name: SecretName = Self.defaultName) {
    self.secrets = secrets
    self.name = name
  }

  public func key() throws(SmartStoreError) -> SymmetricKey? {
    do {
      return try secrets.read(name).map { SymmetricKey(data: $0) }
    } catch {
      throw SmartStoreError(secrets: error)
    }
  }

  public func createKey() throws(SmartStoreError) -> SymmetricKey {
    do {
      // Two processes that create their first store at the same time get the same key.
      let secret = try secrets.readOrCreate(name) { () throws(SecretStoreError) in
        SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
      }
      return SymmetricKey(data: secret)
    } catch {
      throw SmartStoreError(secrets: error)
    }
  }

  public func provider(for owner: StoreOwner) -> any StoreKeyProvider {
    owner.isGlobal
      ? self : SecretStoreKeyProvider(secrets, name: secret(".user", of: owner))
  }

  public func eraseKey(of owner: StoreOwner) throws(SmartStoreError) {
    guard !owner.isGlobal else { return }
    do {
      // Records without a key would make the owner's next store fail.
      try records(of: owner).forgetAll()
      try secrets.remove(secret(".user", of: owner))
    } catch {
      throw SmartStoreError(secrets: error)
    }
  }

  /// Returns the name of a secret of an owner, the same for all communities.
  private func secret(_ suffix: String, of owner: StoreOwner) -> SecretName {
    let account = [name.account].compactMap(\.self) + owner.scope.prefix(2)
    return SecretName(
      service: name.service + suffix,
      account: account.isEmpty ? nil : account.joined(separator: "/"),
      group: name.group)
  }
}

extension SecretStoreKeyProvider: StoreRemembering {
  func records(of owner: StoreOwner) -> StoreRecords {
    StoreRecords(secrets, name: secret(".stores", of: owner))
  }

  func records(of owner: StoreOwner) -> StoreRecords? {
    let records: StoreRecords = records(of: owner)
    return records
  }
}

extension SmartStoreError {
  /// Converts a failure of the secret store to a store's error.
  init(secrets error: SecretStoreError) {
    switch error.code {
    case .locked:
      self.init(
        .keyLocked,
        "The secret store is locked: \(error.message) Then open the store again.", cause: error)
    case .missingMasterKey:
      self.init(
        .keyMissing,
        "The secret store's own key is missing, and with it the key of the store: \(error.message)",
        cause: error)
    case .authenticationFailed:
      self.init(
        .wrongKey, "The secret store was opened with another master key: \(error.message)",
        cause: error)
    case .corrupt, .damaged, .unknownFormat:
      self.init(
        .corruptKeyFile,
        "The key of the store cannot be read, since the secret store cannot be used: "
          + error.message, cause: error)
    default:
      self.init(
        .io, "The secret store could not be used (\(error.message)). Correct that and try again.",
        cause: error)
    }
  }
}
