import Foundation
import Testing

/// Do messages name commands, and no calls of the libraries?
@Suite struct LibraryWordsTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The calls, such as `undo(_:)`, that messages of the libraries name.
  private static func calls() throws -> Set<String> {
    var calls: Set<String> = []
    for module in ["Core", "SmartStore", "MobileSync", "Common"] {
      let folder = root.appending(path: "Modules/\(module)")
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      where path.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        for line in text.split(separator: "\n") where !line.contains("//") {
          for literal in line.matches(of: /"(?:[^"\\]|\\.)*"/) {
            for call in literal.output.matches(
              of: /[a-z][A-Za-z]*\((?:(?:_|[a-z][A-Za-z]*):)+\)/)
            {
              calls.insert(String(call.output))
            }
          }
        }
      }
    }
    return calls
  }

  @Test func `every call that a message of the libraries names has words of the command line`()
    throws
  {
    let words = try String(
      contentsOf: Self.root.appending(path: "Tools/CLI/Console/LibraryWords.swift"),
      encoding: .utf8)
    let calls = try Self.calls()
    #expect(calls.contains("acceptRestoredFiles(_:)") && calls.contains("confirmMove(of:to:)"))
    for call in calls.union(["resumeLongOperations()"]) { #expect(words.contains(call), "\(call)") }
  }

  @Test func `a message about a missing soup names the command that registers it`() async throws {
    let result = try await Tool()("store", "query", "--soup", "nails", "--global", "--spec", "{}")
    #expect(result.status == 1)
    let info = try await Tool()("soup", "info", "nails", "--global")
    #expect(info.errors.contains("'fieldforce soup register' registers it."))
  }
}
