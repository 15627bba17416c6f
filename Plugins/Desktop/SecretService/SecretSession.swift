import Crypto
import CryptoExtras
import DBusClient
import SalesforceSDKCommon

/// An encrypted session with the secret service, for one piece of work.
struct SecretSession {
  private let connection: DBusConnection
  private let path: String
  private let key: SymmetricKey
  /// The collection that `default` stands for.
  let collection: String

  private static let service = "org.freedesktop.secrets"
  private static let root = "/org/freedesktop/secrets"

  init(address: String?, timeout: Duration) throws(SecretStoreError) {
    do throws(DBusError) {
      connection = try DBusConnection(address: address, timeout: timeout)
      let exchange = DiffieHellman()
      let opened = try connection.call(
        "OpenSession", on: Self.root, interface: "org.freedesktop.Secret.Service", of: Self.service,
        .string("dh-ietf1024-sha256-aes128-cbc-pkcs7"), .variant(.bytes(exchange.publicKey)))
      guard let other = opened.first?.byteArray, let key = exchange.sharedKey(other),
        let path = opened.last?.text, path.hasPrefix("/")
      else { throw Self.unexpected("OpenSession") }
      self.key = key
      self.path = path
      let alias = try connection.call(
        "ReadAlias", on: Self.root, interface: "org.freedesktop.Secret.Service", of: Self.service,
        .string("default"))
      collection = alias.first?.text ?? "/"
    } catch {
      throw Self.error(error)
    }
    guard collection != "/" else {
      throw SecretStoreError(
        .noCollection,
        "The secret service has no default collection. Create one, for instance by logging in to the "
          + "desktop.")
    }
  }

  /// Whether the collection is locked.
  private func checkUnlocked() throws(SecretStoreError) {
    let value = try call(
      "Get", on: collection, interface: "org.freedesktop.DBus.Properties",
      .string("org.freedesktop.Secret.Collection"), .string("Locked"))
    guard let isLocked = value.first?.bool else { throw Self.error(Self.unexpected("Get")) }
    if isLocked { throw Self.locked }
  }

  /// The items with all of these attributes. Only of an unlocked collection does "none" mean that there is none, and
  /// it may be locked at any moment: so it is checked on both sides.
  func items(_ attributes: DBusValue) throws(SecretStoreError) -> [String] {
    try checkUnlocked()
    let found = try call(
      "SearchItems", on: collection, interface: "org.freedesktop.Secret.Collection", attributes)
    guard let items = found.first?.texts else { throw Self.error(Self.unexpected("SearchItems")) }
    try checkUnlocked()
    return items
  }

  /// The attributes of an item.
  func attributes(of item: String) throws(SecretStoreError) -> DBusValue? {
    let value = try call(
      "Get", on: item, interface: "org.freedesktop.DBus.Properties",
      .string("org.freedesktop.Secret.Item"), .string("Attributes"))
    guard case .variant(let attributes) = value.first else { return nil }
    return attributes
  }

  /// The secret of an item.
  func secret(of item: String) throws(SecretStoreError) -> [UInt8] {
    let values = try call(
      "GetSecret", on: item, interface: "org.freedesktop.Secret.Item", .objectPath(path))
    guard case .structure(let parts) = values.first, parts.count == 4,
      let vector = parts[1].byteArray, let text = parts[2].byteArray,
      let start = try? AES._CBC.IV(ivBytes: vector),
      let secret = try? AES._CBC.decrypt(text, using: key, iv: start)
    else { throw Self.error(Self.unexpected("GetSecret")) }
    return Array(secret)
  }

  /// Stores a secret in place of the items with the same attributes.
  func store(
    _ secret: [UInt8], label: String, attributes: DBusValue
  ) throws(SecretStoreError) {
    let vector = RandomBytes.make(16)
    guard let start = try? AES._CBC.IV(ivBytes: vector),
      let text = try? AES._CBC.encrypt(secret, using: key, iv: start)
    else { throw SecretStoreError(.inputOutput, "The secret could not be encrypted.") }
    let properties = DBusValue.dictionary(
      "s", "v",
      [
        (.string("org.freedesktop.Secret.Item.Label"), .variant(.string(label))),
        (.string("org.freedesktop.Secret.Item.Attributes"), .variant(attributes)),
      ])
    let made = try call(
      "CreateItem", on: collection, interface: "org.freedesktop.Secret.Collection", properties,
      .structure([
        .objectPath(path), .bytes(vector), .bytes(Array(text)),
        .string("application/octet-stream"),
      ]),
      .bool(true))
    // In place of a new item there may be a prompt: this session cannot show one.
    guard made.first?.text != "/", made.last?.text == "/" else { throw Self.locked }
  }

  /// Deletes an item.
  func delete(_ item: String) throws(SecretStoreError) {
    let prompt = try call("Delete", on: item, interface: "org.freedesktop.Secret.Item")
    guard prompt.first?.text == "/" else { throw Self.locked }
  }

  private func call(
    _ member: String, on path: String, interface: String, _ arguments: DBusValue...
  ) throws(SecretStoreError) -> [DBusValue] {
    do throws(DBusError) {
      return try connection.call(
        member, on: path, interface: interface, of: Self.service, arguments: arguments)
    } catch {
      throw Self.error(error)
    }
  }

  // MARK: Errors

  private static var locked: SecretStoreError {
    SecretStoreError(
      .locked,
      "The default collection of the secret service is locked. Unlock it, for instance by logging in to the desktop, and try again."
    )
  }

  private static func unexpected(_ member: String) -> DBusError {
    DBusError(
      .malformed, "The secret service returned an unexpected result of \(member). Try again.")
  }

  /// The secret store's error for an error of the bus.
  static func error(_ error: DBusError) -> SecretStoreError {
    switch (error.code, error.name) {
    case (.noBus, _),
      (_, "org.freedesktop.DBus.Error.ServiceUnknown"),
      (_, "org.freedesktop.DBus.Error.NameHasNoOwner"),
      (_, "org.freedesktop.DBus.Error.Spawn.ServiceNotFound"):
      let message =
        error.code == .noBus
        ? error.message
        : "The session bus has no secret service. Start one, such as gnome-keyring-daemon."
      return SecretStoreError(.noSessionBus, message, cause: error)
    case (_, "org.freedesktop.Secret.Error.IsLocked"):
      return SecretStoreError(.locked, locked.message, cause: error)
    default:
      return SecretStoreError(.inputOutput, error.message, cause: error)
    }
  }
}
