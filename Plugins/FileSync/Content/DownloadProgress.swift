import Synchronization

/// The number of bytes of each download that runs.
final class DownloadProgress: Sendable {
  private let bytes = Mutex<[String: Int64]>([:])

  /// The number of bytes that are here; nil if no download of the file runs.
  subscript(id: String) -> Int64? { bytes.withLock { $0[id] } }

  /// Keeps the number of bytes of a download.
  ///
  /// - Returns: Whether it reached the next percent of `size`.
  func update(_ id: String, _ received: Int64, of size: Int64) -> Bool {
    bytes.withLock { bytes in
      let before = bytes.updateValue(received, forKey: id)
      let step = max(size / 100, 65_536)
      return before.map { $0 / step != received / step } ?? true
    }
  }

  /// The download is over.
  func end(_ id: String) { bytes.withLock { _ = $0.removeValue(forKey: id) } }
}
