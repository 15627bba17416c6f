import Foundation

/// Searches all files below a folder for texts, as an attacker with the files would.
struct PlaintextScan {
  /// Texts of eight bytes and more, by their first eight bytes: one pass finds all of them.
  private let needles: [UInt64: [[UInt8]]]

  /// - Parameter texts: The texts to search for; texts of less than eight bytes are skipped.
  init(texts: Set<String>) {
    var needles: [UInt64: [[UInt8]]] = [:]
    for text in texts where text.utf8.count >= 8 {
      let bytes = Array(text.utf8)
      needles[bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, default: []].append(bytes)
    }
    self.needles = needles
  }

  /// The numbers of files and bytes that were read, and the files that contain one of the texts.
  struct Findings {
    var files = 0
    var bytes = 0
    var leaks: [String] = []
  }

  func search(_ folder: URL) throws -> Findings {
    var findings = Findings()
    guard let files = FileManager.default.enumerator(atPath: folder.path) else { return findings }
    for case let name as String in files {
      let url = folder.appending(path: name)
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        continue
      }
      let contents = Array(try Data(contentsOf: url))
      findings.files += 1
      findings.bytes += contents.count
      if shows(contents) { findings.leaks.append(name) }
    }
    return findings
  }

  private func shows(_ contents: [UInt8]) -> Bool {
    var window: UInt64 = 0
    for (index, byte) in contents.enumerated() {
      window = window << 8 | UInt64(byte)
      guard index >= 7, let candidates = needles[window] else { continue }
      let rest = contents[(index - 7)...]
      if candidates.contains(where: { rest.starts(with: $0) }) { return true }
    }
    return false
  }
}
