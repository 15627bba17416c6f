import Foundation
import SalesforceSDKCommon
import SmartStore
import Synchronization

/// The folder with the encrypted contents of a store's files, and the lock that keeps other processes out of it.
final class ContentFolder: Sendable {
  let url: URL
  private let lock: Mutex<FileLock?>
  private let closed = Mutex(false)

  /// Takes the folder, and makes it if it is missing.
  ///
  /// - Throws: ``FileSyncError`` `inUse`, `inputOutput`, `diskFull`.
  init(_ url: URL) throws(FileSyncError) {
    self.url = url
    do throws(FileFailure) {
      try DurableFile.makeOwnFolder(url.path)
      guard let lock = try FileLock.take(url.appending(path: ".lock").path) else {
        throw FileFailure("taken", url.path, errno: EBUSY)
      }
      self.lock = Mutex(lock)
    } catch {
      guard error.errno == EBUSY else { throw FileSyncError(error) }
      throw FileSyncError(
        .inUse, "Another FileSyncManager works with the files in \(url.path). Close it first.",
        cause: error)
    }
  }

  /// Ends the downloads that write to the folder.
  func close() { closed.withLock { $0 = true } }

  /// Lets other processes work with the folder. To be called when no download writes to it any more.
  func release() { lock.withLock { $0 = nil } }

  /// - Throws: ``FileSyncError`` `closed`.
  func checkOpen() throws(FileSyncError) {
    if closed.withLock({ $0 }) {
      throw FileSyncError(.closed, "This FileSyncManager was closed. Open another.")
    }
  }

  /// Removes files that no entry names: those of a process that ended, and of removed entries.
  func removeAll(except names: Set<String>) throws(FileSyncError) {
    let found: [String]
    do {
      found = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw FileSyncError(.inputOutput, "\(url.path) cannot be listed.", cause: error)
    }
    remove(found.filter { !names.contains($0) })
  }

  /// The folder of a store.
  static func url(of store: SmartStore) -> URL { store.directory.appending(path: "synced-files") }

  /// Whether a name is one that this folder gives. An imported entry may have any text, such as a path.
  static func isName(_ name: String) -> Bool { UUID(uuidString: name) != nil }

  /// Removes files. One that cannot be removed now is removed when the folder is opened next, and one with a name that
  /// this folder does not give stays.
  func remove(_ names: [String]) {
    for name in names where Self.isName(name) {
      try? DurableFile(url.appending(path: name)).remove()
    }
  }

  /// Whether there is a file of this name.
  func has(_ name: String) -> Bool {
    Self.isName(name) && DurableFile(url.appending(path: name)).exists
  }

  /// The number of bytes of a file; 0 if there is none.
  func storedBytes(of name: String) -> Int64 {
    (try? DurableFile(url.appending(path: name)).size()).flatMap { Int64($0) } ?? 0
  }
}
