import Foundation
public import SalesforceSDKCommon
public import SalesforceSDKCore

/// The registrations of a device for push notifications of accounts, and the types of notifications
/// (CO-139 to CO-143).
///
/// The registration of each account is a separate secret. After ``takePart(in:client:)``, a logout
/// of an account unregisters its device.
///
/// ```swift
/// let push = PushNotifications(secrets: secrets)
/// try await push.register(PushDevice(token: token, bundle: "com.acme.orders"), account: account, client: client)
/// ```
public struct PushNotifications: Sendable {
  /// The key pair with which notifications are encrypted.
  public let key: PushKey
  private let secrets: any SecretStore
  private let markers: FeatureMarkers
  private let now: @Sendable () -> SalesforceDate

  /// Stores registrations and the key pair in a secret store.
  public init(secrets: some SecretStore) {
    self.init(secrets: secrets, markers: .shared) { SalesforceDate(Date()) }
  }

  init(
    secrets: some SecretStore, markers: FeatureMarkers,
    now: @escaping @Sendable () -> SalesforceDate
  ) {
    key = PushKey(in: secrets)
    self.secrets = secrets
    self.markers = markers
    self.now = now
  }

  // MARK: Registering

  /// Registers a device for an account. The same device may be registered any number of times.
  ///
  /// - Parameter additional: Additional fields of the app; fields of the platform take precedence.
  /// - Returns: The stored registration.
  /// - Throws: ``PushError`` `noToken` before anything is sent; `notEnabled` if the org has no push
  ///   notifications, which is stored, too; `rejected`, `keyUnavailable`, `storageFailed`.
  ///   `CancellationError`.
  @discardableResult
  public func register(
    _ device: PushDevice, account: UserAccount, client: RestClient, additional: JSONObject = [:]
  ) async throws -> PushRegistration {
    guard !device.token.isEmpty else {
      throw PushError(.noToken, "There is no device token. Get one from the service first.")
    }
    var fields = additional
    fields["ConnectionToken"] = .string(device.token)
    fields["ServiceType"] = .string(device.service.rawValue)
    fields["ApplicationBundle"] = .string(device.bundle)
    fields["RsaPublicKey"] = .string(try key.publicKey())
    fields["CipherName"] = "RSA_OAEP_SHA256"
    if let network = account.communityId { fields["NetworkId"] = .string(network) }
    let response: RestResponse
    do {
      response = try await client.response(
        to: .create(object: Self.object, fields: try RestFields(fields)))
    } catch let error as CancellationError {
      throw error
    } catch {
      throw PushError(.rejected, "The device could not be registered: \(error)", cause: error)
    }
    let id: String?
    if response.status == 404 {
      id = nil
    } else if response.isSuccess, let found = try? response.json()["id"]?.string, !found.isEmpty {
      id = found
    } else {
      throw PushError(
        .rejected, "The server refused to register the device, with status \(response.status).")
    }
    let registration = PushRegistration(device: device, deviceId: id, date: now())
    try change(account.identity) { record in
      record["registration"] = .object(registration.json)
    }
    guard id != nil else {
      throw PushError(
        .notEnabled,
        "The org has no push notifications for this app. Enable them in the connected app.")
    }
    markers.register("PN")
    // After each registration; a failure leaves what was known.
    _ = try? await fetchTypes(account: account, client: client)
    return registration
  }

  /// Returns the registration of an account's device; nil if it is not registered.
  ///
  /// - Throws: ``PushError`` `storageFailed`.
  public func registration(of identity: UserAccountIdentity) throws(PushError) -> PushRegistration?
  {
    try record(identity)?["registration"].flatMap { PushRegistration($0) }
  }

  /// Registers the device of an account again if that is due.
  ///
  /// - Returns: Whether it was.
  /// - Throws: As ``register(_:account:client:additional:)``.
  @discardableResult
  public func renew(
    _ renewal: PushRenewal, account: UserAccount, client: RestClient
  ) async throws -> Bool {
    guard let registration = try registration(of: account.identity),
      renewal.isDue(registration, now: now())
    else { return false }
    try await register(registration.device, account: account, client: client)
    return true
  }

