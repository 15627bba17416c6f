public import Foundation
import SalesforceSDKCommon

/// The name of one installation of a program, which login servers see as the device (CO-11).
public enum InstallationId: Sendable {
  /// The name of the installation whose data lies below `root`: random, made at the first call, and
  /// the same from then on until the folder is removed. Processes that share the folder share it.
  ///
  /// - Throws: ``AccountError`` `readFailed` or `writeFailed`.
  public static func load(in root: URL) throws(AccountError) -> String {
    let url = root.appending(path: "installation-id")
    if let id = try read(url) { return id }
    let id = UUID().uuidString
    do throws(FileFailure) {
      if try DurableFile(url).create(Array(id.utf8)) { return id }
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
    // Another process was faster.
    return try read(url) ?? id
  }

  private static func read(_ url: URL) throws(AccountError) -> String? {
    guard let bytes = try AccountDisk.read(url), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self).trimmed
  }
}
