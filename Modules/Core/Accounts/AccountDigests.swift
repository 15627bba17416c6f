import Crypto
import SalesforceSDKCommon

/// The digests of the account files in the secret store, by which an older copy of a file, or none,
/// is not accepted in the place of the file that was written last.
///
/// A write records the digest of the next file before it replaces the present one, and drops the
/// former digest afterwards. So the file has an admissible digest at each moment.
struct AccountDigests: Sendable {
  /// The files that an account may have.
  struct Record: Sendable, Equatable {
    /// The SHA-256 digests of these files.
    var digests: [[UInt8]] = []
    /// Whether the file may be missing: before the first write, and during a deletion.
    var mayBeMissing = false
    /// The lock policy in the newest file, which applies also while the file cannot be read.
    var lockPolicy: LockPolicy?
  }

  /// The knowledge of the secret store about a file.
  enum Knowledge: Equatable {
    /// The file was written before there were digests.
    case earlier
    /// The secret store is damaged, and it is unknown whether there were digests.
    case unknown
    /// There is certainly no such file.
    case noFile
    /// The digest was removed or damaged.
    case lost
    case record(Record)

    /// Whether the file may have this content.
    ///
    /// - Parameter bytes: `nil` for no file.
    func admits(_ bytes: [UInt8]?) -> Bool {
      switch self {
      case .earlier, .unknown: true
      case .noFile, .lost: bytes == nil
      case .record(let record):
        bytes.map { record.digests.contains(AccountDigests.digest(of: $0)) } ?? record.mayBeMissing
      }
    }
  }

  let store: any SecretStore

  private static let service = "com.salesforce.userAccount.file"
  /// The mark that every file has a digest.
  private static let mark = SecretName(service: "com.salesforce.userAccount.files")

  static func digest(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

  private static func name(_ place: String) -> SecretName {
    SecretName(service: service, account: place)
  }

  // MARK: - Reading

  /// Whether every file has a digest; also true if that cannot be known.
  func isInUse() throws(AccountError) -> Bool { try mark() != .earlier }

  /// The knowledge about a file that certainly has no digest.
  private func mark() throws(AccountError) -> Knowledge {
    do throws(SecretStoreError) {
      return try store.read(Self.mark) == nil ? .earlier : .noFile
    } catch {
      switch error.code {
      case .damaged: return .noFile
      case .corrupt: return .unknown
      default: throw AccountSecrets.unavailable(error)
      }
    }
  }

  /// Returns what is known about the file of an account.
  ///
  /// - Throws: ``AccountError`` `keyUnavailable`, `keyMissing`.
  func knowledge(of place: String) throws(AccountError) -> Knowledge {
    let bytes: [UInt8]?
    do throws(SecretStoreError) {
      bytes = try store.read(Self.name(place))
    } catch {
      switch error.code {
      case .damaged: return .lost
      case .corrupt: return try mark() == .noFile ? .lost : .unknown
      default: throw AccountSecrets.unavailable(error)
      }
    }
    guard let bytes else { return try mark() }
    return Record(bytes).map { .record($0) } ?? .lost
  }

  /// The record of a file; `nil` without one that can be read.
  func record(of place: String) throws(AccountError) -> Record? {
    guard case .record(let record) = try knowledge(of: place) else { return nil }
    return record
  }

  /// The locations of the files that have to exist.
  func places() throws(AccountError) -> [String] {
    let names: [SecretName]
    do throws(SecretStoreError) {
      names = try store.list()
    } catch {
      throw AccountSecrets.unavailable(error)
    }
    return names.compactMap { $0.service == Self.service && $0.group == nil ? $0.account : nil }
  }

  // MARK: - Writing

  /// Marks that every file has a digest.
  func start() throws(AccountError) { try put([1], Self.mark) }

  /// Adds the digest of a file of an earlier version, unless it has one.
  func adopt(_ bytes: [UInt8], of account: UserAccount, at place: String) throws(AccountError) {
    let record = Record(digests: [Self.digest(of: bytes)], lockPolicy: account.lockPolicy)
    do throws(SecretStoreError) {
      _ = try store.readOrCreate(Self.name(place)) { record.bytes }
    } catch {
      throw AccountSecrets.notWritten(error)
    }
  }

  func write(_ record: Record, of place: String) throws(AccountError) {
    try put(record.bytes, Self.name(place))
  }

  func remove(_ place: String) throws(AccountError) { try put(nil, Self.name(place)) }

  private func put(_ wanted: [UInt8]?, _ name: SecretName) throws(AccountError) {
    do throws(SecretStoreError) {
      if try store.read(name) == wanted { return }
    } catch {
      // It is written or removed all the same.
    }
    do throws(SecretStoreError) {
      if let wanted { try store.write(wanted, for: name) } else { try store.remove(name) }
    } catch {
      throw AccountSecrets.notWritten(error)
    }
  }
}

extension AccountDigests.Record {
  /// Reads the stored form; `nil` if it is not one.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONSlice(parsing: bytes), json["version"]?.int64 == 1,
      let texts = json["digests"]?.elements.map({ $0.string.flatMap { Hex.decode($0) } })
    else { return nil }
    digests = texts.compactMap { $0 }
    guard digests.count == texts.count else { return nil }
    mayBeMissing = json["mayBeMissing"]?.bool ?? false
    lockPolicy = json["lockPolicy"].flatMap { LockPolicy($0) }
  }

  /// `{"version": 1, "digests": [hex], "mayBeMissing": true, "lockPolicy": {}}`.
  var bytes: [UInt8] {
    var object: JSONObject = [
      "version": 1, "digests": .array(digests.map { .string(Hex.encode($0)) }),
    ]
    if mayBeMissing { object["mayBeMissing"] = true }
    if let lockPolicy { object["lockPolicy"] = .object(lockPolicy.json) }
    return Array(JSONValue.object(object).text.utf8)
  }
}
