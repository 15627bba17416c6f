import Foundation
import TestSupport
import Testing

@testable import HybridServer

/// What is served if another process exchanges files between the check of a path and the reading?
struct ServedFolderTests {
  private let folder: TemporaryFolder
  private let www: URL

  init() throws {
    folder = try TemporaryFolder()
    www = folder.file("www")
    for path in ["www/a/b/page.txt", "outside/b/page.txt", "outside/page.txt"] {
      let file = folder.file(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data((path.hasPrefix("www") ? "inside" : "secret").utf8).write(to: file)
    }
  }

  private func content(_ served: ServedFolder, after exchange: () throws -> Void) throws -> [UInt8]?
  {
    let file = try #require(served.file("a/b/page.txt"))
    try exchange()
    return ServedFolder.contents(of: file, maxBytes: 1000)
  }

  @Test(
    .covers("HT-3"),
    arguments: [
      ("www/a/b/page.txt", "outside/page.txt"), ("www/a/b", "outside"), ("www/a/b", "outside/b"),
      ("www/a", "outside"), ("www/a/b/page.txt", "www/a/other.txt"),
    ])
  func `a link that takes the place of a file or folder after the check is not followed`(
    place: String, target: String
  ) throws {
    let served = try #require(ServedFolder(www))
    try Data("inside".utf8).write(to: folder.file("www/a/other.txt"))
    let manager = FileManager.default
    let bytes = try content(served) {
      let old = folder.file(place)
      try manager.moveItem(at: old, to: folder.file("old"))
      try manager.createSymbolicLink(at: old, withDestinationURL: folder.file(target))
    }
    #expect(bytes == nil)
  }

  @Test(.covers("HT-3"))
  func `a pipe, a folder or a longer file that takes the place of a file is not read`() throws {
    let served = try #require(ServedFolder(www))
    let file = folder.file("www/a/b/page.txt")
    let manager = FileManager.default
    #expect(try content(served) {} == Array("inside".utf8))
    let longer = try content(served) { try Data(repeating: 7, count: 1001).write(to: file) }
    #expect(longer == nil)
    let pipe = try content(served) {
      try manager.removeItem(at: file)
      #expect(mkfifo(file.path, 0o600) == 0)
    }
    #expect(pipe == nil)
    try manager.removeItem(at: file)
    try Data("inside".utf8).write(to: file)
    let folder = try content(served) {
      try manager.removeItem(at: file)
      try manager.createDirectory(at: file, withIntermediateDirectories: false)
    }
    #expect(folder == nil)
  }

  @Test(.covers("HT-3"))
  func `a link inside of the folder is read as the file that it led to at the check`() throws {
    let served = try #require(ServedFolder(www))
    let link = folder.file("www/link.txt")
    let manager = FileManager.default
    try manager.createSymbolicLink(
      at: link, withDestinationURL: folder.file("www/a/b/page.txt"))
    let file = try #require(served.file("link.txt"))
    try manager.removeItem(at: link)
    try manager.createSymbolicLink(
      at: link, withDestinationURL: folder.file("outside/page.txt"))
    #expect(ServedFolder.contents(of: file, maxBytes: 1000) == Array("inside".utf8))
    #expect(served.file("link.txt") == nil)
  }
}
