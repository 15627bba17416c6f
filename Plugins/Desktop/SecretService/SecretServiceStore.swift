import DBusClient
public import Foundation
public import SalesforceSDKCommon

/// A secret store in the desktop's secret service (GNOME Keyring, KWallet, KeePassXC), over D-Bus
/// (CA-6).
///
/// Each secret is an item of the default collection, with the attributes `application` and
/// `secret`, the latter the name's parts as a JSON array. Secrets are encrypted in transit
/// (`dh-ietf1024-sha256-aes128-cbc-pkcs7`). Each call opens a new connection and session, which
/// takes some milliseconds. So store few secrets here, such as the master key of a
/// ``FileSecretStore``.
///
/// The store never unlocks the collection and never shows a prompt. It throws `locked` for a locked
/// collection, `noSessionBus` without a bus or a service, and `noCollection` without a default
/// collection; none of these looks like a missing secret.
///
/// ```swift
/// let desktop = StoredMasterKey(
///   "secret-service", in: SecretServiceStore(application: "com.acme.orders", lock: folder.appending(path: "secret-service.lock")),
///   as: SecretName(service: "master-key", account: installationId))
/// ```
public struct SecretServiceStore: SecretStore {
  private let application: String
  private let label: String
  private let lock: URL
  private let address: String?
  private let timeout: Duration

  /// Creates a store for an application. Connects to nothing yet.
  ///
  /// - Parameters:
  ///   - application: The application that owns the secrets. Secrets of other applications are
  ///     never read.
  ///   - label: The label in the desktop's password manager. Default: the application.
  ///   - lock: A file that processes lock while they change a secret, because the service has no
  ///     locks. All processes that share secrets must name the same file.
  ///   - address: The address of the session bus. Default: that of the environment.
  ///   - timeout: The maximum time of one call. Default: 10 seconds.
  public init(
    application: String, label: String? = nil, lock: URL, address: String? = nil,
    timeout: Duration = .seconds(10)
  ) {
    self.application = application
    self.label = label ?? application
    self.lock = lock
    self.address = address
    self.timeout = timeout
  }

  /// `secretService`.
  public var protection: SecretProtection { .secretService }

  public func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    let session = try SecretSession(address: address, timeout: timeout)
    return try read(name, session)
  }

  @discardableResult
  public func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try changing { session throws(SecretStoreError) in
      let old = try read(name, session)
      let new = try change(old)
      if new != old { try put(new, for: name, session) }
      return new
    }
  }

  public func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try changing { session throws(SecretStoreError) in try put(secret, for: name, session) }
  }

  @discardableResult
  public func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try changing { session throws(SecretStoreError) in
      let items = try session.items(attributes(of: name))
      for item in items { try session.delete(item) }
      return !items.isEmpty
    }
  }

  public func list() throws(SecretStoreError) -> [SecretName] {
    let session = try SecretSession(address: address, timeout: timeout)
    var names: Set<SecretName> = []
    for item in try session.items(.texts(["application": application])) {
      if let text = try session.attributes(of: item)?["secret"]?.text,
        let name = Self.name(text)
      {
        names.insert(name)
      }
    }
    return Array(names)
  }

  private func read(
    _ name: SecretName, _ session: SecretSession
  ) throws(SecretStoreError) -> [UInt8]? {
    var secret: [UInt8]?
    for item in try session.items(attributes(of: name)) {
      let found = try session.secret(of: item)
      // Only another program can have made a second item; which of the two counts cannot be known.
      guard secret == nil || secret == found else {
        throw SecretStoreError(
          .corrupt,
          "The secret service has several items of '\(application)' for '\(name)', and they differ. Delete the wrong ones in "
            + "the desktop's password program.")
      }
      secret = found
    }
    return secret
  }

  private func put(
    _ secret: [UInt8]?, for name: SecretName, _ session: SecretSession
  ) throws(SecretStoreError) {
    guard let secret else {
      for item in try session.items(attributes(of: name)) { try session.delete(item) }
      return
    }
    guard secret.count <= FileSecretStore.maxSecretBytes else {
      throw SecretStoreError(
        .tooLarge,
        "A secret may have \(FileSecretStore.maxSecretBytes) bytes. Keep larger data elsewhere.")
    }
    // Fails with `locked` before anything is written.
    _ = try session.items(attributes(of: name))
    try session.store(secret, label: label, attributes: attributes(of: name))
    // The service has replaced one item, of which another program may have made several.
    let items = try session.items(attributes(of: name))
    for item in items where items.count > 1 {
      if try session.secret(of: item) != secret { try session.delete(item) }
    }
  }

  /// Runs `body` while no other process changes a secret.
  private func changing<R>(
    _ body: (SecretSession) throws(SecretStoreError) -> R
  ) throws(SecretStoreError) -> R {
    let taken: FileLock?
    do {
      try DurableFile(lock).makeOwnFolder()
      taken = try FileLock.take(lock.path, patience: timeout)
    } catch {
      throw SecretStoreError(.inputOutput, "\(error).", cause: error)
    }
    guard let taken else {
      throw SecretStoreError(
        .locked, "Another process holds \(lock.path). Try again when it has finished.")
    }
    return try taken.whileHeld { () throws(SecretStoreError) in
      let session = try SecretSession(address: address, timeout: timeout)
      return try body(session)
    }
  }

  private func attributes(of name: SecretName) -> DBusValue {
    let parts = [name.group, name.service, name.account].map { $0.map(JSONValue.string) ?? .null }
    return .texts(["application": application, "secret": JSONValue.array(parts).text])
  }

  private static func name(_ text: String) -> SecretName? {
    guard let parts = try? JSONSlice(parsing: text).value.array, parts.count == 3,
      let service = parts[1].string
    else { return nil }
    return SecretName(service: service, account: parts[2].string, group: parts[0].string)
  }
}
