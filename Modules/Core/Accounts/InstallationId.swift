public import Foundation
import SalesforceSDKCommon

/// The id of one installation of a program, which login servers use as the device id (CO-11).
public enum InstallationId: Sendable {
  /// Returns the random id of the installation whose data is below `root`. The first call creates
  /// it; it stays the same until the folder is removed. Processes that share the folder share the
  /// id.
  ///
  /// - Throws: ``AccountError`` `readFailed` or `writeFailed`.
  public static func load(in root: URL) throws(AccountError) -> String {
    let url = root.appending(path: "installation-id")
    if let id = try read(url) { return id }
    let id = UUID().uuidString
    try writing { () throws(FileFailure) in _ = try DurableFile(url).create(Array(id.utf8)) }
    // Another process may have created it first.
    if let id = try read(url) { return id }
    // The file exists, and is empty.
    try writing { () throws(FileFailure) in try DurableFile(url).replace(with: Array(id.utf8)) }
    return id
  }

  /// Returns the id of the installation whose data is below `root`, without creating one; nil if there is none.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  package static func existing(in root: URL) throws(AccountError) -> String? {
    try read(root.appending(path: "installation-id"))
  }

  private static func writing(_ write: () throws(FileFailure) -> Void) throws(AccountError) {
    do throws(FileFailure) {
      try write()
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  private static func read(_ url: URL) throws(AccountError) -> String? {
    guard let bytes = try AccountDisk.read(url), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self).trimmed
  }
}
