public import Foundation
import MobileSync
import SalesforceSDKCommon
public import SmartStore

/// The contents of queued files, next to a rescue bundle.
///
/// `SmartStore.exportRescue(for:of:registry:)` puts the queue into the bundle, with the keys of the contents, but not the
/// contents themselves: they can have gigabytes. They are encrypted, and are copied as they are.
extension FileSyncManager {
  /// The soup that has the queue: its entries count as unsynced, and are in rescue bundles.
  public static let queueSoupName = UploadQueue.soupName

  /// Copies the encrypted contents of a store's queued files into a folder. Only the bundle that is exported next to it
  /// has their keys. The store may be open for reading alone.
  ///
  /// - Parameter target: Is made if it is missing, and if there is a file.
  /// - Returns: The number of files.
  /// - Throws: ``FileSyncError`` `inputOutput`, `diskFull`, `store`.
  public static func exportQueuedContents(
    of store: SmartStore, to target: URL
  ) async throws -> Int {
    let names = try await FileCatalog(store: store).read { reader in
      reader.soupExists(forName: UploadQueue.soupName)
        ? try reader.queuedFiles().map(\.content.name) : []
    }
    let folder = ContentFolder.url(of: store)
    var count = 0
    for name in names where ContentFolder.isName(name) {
      // One that was uploaded in between is gone.
      if try await copy(name, from: folder, to: target) { count += 1 }
    }
    return count
  }

  /// Takes the contents of queued files that an import of a bundle has brought into the store.
  ///
  /// These files are searched on the server before they are sent: the device that wrote the bundle may have uploaded
  /// them since. A second import of the same folder changes nothing.
  ///
  /// - Parameter source: The folder of ``exportQueuedContents(of:to:)``.
  /// - Returns: The number of files whose content came, and of those that are still without content.
  /// - Throws: ``FileSyncError`` `inputOutput`, `diskFull`, `store`, `closed`.
  public func importQueuedContents(from source: URL) async throws -> (taken: Int, missing: Int) {
    var (taken, missing) = (0, 0)
    for entry in try await catalog.read({ try $0.queuedFiles() })
    where !folder.has(entry.content.name) {
      let name = entry.content.name
      let maxBytes = ContentChunks.maxStoredBytes(ofSize: entry.content.version.size)
      guard ContentFolder.isName(name),
        Self.isContent(source.appending(path: name), maxBytes: maxBytes)
      else {
        missing += 1
        continue
      }
      try await working(on: entry.key) {
        // Before the content is here, nothing is sent.
        try await step { transaction in
          guard var entry = try transaction.queued(entry.key) else { return }
          entry.refusal = nil
          if entry.mark == nil {
            entry.mark = UploadEntry.Mark(
              parentId: entry.recordId ?? entry.documentId ?? "",
              before: entry.isAttachment ? [] : nil, ended: 0, mayArrive: false)
          }
          try transaction.put([entry])
        }
        _ = try await Self.copy(name, from: source, to: folder.url, maxBytes: maxBytes)
      }
      taken += 1
      await announceQueued([entry.key])
    }
    return (taken, missing)
  }

  /// Whether there is a regular file that is no longer than a content may be. The folder may come from another device: a
  /// link to a device in it, or a file of terabytes that takes no room, would fill the disk.
  private static func isContent(_ url: URL, maxBytes: Int64) -> Bool {
    guard let file = try? OpenFile.reading(url), (try? file.isRegular()) == true,
      let size = try? file.size()
    else { return false }
    return size <= maxBytes
  }

  /// Copies a file under a temporary name first, piece by piece.
  ///
  /// - Parameter maxBytes: A longer file is not copied. Default: any.
  /// - Returns: Whether there is one.
  @concurrent private static func copy(
    _ name: String, from source: URL, to target: URL, maxBytes: Int64 = .max
  ) async throws -> Bool {
    do throws(FileFailure) {
      let end = target.appending(path: name)
      if DurableFile(end).exists { return true }
      let partial = target.appending(path: UUID().uuidString)
      let from = try OpenFile.reading(source.appending(path: name))
      let to = try OpenFile.appending(partial)
      do throws(FileFailure) {
        var count: Int64 = 0
        while true {
          let piece = try from.read(65_536)
          if piece.isEmpty { break }
          count += Int64(piece.count)
          guard count <= maxBytes else { throw FileFailure("copied", from.path, errno: EFBIG) }
          try to.write(piece)
        }
        try to.sync()
        try DurableFile(partial).move(to: end)
      } catch {
        try? DurableFile(partial).remove()
        throw error
      }
      return true
    } catch {
      if error.errno == ENOENT { return false }
      throw FileSyncError(error)
    }
  }
}
