import Foundation

/// The files of the page, all in memory, so that no path of a request ever meets the file system.
struct PageFiles: Sendable {
  struct File: Sendable {
    let bytes: [UInt8]
    let type: String
  }

  private var files: [String: File] = [:]

  private static let types = [
    "html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
  ]

  /// - Throws: ``InspectorError`` `noPage`.
  init() throws(InspectorError) {
    guard let folder = Bundle.module.url(forResource: "www", withExtension: nil),
      let names = FileManager.default.enumerator(atPath: folder.path)
    else { throw Self.missing }
    for case let name as String in names {
      guard let type = Self.types[(name as NSString).pathExtension] else { continue }
      guard let data = FileManager.default.contents(atPath: folder.appending(path: name).path)
      else {
        throw Self.missing
      }
      files[name] = File(bytes: [UInt8](data), type: "\(type); charset=utf-8")
    }
    guard files["index.html"] != nil else { throw Self.missing }
  }

  /// The file with that name, as it is in a path; an empty one is the page itself.
  subscript(name: String) -> File? { files[name.isEmpty ? "index.html" : name] }

  private static var missing: InspectorError {
    InspectorError(
      .noPage,
      "Cannot show the inspector: the folder www is missing where the program is. Install the program again."
    )
  }
}
