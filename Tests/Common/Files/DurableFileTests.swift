import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Are small files whole, and do failures tell their reason?
struct DurableFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file is replaced as a whole, for its owner alone, in a folder that is made`() throws
  {
    let url = folder.file("a/b/file")
    let file = DurableFile(url)
    #expect(try file.read() == nil && file.size() == nil)
    try file.replace(with: [1, 2, 3])
    try file.replace(with: [4, 5])
    #expect(try file.read() == [4, 5] && file.size() == 2)
    #expect(try file.read(limit: 1) == [4])
    let path = folder.file("a/b").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file"])
    let rights = try [path, url.path].map {
      try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
    }
    #expect(rights == [0o700, 0o600])
    try file.remove()
    try file.remove()
    #expect(try file.read() == nil)
  }

  @Test func `a file of terabytes that were never written is refused, and its start can be read`()
    throws
  {
    let url = folder.file("file")
    let file = DurableFile(url)
    try file.replace(with: [1, 2, 3])
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: 400 << 30)
    try handle.close()
    let error = #expect(throws: FileFailure.self) { try file.read() }
    #expect(error?.errno == EFBIG)
    #expect(try file.read(limit: 3) == [1, 2, 3])
  }

  @Test(.covers("CA-6.1"))
  func `who has the old file open sees nothing of the new one`() throws {
    let url = folder.file("file")
    try DurableFile(url).replace(with: [1, 2, 3])
    let reader = try FileHandle(forReadingFrom: url)
    try DurableFile(url).replace(with: [4])
    #expect(try reader.readToEnd() == Data([1, 2, 3]))
    try reader.close()
  }

  @Test func `a file that is there already is not created again`() throws {
    let file = DurableFile(folder.file("file"))
    #expect(try file.create([1]))
    #expect(try file.create([2]) == false)
    #expect(try file.read() == [1])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["file"])
  }

  @Test func `a file that others may read says so`() throws {
    let file = DurableFile(folder.file("file"))
    try file.replace(with: [1])
    #expect(try file.content(maxBytes: 100)?.exposure == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(try file.content(maxBytes: 100)?.exposure != nil)
  }

  @Test func `a file that is longer than expected is not read`() throws {
    let file = DurableFile(folder.file("file"))
    try file.replace(with: [1, 2, 3])
    #expect(try file.read(maxBytes: 3) == [1, 2, 3])
    try #require(truncate(file.path, 20 << 30) == 0)
    let failure = #expect(throws: FileFailure.self) { try file.read(maxBytes: 1 << 20) }
    #expect(failure?.errno == EFBIG)
    try file.remove()
    #expect(try file.read(maxBytes: 1) == nil)
  }

  @Test func `a failure keeps the system's reason`() throws {
    try DurableFile(folder.file("file")).replace(with: [])
    let failure = #expect(throws: FileFailure.self) {
      try DurableFile(folder.file("file/below")).replace(with: [1])
    }
    #expect(failure?.errno == ENOTDIR && failure?.isDiskFull == false)
    #expect(FileFailure("written", "/a", errno: ENOSPC).isDiskFull)
    #expect(FileFailure("written", "/a", errno: EROFS).isForbidden)
  }

  @Test func `a lock has one holder, and the next when that is gone`() throws {
    let path = folder.file("lock").path
    func canBeTaken(within patience: Duration) throws -> Bool {
      let lock = try FileLock.take(path, patience: patience)
      return lock != nil
    }
    guard let lock = try FileLock.take(path) else {
      Issue.record("nobody holds the lock")
      return
    }
    try lock.whileHeld { () throws in #expect(try !canBeTaken(within: .milliseconds(5))) }
    _ = consume lock
    // A program that another test starts may hold a copy of the lock until it runs.
    #expect(try canBeTaken(within: .seconds(10)))
  }

  @Test func `who waits for a lock whose file is removed gets the lock on the next file`()
    async throws
  {
    let path = folder.file("lock").path
    let waiter: Task<Bool, any Error>
    do {
      guard let lock = try FileLock.take(path) else {
        Issue.record("nobody holds the lock")
        return
      }
      let before = openFiles(at: path)
      waiter = Task.detached {
        guard let lock = try FileLock.take(path, patience: .seconds(60)) else { return false }
        return try lock.whileHeld { () throws in try FileLock.take(path) == nil }
      }
      try await poll { openFiles(at: path) != before }
      lock.whileHeld { _ = unlink(path) }
    }
    #expect(try await waiter.value, "two held the lock at once")
  }
}
