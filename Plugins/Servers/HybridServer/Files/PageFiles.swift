import Foundation
import SalesforceSDKCommon

/// The files that pages load: those of the app's www folder and the bridge's own scripts.
struct PageFiles: Sendable {
  /// A file with the type that browsers need for it.
  struct Content: Sendable {
    let bytes: [UInt8]
    let type: String
  }

  let startPage: String
  /// A page's file is in memory as a whole while it is sent: no more than 256 MiB.
  private static let maxBytes = 256 << 20
  private let www: ServedFolder?
  private let scripts: ServedFolder

  /// - Throws: ``HybridServerError`` `noFolder`, `noScripts`.
  init(www: URL?, startPage: String) throws(HybridServerError) {
    self.startPage = startPage
    guard let folder = Bundle.module.url(forResource: "cordova", withExtension: nil),
      let scripts = ServedFolder(folder.deletingLastPathComponent())
    else {
      throw HybridServerError(
        .noScripts,
        "Cannot serve pages: the folder cordova is missing where the program is. Install the program again."
      )
    }
    self.scripts = scripts
    if let www {
      guard let folder = ServedFolder(www) else {
        throw HybridServerError(
          .noFolder,
          "Cannot serve \(www.path(percentEncoded: false)): it is not a folder that can be read. Correct the path."
        )
      }
      self.www = folder
      if folder.file("cordova.js") != nil {
        SalesforceLogger.logger(forComponent: "HybridServer").warning(
          "The file cordova.js in www is not served: pages get the bridge's own.")
      }
    } else {
      self.www = nil
    }
  }

  /// The file for the path of a request behind the token, without query and still percent-encoded; nil if
  /// there is none, or if it has more than 256 MiB.
  @concurrent
  func content(_ encodedPath: Substring) async -> Content? {
    guard let path = String(encodedPath).removingPercentEncoding, let file = file(path),
      let bytes = ServedFolder.contents(of: file, maxBytes: Self.maxBytes)
    else { return nil }
    return Content(bytes: bytes, type: Self.type(ofFile: file.path))
  }

  private func file(_ path: String) -> ServedFile? {
    // The page that a window shows where no other can be.
    if path == "_error" { return scripts.file("cordova/error.html") }
    if path == "cordova.js" { return scripts.file("cordova/cordova.js") }
    // What `cordova prepare` leaves brings plug-ins of its own.
    let hasOwnPlugins = www?.file("cordova_plugins.js") != nil
    if !hasOwnPlugins {
      if path == "cordova_plugins.js" { return scripts.file("cordova/cordova_plugins.js") }
      if path.hasPrefix("plugins/") { return scripts.file(path) }
    }
    return www?.file(path.isEmpty ? startPage : path)
  }

  private static func type(ofFile file: String) -> String {
    let name = file.split(separator: "/").last ?? ""
    let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    return types[ending] ?? "application/octet-stream"
  }

  private static let types = [
    "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8", "json": "application/json", "map": "application/json",
    "txt": "text/plain; charset=utf-8", "xml": "application/xml", "svg": "image/svg+xml",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "ico": "image/x-icon", "bmp": "image/bmp", "woff": "font/woff",
    "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
    "eot": "application/vnd.ms-fontobject",
    "wasm": "application/wasm", "mp3": "audio/mpeg", "mp4": "video/mp4", "webm": "video/webm",
    "pdf": "application/pdf",
  ]
}
