public import Foundation

/// The key that opens a store after a failed change of its key or encryption.
///
/// ``SmartStoreError/keyStates`` has one for each store of the failed call. It is read from the store's files
/// after the failure.
public struct StoreKeyState: Sendable, Hashable {
  /// One of the two keys of the failed call, or neither of them.
  public enum Key: Sendable, Hashable {
    /// The old key of the call; for `decrypt`, its only key.
    case old
    /// The new key of the call; for `encrypt`, its only key.
    case new
    /// No key: the store is plaintext.
    case none
    /// A key other than those of the call.
    case another
    /// Not known: the key file or the key is missing, damaged or locked, or the disk cannot be
    /// read.
    case unknown
  }

  /// The folder of the store.
  public let directory: URL
  /// The key that opens the store now: ``Key/old`` if both keys of the call are the same.
  public let key: Key
  /// Whether both keys must be kept until the store has been opened for writing and closed again.
  /// Until then a loss of power can restore the other state, or the key is not known.
  public let keepsBothKeys: Bool

  /// The state and the remedy, in one sentence.
  private var sentence: String {
    let keeping = keepsBothKeys ? "; keep both keys until it was opened for writing and closed" : ""
    return switch key {
    case .old: "The old key opens the store\(keeping)."
    case .new: "The new key opens the store\(keeping)."
    case .none: "The store is plaintext\(keeping)."
    case .another: "Neither key of the call opens the store."
    case .unknown: "Which key opens the store could not be found out\(keeping)."
    }
  }

  /// Returns the states as sentences of an error message.
  static func sentence(_ states: [StoreKeyState]) -> String {
    if states.count == 1 { return states[0].sentence }
    let counts = [
      (Key.new, "with the new key"), (.old, "with the old key"), (.none, "without a key"),
    ]
    .map { key, words in (states.count { $0.key == key }, words) }
    let known = counts.reduce(0) { $0 + $1.0 }
    let parts = (counts + [(states.count - known, "with neither or an unknown one")])
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "Of \(states.count) stores open " + parts.joined(separator: ", ") + "."
  }
}

extension SmartStoreError {
  /// Returns this error with the key that opens each of the call's stores.
  func stating(_ states: [StoreKeyState]) -> SmartStoreError {
    var error = self
    error.keyStates = states
    return error
  }
}
