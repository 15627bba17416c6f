/// A snapshot of a store, for several reads.
///
/// ``SmartStore/read(_:)`` passes it to its closure; it is valid only there. All results are from the same
/// snapshot, even if other tasks write at the same time.
public struct StoreReader: StoreReading, ~Copyable {
  public let access: StoreAccess

  init(_ access: StoreAccess) {
    self.access = access
  }
}

@available(*, unavailable)
extension StoreReader: Sendable {}

/// The reading calls that ``StoreReader`` and ``StoreTransaction`` have in common.
///
/// Its calls are synchronous, and throw ``SmartStoreError``.
public protocol StoreReading: ~Copyable {
  /// The access to the snapshot.
  var access: StoreAccess { get }
}
