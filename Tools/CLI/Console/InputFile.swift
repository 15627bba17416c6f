import Foundation
import SalesforceSDKCommon

/// A file that the user named.
enum InputFile {
  /// Reads all of it.
  ///
  /// - Throws: ``CommandFailure`` `unreadable`, naming the file.
  static func read(_ url: URL) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: url))
    } catch {
      throw CommandFailure("unreadable", "Cannot read \(url.path). Does the file exist?")
    }
  }

  /// Reads all of it as one JSON document.
  ///
  /// - Throws: ``CommandFailure`` `unreadable` or `invalidData`, naming the file.
  static func json(_ url: URL) throws -> JSONSlice {
    let bytes = try read(url)
    do {
      return try JSONSlice(parsing: bytes)
    } catch {
      throw CommandFailure("invalidData", "\(url.path) is not valid JSON: \(error.message)")
    }
  }
}
