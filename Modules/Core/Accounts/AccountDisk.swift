import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of accounts: each has either its old or its new content, also after a power failure.
enum AccountDisk {
  /// No file of an account is longer: 64 MiB.
  private static let maxBytes = 64 << 20

  /// The content; `nil` if there is no such file. One of more than 64 MiB is not read.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  static func read(_ url: URL) throws(AccountError) -> [UInt8]? {
    do throws(FileFailure) {
      return try DurableFile(url).read(maxBytes: maxBytes)
    } catch {
      throw AccountError(.readFailed, "\(error)", cause: error)
    }
  }

  /// Replaces the content, and makes the folder if it is missing.
  ///
  /// - Throws: ``AccountError`` `writeFailed`; then the old content is still there.
  static func write(_ bytes: [UInt8], to url: URL) throws(AccountError) {
    do throws(FileFailure) {
      try DurableFile(url).replace(with: bytes)
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  /// The folders inside a folder; none if it does not exist. The list leaves out what another process
  /// removes in the meantime.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  static func folders(in url: URL) throws(AccountError) -> [URL] {
    let names: [String]
    do {
      // By path: by URL, Linux takes a folder that cannot be read for an empty one.
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      guard DurableFile(url).exists else { return [] }
      throw AccountError(.readFailed, "The folder \(url.path) cannot be read.", cause: error)
    }
    do throws(FileFailure) {
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

  /// Gives a file that cannot be read another name in the same folder, and returns that name.
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

  /// Removes a file; one that is missing is not an error.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  static func remove(_ url: URL) throws(AccountError) {
    do throws(FileFailure) {
      try DurableFile(url).remove()
    } catch {
      throw AccountError(.writeFailed, "\(error)", cause: error)
    }
  }

  /// Removes a folder if it is empty; otherwise it stays.
  static func removeFolderIfEmpty(_ url: URL) {
    rmdir(url.path)
  }
}
