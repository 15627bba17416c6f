import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Operations on the files of accounts. Each file has either its old or its new content, also after
/// a power failure.
enum AccountDisk {
  /// The maximum size of an account's file: 64 MiB.
  private static let maxBytes = 64 << 20

  /// The content; `nil` if there is no such file. One of more than 64 MiB is not read, and none of a folder in
  /// which other users may exchange it.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  static func read(_ url: URL) throws(AccountError) -> [UInt8]? {
    do throws(FileFailure) {
      try DurableFile(url).checkFolder()
      return try DurableFile(url).read(maxBytes: maxBytes)
    } catch {
      throw AccountError(.readFailed, "\(error)", cause: error)
    }
  }

  /// Replaces the content, and creates the folder if it is missing.
  ///
  /// - Throws: ``AccountError`` `writeFailed`; then the old content remains.
  static func write(_ bytes: [UInt8], to url: URL) throws(AccountError) {
    do throws(FileFailure) {
      try DurableFile(url).makeOwnFolder()
      try DurableFile(url).replace(with: bytes)
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  /// Returns the folders inside a folder; an empty array if it does not exist. The list omits
  /// folders that another process removes in the meantime.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  static func folders(in url: URL) throws(AccountError) -> [URL] {
    let names: [String]
    do {
      // By path: with a URL, Linux reports a folder that cannot be read as empty.
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      guard DurableFile(url).exists else { return [] }
      throw AccountError(.readFailed, "The folder \(url.path) cannot be read.", cause: error)
    }
    do throws(FileFailure) {
      try DurableFile.checkFolder(url.path)
      var folders: [URL] = []
      for name in names {
        let inner = url.appending(path: name)
        if try DurableFile(inner).isFolder() { folders.append(inner) }
      }
      return folders
    } catch {
      throw AccountError(.readFailed, "\(error)", cause: error)
    }
  }

  /// Renames a file that cannot be read within its folder, and returns the new name.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  @discardableResult
  static func setAside(_ url: URL) throws(AccountError) -> URL {
    do throws(FileFailure) {
      return try DurableFile(url).setAside()
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  /// Removes a file. Succeeds if it does not exist.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  static func remove(_ url: URL) throws(AccountError) {
    do throws(FileFailure) {
      try DurableFile(url).remove()
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  /// Removes a folder if it is empty.
  static func removeFolderIfEmpty(_ url: URL) {
    rmdir(url.path)
  }
}
