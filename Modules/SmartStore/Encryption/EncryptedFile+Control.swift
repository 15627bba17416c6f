import Foundation
import GRDBSQLite

/// File controls: requests of SQLite and pragmas on an open file.
extension EncryptedFile.State {
  func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    switch operation {
    case SQLITE_FCNTL_CKPT_START:
      connection.isCheckpointing = true
      connection.beginsCheckpoint = true
    case SQLITE_FCNTL_CKPT_DONE:
      connection.isCheckpointing = false
      connection.beginsCheckpoint = false
      connection.copied = nil
    case SQLITE_FCNTL_PRAGMA:
      if let refusal = refusePragma(argument) { return refusal }
    case SQLITE_FCNTL_MMAP_SIZE, SQLITE_FCNTL_CHUNK_SIZE, SQLITE_FCNTL_POWERSAFE_OVERWRITE:
      return SQLITE_NOTFOUND
    default:
      break
    }
    guard let control = methods.xFileControl else { return SQLITE_NOTFOUND }
    return control(base, operation, argument)
  }

  /// Refuses a pragma that would disable the encryption of pages; nil for any other pragma.
  ///
  /// `argument` is an array of C strings: space for an error text, name, value or null.
  private func refusePragma(_ argument: UnsafeMutableRawPointer?) -> Int32? {
    guard let strings = argument?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self),
      let name = strings[1], let value = strings[2]
    else { return nil }
    let pragma = String(cString: name).lowercased()
    guard let allowed = Self.fixedPragmas[pragma],
      !allowed.contains(String(cString: value).lowercased())
    else { return nil }
    let text = "PRAGMA \(pragma) is fixed in an encrypted store"
    if let message = sqlite3_malloc(Int32(text.utf8.count + 1)) {
      text.withCString { message.copyMemory(from: $0, byteCount: text.utf8.count + 1) }
      strings[0] = message.assumingMemoryBound(to: CChar.self)
    }
    return SQLITE_ERROR
  }

  /// Pragmas that may only be set to their present value.
  private static let fixedPragmas: [String: Set<String>] = [
    "journal_mode": ["wal"],
    "page_size": ["4096"],
    "temp_store": ["2", "memory"],
    "temp_store_directory": [],
    "mmap_size": ["0"],
  ]
}
