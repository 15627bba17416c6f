import Synchronization

/// A secret store in memory: for tests, and for programs that must write nothing to disk.
public final class InMemorySecretStore: SecretStore {
  private struct State {
    var secrets: [SecretName: [UInt8]] = [:]
    var isLocked = false
  }

  private let state = Mutex(State())

  /// An empty store.
  public init() {}

  /// `memory`.
  public var protection: SecretProtection { .memory }

  /// Locks or unlocks the store. While it is locked, every call throws `locked`, like a system's
  /// secret service before its user has logged in.
  public func setLocked(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }

  public func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? {
    try withUnlocked { state throws(SecretStoreError) in state.secrets[name] }
  }

  @discardableResult
  public func update(
    _ name: SecretName,
    _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? {
    try withUnlocked { state throws(SecretStoreError) in
      let secret = try change(state.secrets[name])
      state.secrets[name] = secret
      return secret
    }
  }

  public func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try withUnlocked { state throws(SecretStoreError) in state.secrets[name] = secret }
  }

  @discardableResult
  public func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
    try withUnlocked { state throws(SecretStoreError) in
      state.secrets.removeValue(forKey: name) != nil
    }
  }

  public func list() throws(SecretStoreError) -> [SecretName] {
    try withUnlocked { state throws(SecretStoreError) in Array(state.secrets.keys) }
  }

  private func withUnlocked<R: Sendable>(
    _ body: (inout State) throws(SecretStoreError) -> R
  ) throws(SecretStoreError) -> R {
    try state.withLock { state throws(SecretStoreError) in
      guard !state.isLocked else {
        throw SecretStoreError(.locked, "The secret store is locked. Unlock it and try again.")
      }
      return try body(&state)
    }
  }
}
