import Foundation
import SalesforceSDKCommon

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of one key-value store: each has either its old or its new content, also after a power failure.
struct KeyValueFolder: Sendable {
  let url: URL

  func file(_ name: String) -> DurableFile { DurableFile(url.appending(path: name)) }

  var versionFile: DurableFile { file(KeyValueFormat.versionFile) }

  /// The names of the files; none if the folder is gone.
  func names() throws(EncryptionError) -> [String] {
    guard DurableFile(url).exists else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw EncryptionError(.inputOutput, "The folder \(url.path) cannot be read.", cause: error)
    }
  }

  /// Runs `body` with the errors of files in the form of this module.
  func mapping<Result>(
    _ body: () throws(FileFailure) -> Result
  ) throws(EncryptionError) -> Result {
    do throws(FileFailure) {
      return try body()
    } catch {
      throw EncryptionError(error)
    }
  }

  /// A new file under a name that counts for nothing yet.
  func draft(of name: String) throws(EncryptionError) -> Draft {
    let place = url.appending(
      path: "\(name).\(getpid()).\(UInt32.random(in: 0 ... .max))\(Self.draftEnd)")
    do throws(FileFailure) {
      return Draft(file: try OpenFile.creating(place), place: DurableFile(place), name: name)
    } catch {
      guard DurableFile(url).exists else { throw removed }
      throw EncryptionError(error)
    }
  }

  /// Renames a finished draft, which then becomes the content.
  func keep(_ draft: Draft) throws(EncryptionError) {
    do throws(FileFailure) {
      try draft.file.sync()
      // A value whose store is gone could never be opened.
      guard versionFile.exists || !isListed else {
        throw FileFailure("kept", url.path, errno: ENOENT)
      }
      try draft.place.move(to: url.appending(path: draft.name))
    } catch {
      draft.drop()
      guard DurableFile(url).exists, error.errno != ENOENT else { throw removed }
      throw EncryptionError(error)
    }
  }

  /// Whether the store has a version file, so that one that is missing means that it is gone.
  let isListed: Bool

  /// Runs `body` while no other task or process adds or removes values.
  func whileLocked<Result>(
    _ body: () throws(EncryptionError) -> Result
  ) throws(EncryptionError) -> Result {
    let lock: FileLock?
    do throws(FileFailure) {
      lock = try FileLock.take(url.appending(path: Self.lockFile).path, patience: .seconds(30))
    } catch {
      guard DurableFile(url).exists else { throw removed }
      throw EncryptionError(error)
    }
    guard let lock else {
      throw EncryptionError(
        .inputOutput,
        "Another process changes the key-value store at \(url.path) for long. Try again.")
    }
    return try lock.whileHeld(body)
  }

  /// Removes drafts of processes that are no more.
  func removeLeftovers() throws(EncryptionError) {
    for name in try names() where name.hasSuffix(Self.draftEnd) {
      let parts = name.split(separator: ".")
      guard parts.count == 4, let process = Int32(parts[1]) else { continue }
      if process != getpid(), kill(process, 0) != 0, errno == ESRCH {
        try mapping { () throws(FileFailure) in try file(name).remove() }
      }
    }
  }

  private var removed: EncryptionError {
    EncryptionError(.removed, "The key-value store at \(url.path) was removed. Open it again.")
  }

  private static let draftEnd = ".new"
  private static let lockFile = "lock"

  /// A file that is being written.
  struct Draft {
    let file: OpenFile
    let place: DurableFile
    let name: String

    /// Removes it.
    func drop() { try? place.remove() }
  }
}
