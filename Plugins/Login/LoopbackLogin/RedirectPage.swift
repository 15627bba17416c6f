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
    file = folder.appending(path: "fieldforce-login-\(UUID().uuidString).html")
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
