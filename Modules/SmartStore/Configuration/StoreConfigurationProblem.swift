/// A problem in a file of soups: an error, or a probable mistake.
public struct StoreConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
  /// The file's name.
  public let file: String
  /// The line, counted from 1.
  public let line: Int
  /// The column in bytes, counted from 1.
  public let column: Int
  /// The place in the JSON, such as `soups[2].indexes[0].type`; empty for the file as a whole.
  public let path: String
  /// The problem and its remedy, and which soup is left out because of it.
  public internal(set) var message: String
  /// Whether the soup is registered in spite of it.
  public let isWarning: Bool

  /// `file:line:column: message (path)`.
  public var description: String {
    "\(file):\(line):\(column): \(isWarning ? "warning" : "error"): \(message)"
      + (path.isEmpty ? "" : " (\(path))")
  }
}
