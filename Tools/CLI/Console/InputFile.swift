import Foundation

/// A file that the user named.
enum InputFile {
  /// Reads all of it.
  ///
  /// - Throws: ``CommandFailure`` `unreadable`, naming the file.
  static func read(_ url: URL) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: url))
    } catch {
      throw CommandFailure("unreadable", "cannot read \(url.path); does the file exist?")
    }
  }
}
