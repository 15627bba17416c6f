/// The name of a secret: its purpose and its owner.
///
/// Every part counts, and a missing account differs from an empty one (CA-1, CA-4).
public struct SecretName: Sendable, Hashable, CustomStringConvertible {
  /// What the secret is for, such as `com.salesforce.smartstore.key`.
  public let service: String
  /// The owner; nil for a secret without an owner.
  public let account: String?
  /// The collection it belongs to, for programs that share a store (CA-5). Default: none.
  public let group: String?

  /// Makes a name.
  public init(service: String, account: String? = nil, group: String? = nil) {
    self.service = service
    self.account = account
    self.group = group
  }

  /// The parts that are there, separated by `/`.
  public var description: String {
    [group, service, account].compactMap { $0 }.joined(separator: "/")
  }
}

/// The protection of a secret store against a reader of its files.
public struct SecretProtection: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case memory, callerKey, keyFile, passphrase, secretService }
  private let kind: Kind
  /// Kept in memory and lost with the process.
  public static let memory = SecretProtection(kind: .memory)
  /// Sealed with a key that the caller brings and keeps.
  public static let callerKey = SecretProtection(kind: .callerKey)
  /// Encrypted with a key in a file in the same folder: a process that can read this user's files can decrypt it.
  public static let keyFile = SecretProtection(kind: .keyFile)

  /// Encrypted with a key that is itself encrypted with a passphrase, stretched by scrypt: as strong as that
  /// passphrase.
  public static let passphrase = SecretProtection(kind: .passphrase)
  /// Kept by the desktop's secret service, which encrypts it with the user's login password: any process of
  /// the user can read it while that collection is unlocked.
  public static let secretService = SecretProtection(kind: .secretService)

  /// The name of the level.
  public var description: String { kind.rawValue }
}

/// A store of small secrets, such as keys and tokens, apart from the data that they protect (CA-6).
///
/// Reads may run side by side; changes exclude each other, in this process and among processes
/// that share the store (CA-7). The calls are synchronous because each is a matter of
/// microseconds to a few milliseconds, unless another process is at work; a change that returns is on disk.
public protocol SecretStore: Sendable {
  /// What protects the secrets.
  var protection: SecretProtection { get }

  /// The secret, which may be empty; nil only if it certainly is not there.
  ///
  /// - Throws: ``SecretStoreError`` `locked`, `authenticationFailed`, `corrupt`,
  ///   `missingMasterKey`, `inputOutput`.
  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]?

  /// Replaces or removes the secret by what `change` makes of it, as one step that no other change
  /// can get between. `change` sees nil if there is none, and returns nil to remove it. It is
  /// called once, before this returns, and must not use the store.
  ///
  /// - Returns: What `change` returned.
  /// - Throws: As ``read(_:)``, and `tooLarge`; what `change` throws passes through unchanged and
  ///   leaves everything as it was.
  @discardableResult
  func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]?

  /// Puts `secret` in place of whatever stands there, even if that is damaged.
  ///
  /// - Throws: As ``update(_:_:)``, but never `corrupt` for this secret.
  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError)

  /// Removes the secret, even if it is damaged.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: As ``write(_:for:)``.
  @discardableResult
  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool

  /// The names of all secrets that can be read, in no particular order.
  ///
  /// - Throws: As ``read(_:)``.
  func list() throws(SecretStoreError) -> [SecretName]
}

extension SecretStore {
  /// The secret, or, if there is none, a new one made by `make` and kept. Of several callers at
  /// once, in any number of processes, one makes it and all get the same.
  ///
  /// - Throws: As ``update(_:_:)``. A secret that cannot be read is never replaced.
  public func readOrCreate(
    _ name: SecretName, _ make: () throws(SecretStoreError) -> [UInt8]
  ) throws(SecretStoreError) -> [UInt8] {
    if let secret = try read(name) { return secret }
    let secret = try update(name) { secret throws(SecretStoreError) in
      if let secret { return secret }
      return try make()
    }
    return secret ?? []
  }
}
