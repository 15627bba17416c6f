import Crypto
import Foundation

/// The keys of one open store, derived once from its data-encryption keys.
///
/// Each page contains the number of the epoch whose key encrypted it. New pages use the newest
/// epoch; older epochs stay readable, so that a store can be re-encrypted page by page.
struct StoreKeys: Sendable {
  /// The keys of one epoch.
  struct Epoch: Sendable {
    let number: UInt32
    /// The key that encrypts pages.
    let pageKey: SymmetricKey
    /// The key that hides the checksums in the WAL's frame headers.
    let frameKey: SymmetricKey
    /// The key that encrypts the files of externally stored entries.
    let fileKey: SymmetricKey
    /// The key that encrypts the anchor of the write-ahead log (WAL).
    let anchorKey: SymmetricKey
  }

  let storeID: UUID
  let current: Epoch
  private let older: [Epoch]

  /// Derives the keys of `dataKeys`, of which the one with the highest epoch encrypts new pages.
  ///
  /// - Returns: Nil for an empty list.
  init?(storeID: UUID, dataKeys: [(epoch: UInt32, key: SymmetricKey)]) {
    let epochs = dataKeys.sorted { $0.epoch > $1.epoch }.map { dataKey in
      Epoch(
        number: dataKey.epoch,
        pageKey: Self.derive("page", epoch: dataKey.epoch, from: dataKey.key, storeID: storeID),
        frameKey: Self.derive("frame", epoch: dataKey.epoch, from: dataKey.key, storeID: storeID),
        fileKey: Self.derive("file", epoch: dataKey.epoch, from: dataKey.key, storeID: storeID),
        anchorKey: Self.derive("anchor", epoch: dataKey.epoch, from: dataKey.key, storeID: storeID))
    }
    guard let newest = epochs.first else { return nil }
    self.storeID = storeID
    current = newest
    older = Array(epochs.dropFirst())
  }

  /// Returns the keys of `epoch`, or nil if this store does not have it.
  @inline(__always)
  func epoch(_ number: UInt32) -> Epoch? {
    number == current.number ? current : older.first { $0.number == number }
  }

  private static func derive(
    _ purpose: String, epoch: UInt32, from key: SymmetricKey, storeID: UUID
  ) -> SymmetricKey {
    var info = Array("fieldforce store \(purpose)".utf8)
    withUnsafeBytes(of: epoch.bigEndian) { info.append(contentsOf: $0) }
    return HKDF<SHA256>.deriveKey(
      inputKeyMaterial: key, salt: storeID.bytes, info: info, outputByteCount: 32)
  }
}

extension UUID {
  /// The 16 bytes of the identifier.
  var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}
