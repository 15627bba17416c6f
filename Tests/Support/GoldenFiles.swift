public import Foundation

/// Files that earlier versions wrote, see `Tests/Golden/README.md`.
public enum GoldenFiles: Sendable {
  /// Copies a folder of `Tests/Golden` to `place`, readable for this user alone: version control does not keep
  /// that.
  public static func copy(_ name: String, to place: URL) throws {
    let files = FileManager.default
    let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Golden").appending(path: name)
    try files.copyItem(at: source, to: place)
    for path in [""] + (try files.subpathsOfDirectory(atPath: place.path)) {
      let item = path.isEmpty ? place : place.appending(path: path)
      let isFolder = try item.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
      try files.setAttributes(
        [.posixPermissions: isFolder ? 0o700 : 0o600], ofItemAtPath: item.path)
    }
  }
}
