import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files that are either as they were or as they shall be, also after a power cut.
enum DurableFile {
  /// The content; `nil` if there is no such file.
  ///
  /// - Throws: ``AccountError`` `readFailed`.
  static func read(_ path: String) throws(AccountError) -> [UInt8]? {
    do {
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw AccountError(.readFailed, "\(path) cannot be read", cause: error)
    }
  }

  /// Replaces the content: a new file is written and synced, takes the name of the old one, and the
  /// folder is synced.
  ///
  /// - Throws: ``AccountError`` `writeFailed`; then the old content is still there.
  static func write(_ bytes: [UInt8], to path: String) throws(AccountError) {
    let draft = "\(path).\(UUID().uuidString).new"
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("created", draft) }
    do throws(AccountError) {
      try fill(file, with: bytes, draft)
    } catch {
      close(file)
      unlink(draft)
      throw error
    }
    close(file)
    guard rename(draft, path) == 0 else {
      let error = failure("renamed", draft)
      unlink(draft)
      throw error
    }
    try syncFolder(of: path)
  }

  /// Gives a file another name.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  static func move(_ path: String, to newPath: String) throws(AccountError) {
    guard rename(path, newPath) == 0 else { throw failure("renamed", path) }
    try syncFolder(of: path)
  }

  /// Removes a file; one that is missing is no error.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  static func remove(_ path: String) throws(AccountError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("removed", path) }
    guard access(folder(of: path), F_OK) == 0 else { return }
    try syncFolder(of: path)
  }

  /// Makes a folder for its owner alone, with those above it.
  ///
  /// - Throws: ``AccountError`` `writeFailed`.
  static func makeFolder(_ path: String) throws(AccountError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw AccountError(.writeFailed, "the folder \(path) cannot be made", cause: error)
    }
  }

  /// Removes a folder if it is empty; otherwise it stays.
  static func removeFolderIfEmpty(_ path: String) {
    rmdir(path)
  }

  private static func fill(
    _ file: Int32, with bytes: [UInt8], _ path: String
  ) throws(AccountError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { unsafeWrite(file, $0) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("written", path) }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0 else { throw failure("synced", path) }
  }

  private static func unsafeWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(file, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      Musl.write(file, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(file, bytes.baseAddress, bytes.count)
    #endif
  }

  private static func syncFolder(of path: String) throws(AccountError) {
    let folder = folder(of: path)
    let file = open(folder, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("opened", folder) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure("synced", folder) }
  }

  private static func folder(of path: String) -> String {
    URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
  }

  private static func failure(_ what: String, _ path: String) -> AccountError {
    let reason = String(cString: strerror(errno))
    return AccountError(.writeFailed, "\(path) could not be \(what): \(reason)")
  }
}
