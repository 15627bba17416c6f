import Crypto
import Foundation

@testable import MobileSync
@testable import SalesforceSDKCommon
@testable import SalesforceSDKCore
@testable import SmartStore

/// Files of the state folder, bundles and configurations.
extension FuzzedParser {
  static let rescue = FuzzedParser(name: "rescue") { (bytes) throws(Finding) in
    let (form, bytes) = choice(bytes, of: 2)
    if form == 0 {
      _ = try? RescueBundle(content: bytes)
    } else if let key = try? RescueKey.privateKey(
      Data(repeating: 7, count: 32).base64EncodedString())
    {
      _ = try? RescueSeal.decrypt(withDigest(bytes), with: key)
    }
  }

  /// The bytes with the checksum that the header of a bundle needs, so that the fuzzer gets beyond it.
  private static func withDigest(_ bytes: [UInt8]) -> [UInt8] {
    let lengths = 11
    guard bytes.count > lengths else { return bytes }
    let text = Int(bytes[9]) << 8 | Int(bytes[10])
    let end = lengths + text + 32
    guard bytes.count >= end + 32 else { return bytes }
    return bytes[..<end] + Array(SHA256.hash(data: bytes[..<end])) + bytes[(end + 32)...]
  }

  static let keyFiles = FuzzedParser(name: "key-files") { (bytes) throws(Finding) in
    let (form, bytes) = choice(bytes, of: 5)
    switch form {
    case 0:
      // With its checksum, so that the fuzzer gets beyond it.
      let whole = bytes + Array(SHA256.hash(data: bytes))
      if let file = try? StoreKeyFile(parsing: whole) {
        try require(file.bytes == whole, "a key file that is read and written is the same")
      }
      _ = try? StoreKeyFile(parsing: bytes)
    case 1:
      guard let key = MasterKey(Array(repeating: 7, count: MasterKey.size)) else { return }
      _ = try? SecretFile(bytes, masterKey: key, path: "keychain.db")
    case 2:
      _ = try? SealedKeyFile.Form(bytes, path: "master.key", own: SealedKeyFile.Cost())
    case 3:
      if let record = PasscodeRecord(bytes) {
        try require(
          PasscodeRecord(record.bytes)?.isSamePasscode(as: record) == true,
          "a record that is written and read is the same")
      }
    default:
      guard let key = EncryptionKey(Array(repeating: 7, count: 32)) else { return }
      let binding = KeyValueBinding(key: key)
      _ = KeyValueFormat.format(of: bytes)
      _ = KeyValueFormat.isBound(bytes, to: binding)
      _ = try? KeyValueFormat(bytes, binding)
    }
  }

  static let storeFiles = FuzzedParser(name: "store-files") { (bytes) throws(Finding) in
    let header = bytes.withUnsafeBytes { DatabaseHeader($0) }
    try require(bytes.count >= 100 || header.kind == .foreign, "a header has 100 bytes")
  }

  static let wal = FuzzedParser(name: "wal") { (bytes) throws(Finding) in
    let key = SymmetricKey(data: Data(repeating: 7, count: 32))
    var frame = Array(bytes.prefix(24))
    if frame.count == 24 {
      let isRestored = frame.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return false }
        return WALFormat.hideFrame(start, key: key) && WALFormat.restoreFrame(start, key: key)
      }
      try require(
        !isRestored || frame == Array(bytes.prefix(24)),
        "a frame that is hidden and restored is the same")
    }
    guard let keys = StoreKeys(storeID: storeID, dataKeys: [(1, key)]) else { return }
    _ = AnchorFormat.anchor(in: bytes, keys: keys, cipher: AESGCMCipher())
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    guard (try? Data(bytes).write(to: file)) != nil else { return }
    if let log = try? CommittedWAL(file.path, keys: keys, cipher: AESGCMCipher()) {
      // A page of 4 KiB and its header for each.
      try require(log.pages.count <= bytes.count / 4096, "a page of a WAL is in its file")
    }
  }

  private static let storeID = UUID(uuid: (7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7))

  /// The documents of syncs in a store. Other programs write them too, such as the original SDK.
  static let syncStates = FuzzedParser(name: "sync-states") { (bytes) throws(Finding) in
    let (form, bytes) = choice(bytes, of: 4)
    guard let json = try? JSONSlice(parsing: bytes) else { return }
    switch form {
    case 0:
      guard let state = try? SyncState(json: json), state.id >= 0 else { return }
      let again = try? SyncState(json: slice(state.json))
      try require(
        again?.json == state.json, "the state of a sync that is written and read is the same")
    case 1:
      guard let conflict = SyncConflict(json: json) else { return }
      let again = (try? slice(conflict.json)).flatMap(SyncConflict.init(json:))
      try require(
        again?.json == conflict.json, "a conflict that is written and read is the same")
    case 2: _ = SyncRecordOutcome(json: json)
    default: _ = UnacknowledgedMark(json: json)
    }
  }

  private static func slice(_ object: JSONObject) throws(JSONError) -> JSONSlice {
    try JSONSlice(parsing: JSONValue.object(object).text)
  }

  static let configurations = FuzzedParser(name: "configurations") { (bytes) throws(Finding) in
    _ = StoreConfiguration(parsing: bytes, file: "userstore.json")
    _ = SyncsConfig(parsing: bytes, file: "usersyncs.json", registry: SyncTargetRegistry())
    _ = try? ManagedConfiguration(parsing: bytes)
    _ = try? OrgAuthConfiguration(parsing: bytes)
  }
}
