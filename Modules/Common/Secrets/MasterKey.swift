#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The key that protects the secrets of a file: 32 bytes from a source of true randomness.
///
/// A passphrase is not a master key: ``SealedKeyFile`` derives a key from a passphrase and encrypts
/// a random master key with it. The bytes are in a separate memory page, which is excluded from
/// core dumps, overwritten when the last copy of the value is released and, if the system allows
/// it, never swapped out. A description never shows them.
public struct MasterKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  /// The number of bytes of a key.
  public static let size = 32

  private let page: SecretPage

  /// A copy of the key's bytes, in ordinary memory.
  var bytes: [UInt8] { page.bytes }

  /// Creates a key from its bytes; nil if their number is not ``size``.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    page = SecretPage(bytes)
  }

  /// Whether two keys are equal, compared in constant time.
  public static func == (first: MasterKey, second: MasterKey) -> Bool {
    zip(first.bytes, second.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Returns a new key from the system's random generator.
  public static func random() -> MasterKey {
    MasterKey(checked: RandomBytes.make(size))
  }

  init(checked bytes: [UInt8]) { page = SecretPage(bytes) }

  /// `MasterKey`, without its bytes.
  public var description: String { "MasterKey" }

  /// Nothing: a dump must not show the key either.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A source of the master key of a ``FileSecretStore``.
public protocol MasterKeyProvider: Sendable {
  /// The protection of the key.
  var protection: SecretProtection { get }

  /// The key.
  ///
  /// - Parameter mayCreate: Whether a new key may be created if there is none. False while secrets
  ///   exist that only the old key decrypts.
  /// - Throws: ``SecretStoreError`` `missingMasterKey` if there is no key and `mayCreate` is false;
  ///   `locked`, `corrupt`, `exposedKeyFile`, `inputOutput`.
  func masterKey(mayCreate: Bool) throws(SecretStoreError) -> MasterKey
}

/// A master key that the caller supplies, for example from a hardware module or the environment.
public struct CallerMasterKey: MasterKeyProvider {
  private let key: MasterKey

  /// Creates a provider of the given key.
  public init(_ key: MasterKey) { self.key = key }

  /// `callerKey`.
  public var protection: SecretProtection { .callerKey }

  public func masterKey(mayCreate: Bool) throws(SecretStoreError) -> MasterKey { key }
}

/// A master key in a file, created on first use with access for this user alone.
///
/// It protects only copies of the secret store without the key file, such as backups. The file
/// contains 64 hexadecimal digits and a line feed.
public struct KeyFile: MasterKeyProvider, MasterKeyKeeper {
  /// The file that contains the key.
  public let url: URL
  /// No key file is longer.
  private static let maxBytes = 4_096

  /// Names the file, which is read or created when the key is first needed.
  public init(_ url: URL) { self.url = url }

  /// `file`.
  public var name: String { "file" }

  /// `keyFile`.
  public var protection: SecretProtection { .keyFile }

  public func masterKey(mayCreate: Bool) throws(SecretStoreError) -> MasterKey {
    if let key = try load() { return key }
    guard mayCreate else {
      throw SecretStoreError(
        .missingMasterKey,
        "The key file \(url.path) is gone, and without it the secrets cannot be opened. "
          + "Restore it from a backup. No new key is created while secrets exist.")
    }
    let key = MasterKey.random()
    // If another process was faster, its key is the one.
    return try create(key) ? key : masterKey(mayCreate: false)
  }

  public func load() throws(SecretStoreError) -> MasterKey? { try content().map(parse) }

  public func keep(_ key: MasterKey) throws(SecretStoreError) {
    guard try !create(key), try load() != key else { return }
    throw SecretStoreError(
      .occupied, "\(url.path) holds another key. Move that file away if no data needs it.")
  }

  public func forget() throws(SecretStoreError) {
    do {
      try DurableFile(url).remove()
    } catch {
      throw SecretStoreError(error)
    }
  }

  /// The file's bytes, or nil if there is none.
  private func content() throws(SecretStoreError) -> [UInt8]? {
    let content: DurableFile.Content?
    do {
      content = try DurableFile(url).content(maxBytes: Self.maxBytes)
    } catch {
      throw SecretStoreError(error)
    }
    if let exposure = content?.exposure {
      throw SecretStoreError(
        .exposedKeyFile,
        "The key file \(url.path) is not safe: \(exposure). Make the file and its folder yours alone "
          + "(chown, chmod 600 and 700), or keep them in a folder that other users cannot change.")
    }
    return content?.bytes
  }

  /// Creates the file, or returns false if there is one already.
  private func create(_ key: MasterKey) throws(SecretStoreError) -> Bool {
    do {
      return try DurableFile(url).create(Array("\(Hex.encode(key.bytes))\n".utf8))
    } catch {
      throw SecretStoreError(error)
    }
  }

  private func parse(_ bytes: [UInt8]) throws(SecretStoreError) -> MasterKey {
    let text = String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self)
    guard let key = Hex.decode(text).flatMap({ MasterKey($0) }) else {
      throw SecretStoreError(
        .corrupt,
        "The key file \(url.path) does not hold 64 hexadecimal digits. Restore it from a backup.")
    }
    return key
  }
}
