extension SmartStoreError {
  /// The message, and the ``detail`` on a line of its own.
  public var errorDescription: String? {
    guard let detail, !message.contains(detail) else { return message }
    return "\(message)\n\(detail)"
  }
}
