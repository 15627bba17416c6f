public import Foundation

// The text that `localizedDescription` returns, for alerts.

extension JSONError: LocalizedError {
  /// The message, with the offset that it is about.
  public var errorDescription: String? { description }
}

extension LogError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension PreferencesError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}

extension SecretStoreError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
