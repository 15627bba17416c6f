import Crypto
import CryptoExtras
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A master key in a separate file, encrypted with a passphrase.
///
/// scrypt derives a key from the passphrase and a random salt: each guess costs an attacker 64 MiB
/// of memory and about a tenth of a second. The master key itself is random, so a change of the
/// passphrase changes only this file. The file is a JSON object:
/// `{"version": 1, "kdf": "scrypt", "n", "r", "p", "salt", "sealed", "check"}`, with `sealed` the
/// nonce, the key encrypted with AES-256-GCM and the tag in hexadecimal digits, and `check` the
/// start of the SHA-256 of the other values, which distinguishes damage from a wrong passphrase.
public final class SealedKeyFile: MasterKeyKeeper {
  /// The file that contains the encrypted key.
  public let url: URL
  private let passphrase: Passphrase
  private let cost: Cost
  /// The key of the file's content that was decrypted last: stretching again would cost as much again.
  private let held = Mutex<(bytes: [UInt8], key: MasterKey)?>(nil)

  /// No key file is longer.
  private static let maxBytes = 4_096

  /// The parameters of scrypt.
  struct Cost: Equatable {
    var rounds = 1 << 16
    var blockSize = 8
    var parallelism = 1

    /// The costs that are accepted of a file: neither so weak that a planted file could make a new
    /// key weak, nor so expensive that it could stop the program.
    var isAcceptable: Bool {
      (1 << 14...1 << 18).contains(rounds) && rounds & (rounds - 1) == 0
        && (8...16).contains(blockSize) && (1...4).contains(parallelism)
    }
  }

  /// Names the file and the source of its passphrase; neither is read yet.
  public convenience init(_ url: URL, passphrase: Passphrase) {
    self.init(url, passphrase: passphrase, cost: Cost())
  }

  init(_ url: URL, passphrase: Passphrase, cost: Cost) {
    self.url = url
    self.passphrase = passphrase
    self.cost = cost
  }

  /// `passphrase`.
  public var name: String { "passphrase" }

  /// `passphrase`.
  public var protection: SecretProtection { .passphrase }

  public func load() throws(SecretStoreError) -> MasterKey? {
    guard let bytes = try content() else { return nil }
    if let held = held.withLock({ $0 }), held.bytes == bytes { return held.key }
    let form = try Form(bytes, path: url.path, own: cost)
    let key = try form.key(passphrase.bytes(isNew: false), path: url.path)
    held.withLock { $0 = (bytes, key) }
    return key
  }

  public func keep(_ key: MasterKey) throws(SecretStoreError) {
    if let kept = try load() {
      guard kept == key else {
        throw SecretStoreError(
          .occupied, "\(url.path) holds another key. Move that file away if no data needs it.")
      }
      return
    }
    let form = try Form(key, passphrase.bytes(isNew: true), cost)
    var isNew = false
    try write { () throws(FileFailure) in isNew = try DurableFile(url).create(form.bytes) }
    guard isNew else {
      throw SecretStoreError(.occupied, "\(url.path) was created by another process. Try again.")
    }
  }

  public func forget() throws(SecretStoreError) {
    try write { () throws(FileFailure) in try DurableFile(url).remove() }
    held.withLock { $0 = nil }
  }

