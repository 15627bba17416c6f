import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file of a folder that is served.
struct ServedFile: Sendable {
  /// The folder's path without links.
  let root: String
  /// The path in the folder, without links.
  let path: String
}

/// A folder whose files, and nothing else, may be served.
struct ServedFolder: Sendable {
  /// The folder's path without links.
  let root: String

  /// - Returns: Nil if there is no such folder.
  init?(_ url: URL) {
    guard let root = Self.resolved(url.path(percentEncoded: false)) else { return nil }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: root, isDirectory: &isFolder), isFolder.boolValue
    else { return nil }
    self.root = root
  }

  /// The regular file at a path that a request named, percent-decoded; nil if there is none, if the path leads
  /// out of the folder, also by links, or if a name in it begins with a dot.
  func file(_ path: String) -> ServedFile? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isInside = parts.allSatisfy { part in
      // Names with a dot in front are those of tools: keys, histories and settings.
      !part.isEmpty && part.utf8.first != UInt8(ascii: ".") && !part.utf8.contains(0)
        && !part.utf8.contains(UInt8(ascii: "\\"))
    }
    guard isInside, let file = Self.resolved(root + "/" + path), file.hasPrefix(root + "/"),
      !file.utf8.dropFirst(root.utf8.count).split(separator: UInt8(ascii: "/"))
        .contains(where: { $0.first == UInt8(ascii: ".") })
    else { return nil }
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let names = file.utf8.dropFirst(root.utf8.count + 1)
    return ServedFile(root: root, path: String(decoding: names, as: UTF8.self))
  }

  /// Reads a file, once; nil if it cannot be read, is no regular file, or has more bytes.
  ///
  /// Its path had no links when it was found. One that has taken the place of a file or folder since is not followed.
  static func contents(of file: ServedFile, maxBytes: Int) -> [UInt8]? {
    try? OpenFile.reading(file.path, in: file.root).readWhole(maxBytes: maxBytes)
  }

  /// Returns the path with its links resolved; nil if it does not exist.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
