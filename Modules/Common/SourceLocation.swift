/// The location in the source code where an error was created: a file of a module and a line.
///
/// Errors of this package get it from default arguments, so it names the line that detected the
/// failure. It contains no machine path and no data.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
  /// Module and file name, such as `SmartStore/Soup.swift`.
  public let fileID: String
  /// The line, counted from 1.
  public let line: Int

  /// Creates a location from `#fileID` and `#line`.
  public init(fileID: String, line: Int) {
    self.fileID = fileID
    self.line = line
  }

  /// Returns the location of the call itself.
  public static func here(fileID: String = #fileID, line: Int = #line) -> SourceLocation {
    SourceLocation(fileID: fileID, line: line)
  }

  /// `file:line`.
  public var description: String { "\(fileID):\(line)" }
}
