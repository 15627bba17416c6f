public import Foundation

extension HybridServerError: LocalizedError {
  /// The message.
  public var errorDescription: String? { message }
}
