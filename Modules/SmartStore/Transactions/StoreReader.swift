/// A snapshot of a store, for several reads.
///
/// Given to the closure of ``SmartStore/read(_:)`` and valid only there. Everything it returns
/// belongs to the same snapshot, whatever is written in that time.
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
  /// The way into the snapshot.
  var access: StoreAccess { get }
}
