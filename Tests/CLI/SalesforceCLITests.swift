import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// Does what the guide's table names for the commands of the Salesforce CLI exist, and do what it says?
@Suite struct SalesforceCLITests {
  /// The rows of the table: the words of the Salesforce CLI, and those of this program.
  private static func rows() throws -> [(theirs: String, ours: String)] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let guide = try String(
      contentsOf: root.appending(path: "Docs/Guides/Command-line.md"), encoding: .utf8)
    let lines = guide.components(separatedBy: "\n").drop { $0 != "| `sf mobilesdk` | here |" }
    return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.components(separatedBy: "|").map(\.trimmed)
      return (cells[1], cells[2])
    }
  }

  /// The words in code of a cell.
  private static func code(_ cell: String) -> [String] {
    cell.matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
  }

  @Test(.covers("HT-59"))
  func `every command of the Salesforce CLI has its row, and every command of a row exists`()
    async throws
  {
    let rows = try Self.rows()
    let theirs = rows.map(\.theirs).joined(separator: " ")
    for word in [
      "hybrid create", "hybrid:create", "ios create", "android create", "reactnative create",
      "createwithtemplate", "listtemplates", "checkconfig", "version",
    ] { #expect(theirs.contains(word), "\(word)") }
    let tool = try Tool()
    var commands: Set<String> = []
    for row in rows where row.ours.contains("`fieldforce ") {
      for words in Self.code(row.ours) {
        let arguments = words.split(separator: " ").map(String.init)
          .filter { $0 != "fieldforce" && !$0.hasPrefix("-") }
        let command = try #require(arguments.first)
        commands.insert(command)
        let help = try await tool.run([command, "--help"])
        #expect(help.status == 0 && help.output.contains("fieldforce \(command)"), "\(command)")
      }
    }
    #expect(
      commands == ["create", "createwithtemplate", "listtemplates", "checkconfig", "version"])
  }

  @Test(.covers("HT-59"))
  func `the command for hybrid create takes the short options of the last row`() async throws {
    let rows = try Self.rows()
    let create = try #require(rows.first { $0.theirs.contains("hybrid create") })
    let words = try #require(Self.code(create.ours).first).split(separator: " ").map(String.init)
    let short = Set(
      try #require(rows.last.flatMap { Self.code($0.theirs).first }).split(separator: " ")
        .map(String.init))
    #expect(short == ["-p", "-t", "-r", "-n", "-k", "-o", "-s", "-d"])
    let folder = try TemporaryFolder()
    let tool = try Tool()
    let (made, same) = (folder.file("made").path, folder.file("same").path)
    let options = ["-p", "linux", "-n", "Notes", "-k", "com.acme.notes", "-o", "Acme"]
    let first = try await tool.run(Array(words.dropFirst()) + options + ["-d", made])
    #expect(first.status == 0, "\(first.errors)")
    #expect(FileManager.default.fileExists(atPath: made + "/www/bootconfig.json"))
    let second = try await tool.run(
      ["create", "-t", "hybrid_remote", "-s", "apex/Notes"] + options + ["-d", same])
    #expect(second.status == 0, "\(second.errors)")
    let boot = try String(contentsOfFile: same + "/www/bootconfig.json", encoding: .utf8)
    #expect(boot.contains("apex/Notes"))
    let third = try await tool.run(
      ["createwithtemplate", "-r", "hybrid_local"] + options + ["-d", folder.file("third").path])
    #expect(third.status == 0, "\(third.errors)")
  }
}
