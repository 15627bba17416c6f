#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The lines of a log file, of which only the last ones count.
///
/// A line that is too old stays in the file until enough of them can go in one step, so that a full
/// file is not rewritten for every line.
///
/// `@unchecked Sendable` because it is used on the queue of its ``LogFile`` alone.
final class LogLines: @unchecked Sendable {
  private let url: URL
  /// The number of lines in the file, and the number of old lines among them that are no longer
  /// valid; nil until the file was read.
  private var known: (all: Int, old: Int)?
  /// The file while it is open for appending, or -1.
  private var file: Int32 = -1

  init(_ url: URL) { self.url = url }

  deinit { closeFile() }

  /// The number of valid lines.
  var count: Int { counts.all - counts.old }

  /// The first lines that count.
  func first(_ count: Int) -> [String] {
    if count <= 0 { return [] }
    return text().split(separator: 0x0a, omittingEmptySubsequences: false).dropLast()
      .dropFirst(counts.old).prefix(count).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Adds a line and lets the oldest go beyond `limit`.
  func add(_ line: String, limit: Int) {
    guard append(line) else { return }
    let (all, old) = counts
    known = (all + 1, max(old, all + 1 - limit))
    let surplus = counts.old
    if surplus >= max(limit / 4, 64) { _ = remove(0) }
  }

  /// Removes the first `count` lines; returns false if the file cannot be changed.
  func remove(_ count: Int) -> Bool {
    let (all, old) = counts
    let gone = old + count
    if gone == 0 { return true }
    var rest = text()[...]
    for _ in 0..<gone {
      guard let end = rest.firstIndex(of: 0x0a) else { break }
      rest = rest[(end + 1)...]
    }
    closeFile()
    guard (try? DurableFile(url).replace(with: Array(rest))) != nil else { return false }
    known = (all - gone, 0)
    return true
  }

  /// The counts of the file, which are read once.
  private var counts: (all: Int, old: Int) {
    if let known { return known }
    // A line that a crash cut off has no end; the next one goes behind it.
    let found = (all: text().count { $0 == 0x0a }, old: 0)
    known = found
    return found
  }

  private func text() -> [UInt8] {
    (try? DurableFile(url).read()).flatMap { $0 } ?? []
  }

  private func append(_ line: String) -> Bool {
    // Before the line is there, or it would count twice.
    _ = counts
    if file < 0 {
      try? DurableFile(url).makeFolder()
      file = open(url.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard file >= 0 else { return false }
    let bytes = Array(line.utf8) + [0x0a]
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(file, $0.baseAddress.map { $0 + done }, $0.count - done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private func closeFile() {
    if file >= 0 { close(file) }
    file = -1
  }
}
