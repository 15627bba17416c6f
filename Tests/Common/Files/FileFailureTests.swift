import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Does each step that the system refuses fail, with the system's reason, and leave nothing behind?
struct FileFailureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The system's number for what refused `work`; nil if nothing did.
  private func refusal(_ work: () throws -> Void) -> Int32? {
    do {
      try work()
      return nil
    } catch {
      return (error as? FileFailure)?.errno
    }
  }

  /// A link that leads to itself, which cannot be followed, not even by the superuser.
  private func loop() throws -> URL {
    let link = folder.file("loop")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: link)
    return link
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  // MARK: Whole files

  @Test func `nothing but a regular file is read as one`() throws {
    let pipe = folder.file("pipe").path
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(refusal { _ = try DurableFile(path: pipe).read() } == EINVAL)
    #expect(refusal { _ = try DurableFile(folder.url).read() } == EINVAL)
  }

  @Test func `what cannot be examined is neither missing nor no folder`() throws {
    let loop = try loop()
    #expect(refusal { _ = try DurableFile(loop).isFolder() } == ELOOP)
    #expect(refusal { _ = try DurableFile(loop).size() } == ELOOP)
    #expect(try DurableFile(folder.file("missing")).isFolder() == false)
    #expect(try DurableFile(folder.file("missing")).size() == nil)
    #expect(try DurableFile(folder.url).isFolder())
  }

  @Test func `a folder is not replaced, renamed away or removed as a file is`() throws {
    let inner = folder.file("folder/inner")
    try DurableFile(inner).replace(with: [1])
    let file = DurableFile(folder.file("folder"))
    #expect(refusal { try file.replace(with: [2]) } == EISDIR)
    #expect(refusal { try file.remove() } != nil)
    #expect(try names == ["folder"])
    #expect(try DurableFile(inner).read() == [1])
    let missing = DurableFile(folder.file("missing"))
    #expect(refusal { try missing.move(to: folder.file("other")) } == ENOENT)
  }

  @Test func `a name that is too long is refused by that reason, and leaves nothing`() throws {
    let name = String(repeating: "n", count: 254)
    #expect(refusal { try DurableFile(folder.file(name)).replace(with: [1]) } == ENAMETOOLONG)
    #expect(try names.isEmpty)
  }

  @Test func `a folder that cannot be made is refused`() throws {
    #expect(refusal { try DurableFile.makeFolder("") } == ENOENT)
    try DurableFile(folder.file("file")).replace(with: [1])
    #expect(refusal { try DurableFile.makeFolder(folder.file("file").path) } == ENOTDIR)
    let dangling = folder.file("dangling")
    try FileManager.default.createSymbolicLink(
      at: dangling, withDestinationURL: folder.file("nowhere"))
    #expect(refusal { try DurableFile.makeFolder(dangling.path) } == ENOENT)
    #expect(refusal { try DurableFile.syncFolder(folder.file("nowhere").path) } == ENOENT)
    // Success does not depend on what failed before.
    let new = folder.file("new").path
    errno = 0
    try DurableFile.makeFolder(new)
    #expect(try DurableFile(path: new).isFolder())
  }

  #if os(Linux)
    @Test(
      .enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel/mm/ksm/run"), "no /sys"),
      .timeLimit(.minutes(1)))
    func `a file that is shorter than the system says is read to its end`() throws {
      let file = DurableFile(path: "/sys/kernel/mm/ksm/run")
      let bytes = try #require(try file.read())
      #expect(try file.size() ?? 0 > UInt64(bytes.count))
    }
  #endif

  // MARK: Open files

  @Test(.timeLimit(.minutes(1)))
  func `an open file that cannot be read, written or moved in says why`() throws {
    #expect(refusal { _ = try OpenFile.reading(folder.file("missing")) } == ENOENT)
    let directory = try OpenFile.reading(folder.url)
    #expect(refusal { _ = try directory.read(10) } == EISDIR)
    #expect(refusal { _ = try directory.read(10, at: 0) } == EISDIR)
    #expect(
      refusal {
        var space = [UInt8](repeating: 0, count: 10)
        try space.withUnsafeMutableBytes { _ = try directory.read(into: $0) }
      } == EISDIR)
    #expect(try !directory.isRegular())

    let url = folder.file("file")
    try DurableFile(url).replace(with: [1, 2, 3])
    let file = try OpenFile.reading(url)
    #expect(try file.read(10) == [1, 2, 3] && file.read(10, at: 1) == [2, 3])
    #expect(refusal { try file.write([4]) } == EBADF)
    #expect(refusal { try file.write([4], at: 0) } == EBADF)
    #expect(refusal { try file.truncate(to: 1) } == EINVAL)
    #expect(refusal { try file.seek(to: -1) } == EINVAL)
    #expect(try file.size() == 3 && file.isRegular())
    let device = try OpenFile.reading(URL(fileURLWithPath: "/dev/null"))
    #expect(refusal { try device.sync() } == EINVAL)
    #expect(
      refusal { _ = try OpenFile.appending(URL(fileURLWithPath: "/dev/null")) } == EINVAL)
  }

  @Test func `a file with a second name, or that others may write to, is not appended to`() throws {
    let url = folder.file("file")
    try DurableFile(url).replace(with: [1])
    try OpenFile.appending(url).write([2])
    try FileManager.default.linkItem(at: url, to: folder.file("link"))
    #expect(refusal { _ = try OpenFile.appending(url) } == EPERM)
    try FileManager.default.removeItem(at: folder.file("link"))
    #expect(chmod(url.path, 0o620) == 0)
    #expect(refusal { _ = try OpenFile.appending(url) } == EPERM)
    #expect(try DurableFile(url).read() == [1, 2])
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func `a file of another user is not appended to`() throws {
    let url = folder.file("file")
    try DurableFile(url).replace(with: [1])
    #expect(chown(url.path, 12_345, 12_345) == 0)
    #expect(refusal { _ = try OpenFile.appending(url) } == EPERM)
  }

  @Test func `a lock in a folder that is missing is refused by that reason`() throws {
    #expect(refusal { _ = try FileLock.take(folder.file("missing/lock").path) == nil } == ENOENT)
  }
}
