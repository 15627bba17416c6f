/// A user interface for the questions of the system's authentication.
public protocol SystemPrompt: Sendable {
  /// Returns the user's input for a question; `nil` if the user cancels.
  ///
  /// - Parameters:
  ///   - question: The system's text, such as `Password: `.
  ///   - isHidden: Whether the input must not be visible while the user types it.
  func input(for question: String, isHidden: Bool) async -> String?

  /// Shows a text of the system that needs no input.
  func show(_ text: String, isError: Bool) async
}
