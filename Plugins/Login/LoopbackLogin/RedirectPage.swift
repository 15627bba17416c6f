import Foundation
import SalesforceSDKCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A file that leads a browser to an address. Only this user may read it.
///
/// Every user of a machine sees the arguments of its programs, and the address of a login holds its state and
/// challenge, or opens a session by itself. So the program that opens the browser gets the name of this file.
struct RedirectPage {
  let file: URL

  /// Makes the file in `folder`, under a name that does not exist.
  ///
  /// - Throws: `OAuthError` `browserLaunchFailed`.
  init(to url: URL, in folder: URL) throws(OAuthError) {
    Self.removeStale(in: folder)
    file = folder.appending(path: "\(Self.prefix)\(UUID().uuidString)\(Self.suffix)")
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(file) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: Data(Self.html(url).utf8))
      try handle.close()
    } catch {
      unlink(file.path)
      throw Self.failure(file)
    }
  }

  private static let prefix = "fieldforce-login-"
  private static let suffix = ".html"
  /// Programs remove their files sooner than that: 10 minutes.
  private static let longestUse: Duration = .seconds(600)

  /// Removes the files of programs that ended before they could.
  private static func removeStale(in folder: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
      guard UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
      else { continue }
      let path = folder.appending(path: name).path
      var status = stat()
      guard lstat(path, &status) == 0, status.st_uid == geteuid() else { continue }
      let age = Date().timeIntervalSince1970 - Double(modificationSeconds(status))
      if age > Double(longestUse.components.seconds) { unlink(path) }
    }
  }

  private static func modificationSeconds(_ status: stat) -> Int {
    #if canImport(Darwin)
      status.st_mtimespec.tv_sec
    #else
      status.st_mtim.tv_sec
    #endif
  }

  /// Removes the file.
  func remove() { unlink(file.path) }

  /// The home folder: browsers that run confined read no hidden and no temporary files.
  static var usualFolder: URL {
    let home = FileManager.default.homeDirectoryForCurrentUser
    return access(home.path, W_OK) == 0 ? home : FileManager.default.temporaryDirectory
  }

  static func html(_ url: URL) -> String {
    let address = url.absoluteString
      .replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
      .replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    return """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>Login</title>
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=\(address)"></head>
      <body><a rel="noreferrer" href="\(address)">Continue to the login</a></body></html>

      """
  }

  private static func failure(_ file: URL) -> OAuthError {
    OAuthError(
      .browserLaunchFailed,
      "Cannot write \(file.path), which leads the browser to the login page. Open the page yourself."
    )
  }
}