  /// Unregisters the device of an account on the server, and removes the registration and the
  /// types. The local data is removed whatever the server responds.
  ///
  /// - Returns: Whether the server removed it; nil if there was nothing to remove.
  /// - Throws: ``PushError`` `storageFailed` if the local data could not be removed.
  @discardableResult
  public func unregister(
    _ identity: UserAccountIdentity, client: RestClient
  ) async throws(PushError) -> Bool? {
    // A record that cannot be read is removed all the same.
    let id = (try? registration(of: identity))?.deviceId
    var isRemoved: Bool?
    if let id {
      let response = try? await client.response(to: .delete(object: Self.object, id: id))
      isRemoved = response?.isSuccess ?? false
    }
    do throws(SecretStoreError) {
      try secrets.remove(Self.name(identity))
    } catch {
      throw Self.storage(error)
    }
    return isRemoved
  }

  /// Makes every logout unregister the account's device first, while its tokens are valid.
  ///
  /// - Parameter client: Creates the client of an account.
  public func takePart(
    in accounts: UserAccountManager, client: @escaping @Sendable (UserAccount) -> RestClient
  ) async {
    await accounts.addLogoutObserver(PushLogout(push: self, client: client))
  }

  // MARK: Types and actions

  /// Returns the types of notifications of an account: from the server, otherwise those that were
  /// fetched last.
  ///
  /// - Throws: ``PushError`` `noTypes` if there are neither; `storageFailed`; `CancellationError`.
  public func types(account: UserAccount, client: RestClient) async throws -> [NotificationType] {
    do {
      return try await fetchTypes(account: account, client: client)
    } catch let error as CancellationError {
      throw error
    } catch {
      if let kept = try record(account.identity), let types = NotificationType.list(kept) {
        return types
      }
      throw PushError(
        .noTypes,
        "The types of notifications cannot be fetched, and were not fetched before: \(error)",
        cause: error)
    }
  }

  private func fetchTypes(
    account: UserAccount, client: RestClient
  ) async throws -> [NotificationType] {
    let json = try await client.send(.notificationTypes()).json()
    guard let types = NotificationType.list(json) else {
      throw PushError(.noTypes, "The server's list of notification types is malformed.")
    }
    try change(account.identity) { record in
      record["notificationTypes"] = .array(types.map(\.json))
    }
    return types
  }

  /// Invokes an action of a notification.
  ///
  /// - Returns: The server's message.
  /// - Throws: As `RestClient.send(_:)`; `notFound` if there is no such notification or action.
  public func invoke(
    action key: String, notification id: String, client: RestClient
  ) async throws -> String {
    let response = try await client.send(.invokeNotificationAction(id: id, actionKey: key))
    return try response.json()["message"]?.string ?? ""
  }

  // MARK: Storage

  private static let object = "MobilePushServiceDevice"

  private static func name(_ identity: UserAccountIdentity) -> SecretName {
    SecretName(service: "com.salesforce.mobilesdk.push", account: "\(identity)")
  }

  private func record(_ identity: UserAccountIdentity) throws(PushError) -> JSONSlice? {
    do throws(SecretStoreError) {
      guard let bytes = try secrets.read(Self.name(identity)) else { return nil }
      return try? JSONSlice(parsing: bytes)
    } catch {
      throw Self.storage(error)
    }
  }

  private func change(
    _ identity: UserAccountIdentity, _ change: (inout JSONObject) -> Void
  ) throws(PushError) {
    do throws(SecretStoreError) {
      try secrets.update(Self.name(identity)) { bytes throws(SecretStoreError) in
        var object = bytes.flatMap { try? JSONSlice(parsing: $0) }?.value.object ?? ["version": 1]
        change(&object)
        return Array(JSONValue.object(object).text.utf8)
      }
    } catch {
      throw Self.storage(error)
    }
  }

  private static func storage(_ error: SecretStoreError) -> PushError {
    PushError(
      .storageFailed, "The registration for push notifications cannot be read or kept: \(error)",
      cause: error)
  }
}

/// Unregisters the device of an account that logs out.
private struct PushLogout: LogoutObserver {
  let push: PushNotifications
  let client: @Sendable (UserAccount) -> RestClient

  func unsyncedRecords(of account: UserAccount) async throws -> Int { 0 }

  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    try await push.unregister(account.identity, client: client(account))
  }
}
