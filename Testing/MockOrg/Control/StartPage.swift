import Foundation

/// The page that a browser finds at the org's address, and the files that it is made of.
enum StartPage {
  /// One of the page's files.
  struct File: Sendable {
    let bytes: [UInt8]
    let contentType: String
  }

  /// Read once from the package's resources.
  private static let files: [String: File] = {
    let types = ["html": "text/html", "css": "text/css", "js": "text/javascript"]
    guard let folder = Bundle.module.url(forResource: "Resources/Start", withExtension: nil),
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    else { return [:] }
    var files: [String: File] = [:]
    for name in names {
      let url = folder.appending(path: name)
      guard let type = types[url.pathExtension], let data = try? Data(contentsOf: url) else {
        continue
      }
      files[name] = File(bytes: Array(data), contentType: "\(type); charset=utf-8")
    }
    return files
  }()

  /// The file of a name; nil if the page has none.
  static func file(named name: String) -> File? { files[name] }
}
