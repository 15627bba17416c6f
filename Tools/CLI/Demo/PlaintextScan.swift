import Foundation

/// Looks for texts in all files below a folder, as somebody would who found the device.
struct PlaintextScan {
  let texts: Set<String>

  /// How many files and bytes were read, and the files that show one of the texts.
  struct Findings {
    var files = 0
    var bytes = 0
    var leaks: [String] = []
  }

  func search(_ folder: URL) throws -> Findings {
    var findings = Findings()
    let needles = texts.map { Data($0.utf8) }
    guard let files = FileManager.default.enumerator(atPath: folder.path) else { return findings }
    for case let name as String in files {
      let url = folder.appending(path: name)
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        continue
      }
      let contents = try Data(contentsOf: url)
      findings.files += 1
      findings.bytes += contents.count
      if needles.contains(where: { contents.range(of: $0) != nil }) { findings.leaks.append(name) }
    }
    return findings
  }
}
