public import Foundation

extension HybridError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
