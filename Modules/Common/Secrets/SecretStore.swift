/// The name of a secret: its purpose and its owner.
///
/// Every part counts, and a missing account differs from an empty one (CA-1, CA-4).
public struct SecretName: Sendable, Hashable, CustomStringConvertible {
  /// The purpose of the secret, such as `com.salesforce.smartstore.key`.
  public let service: String
  /// The owner; nil for a secret without an owner.
  public let account: String?
  /// The collection it belongs to, for programs that share a store (CA-5). Default: none.
  public let group: String?

  /// Creates a name.
  public init(service: String, account: String? = nil, group: String? = nil) {
    self.service = service
    self.account = account
    self.group = group
  }

  /// The parts that are not nil, separated by `/`.
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
  /// Encrypted with a key that the caller supplies and stores.
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
/// Reads may run in parallel; changes exclude each other, in this process and among processes that
/// share the store (CA-7). The calls are synchronous because each takes microseconds to a few
/// milliseconds, unless another process holds the store. A change is on disk when the call returns.
public protocol SecretStore: Sendable {
  /// The protection of the secrets.
  var protection: SecretProtection { get }

  /// Returns the secret, which may be empty; nil only if it certainly does not exist.
  ///
  /// - Throws: ``SecretStoreError`` `locked`, `authenticationFailed`, `corrupt`, `damaged`,
  ///   `missingMasterKey`, `inputOutput`.
  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]?

  /// Changes the secret with a closure, as one atomic step. `change` gets the current secret, or
  /// nil if there is none, and returns the new one, or nil to remove it. It is called once, before
  /// this call returns, and must not use the store.
  ///
  /// - Returns: The result of `change`.
  /// - Throws: As ``read(_:)``, and `tooLarge`; an error of `change` is rethrown, and the store
  ///   stays unchanged.
  @discardableResult
  func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]?

  /// Stores a secret, and replaces an existing one even if it is damaged.
  ///
  /// - Throws: As ``update(_:_:)``, but never `corrupt` or `damaged` for this secret.
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
  /// Returns the secret; if there is none, stores and returns a new one from `make`. If several
  /// callers, in any number of processes, call this at the same time, one of them creates the
  /// secret and all get the same.
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
