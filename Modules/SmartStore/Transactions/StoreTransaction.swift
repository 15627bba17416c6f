/// A write transaction: all of its changes are committed, or none are.
///
/// ``SmartStore/inTransaction(durability:_:)`` passes it to its closure; it is valid only there. It reads its
/// own writes. A call that fails leaves the soup as it was before the call. If the closure catches the error,
/// the transaction continues; otherwise it is rolled back.
public struct StoreTransaction: StoreReading, ~Copyable {
  public let access: StoreAccess

  init(_ access: StoreAccess) {
    self.access = access
  }

  /// Runs `body` as part of this transaction. If it throws, the whole transaction is rolled back,
  /// even if the error is caught.
  @discardableResult
  public borrowing func inTransaction<T>(
    _ body: (borrowing StoreTransaction) throws -> T
  ) throws -> T {
    do {
      return try body(self)
    } catch {
      access.fail(
        error as? SmartStoreError
          ?? SmartStoreError(
            .interrupted, "A nested transaction failed, so the whole was rolled back.",
            cause: error))
      throw error
    }
  }
}

@available(*, unavailable)
extension StoreTransaction: Sendable {}