  /// Encrypts the key of this file with another passphrase. A kill leaves the file with one passphrase or the other.
  ///
  /// - Throws: ``SecretStoreError`` `missingMasterKey` if there is no file; `weakPassphrase`; as ``load()``.
  public func change(to passphrase: Passphrase) throws(SecretStoreError) {
    guard let key = try load() else {
      throw SecretStoreError(
        .missingMasterKey, "There is no key file \(url.path). Restore it from a backup.")
    }
    let form = try Form(key, passphrase.bytes(isNew: true), cost)
    try write { () throws(FileFailure) in try DurableFile(url).replace(with: form.bytes) }
  }

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
          + "(chown, chmod 600 and 700) and try again.")
    }
    return content?.bytes
  }

  private func write(_ body: () throws(FileFailure) -> Void) throws(SecretStoreError) {
    do {
      try body()
    } catch {
      throw SecretStoreError(error)
    }
  }

  /// The content of a file.
  struct Form {
    private let cost: Cost
    private let salt: [UInt8]
    private let sealed: [UInt8]

    init(
      _ key: MasterKey, _ passphrase: [UInt8], _ cost: Cost
    ) throws(SecretStoreError) {
      self.cost = cost
      salt = RandomBytes.make(32)
      let stretched = try Self.stretch(passphrase, salt, cost)
      guard
        let box = try? AES.GCM.seal(
          key.bytes, using: stretched, authenticating: Self.context(cost, salt)),
        let combined = box.combined
      else { throw SecretStoreError(.inputOutput, "The master key could not be encrypted.") }
      sealed = Array(combined)
    }

    /// - Parameter own: The cost with which this process encrypts, accepted whatever it is.
    init(_ bytes: [UInt8], path: String, own: Cost) throws(SecretStoreError) {
      let damage = SecretStoreError(
        .corrupt, "The key file \(path) is damaged. Restore it from a backup.")
      guard let json = try? JSONSlice(parsing: bytes), let version = json["version"]?.int64 else {
        throw damage
      }
      guard version == 1, json["kdf"]?.string == "scrypt" else {
        throw SecretStoreError(
          .unknownFormat, "\(path) was written by a newer version. Update this program.")
      }
      func number(_ key: String) -> Int? { json[key]?.int64.flatMap { Int(exactly: $0) } }
      func digits(_ key: String) -> [UInt8]? { json[key]?.string.flatMap { Hex.decode($0) } }
      guard let rounds = number("n"), let blockSize = number("r"), let parallelism = number("p"),
        let salt = digits("salt"), let sealed = digits("sealed"), let check = digits("check"),
        salt.count == 32, sealed.count == 12 + MasterKey.size + 16
      else { throw damage }
      cost = Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
      self.salt = salt
      self.sealed = sealed
      guard cost.isAcceptable || cost == own, check == Self.check(cost, salt, sealed) else {
        throw damage
      }
    }

    func key(_ passphrase: [UInt8], path: String) throws(SecretStoreError) -> MasterKey {
      let stretched = try Self.stretch(passphrase, salt, cost)
      guard let box = try? AES.GCM.SealedBox(combined: sealed),
        let plain = try? AES.GCM.open(
          box, using: stretched, authenticating: Self.context(cost, salt)),
        let key = MasterKey(Array(plain))
      else {
        throw SecretStoreError(
          .authenticationFailed, "The passphrase does not decrypt \(path). Give the right one.")
      }
      return key
    }

    var bytes: [UInt8] {
      let object: JSONObject = [
        "version": 1, "kdf": "scrypt", "n": .integer(Int64(cost.rounds)),
        "r": .integer(Int64(cost.blockSize)), "p": .integer(Int64(cost.parallelism)),
        "salt": .string(Hex.encode(salt)), "sealed": .string(Hex.encode(sealed)),
        "check": .string(Hex.encode(Self.check(cost, salt, sealed))),
      ]
      return Array(JSONValue.object(object).text.utf8)
    }

    private static func context(_ cost: Cost, _ salt: [UInt8]) -> [UInt8] {
      Array("fieldforce master key 1 \(cost.rounds) \(cost.blockSize) \(cost.parallelism) ".utf8)
        + salt
    }

    private static func check(_ cost: Cost, _ salt: [UInt8], _ sealed: [UInt8]) -> [UInt8] {
      Array(Digests.sha256(context(cost, salt) + sealed).prefix(8))
    }

    private static func stretch(
      _ passphrase: [UInt8], _ salt: [UInt8], _ cost: Cost
    ) throws(SecretStoreError) -> SymmetricKey {
      do {
        return try KDF.Scrypt.deriveKey(
          from: passphrase, salt: salt, outputByteCount: 32, rounds: cost.rounds,
          blockSize: cost.blockSize, parallelism: cost.parallelism)
      } catch {
        throw SecretStoreError(
          .inputOutput, "There is not enough memory to stretch the passphrase. Try again.",
          cause: error)
      }
    }
  }
}
