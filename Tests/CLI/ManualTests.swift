import Foundation
import Testing

/// Are there manual pages for every command that troff understands?
@Suite struct ManualTests {
  @Test func `a page has the command's synopsis, options, examples and statuses`() async throws {
    let page = try await Tool().run(["man", "sync", "down"])
    #expect(page.status == 0 && page.errors.isEmpty)
    #expect(page.output.hasPrefix(".TH \"FIELDFORCE\\-SYNC\\-DOWN\" 1"))
    for part in [
      ".SH SYNOPSIS", "\\fB\\-\\-merge\\-mode\\fR", "LEAVE_IF_CHANGED", ".SH EXIT STATUS", "130",
      "fieldforce sync down \\-\\-soup accounts", ".BR fieldforce\\-sync (1)",
    ] {
      #expect(page.output.contains(part), "\(part)")
    }
    #expect(try await Tool().run(["man"]).output.contains(".B doctor"))
  }

  @Test(.enabled(if: Tool.isInstalled("groff"), "groff is not installed"))
  func `troff finds no fault in any page and the text says what the help says`() async throws {
    let tool = try Tool()
    let folder = tool.state.deletingLastPathComponent().appending(path: "man1")
    let written = try await tool.run(["man", "--output", folder.path])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(written.output.contains("\(names.count) pages"))
    #expect(names.contains("fieldforce.1") && names.contains("fieldforce-store-accept-loss.1"))
    let files = names.sorted().map { folder.appending(path: $0).path }
    let checked = try await Tool.other("groff", ["-man", "-ww", "-z", "-Kutf8"] + files)
    #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.errors)")
    let text = try await Tool.other(
      "groff", ["-man", "-Tutf8", "-Kutf8", "-P-cbou", folder.path + "/fieldforce-login.1"])
    for part in ["--jwt-key server.key \\", "--access-token @token.txt", "fieldforce-login(1)"] {
      #expect(text.output.lowercased().contains(part), "\(part)")
    }
  }

  @Test(arguments: [["man", "snyc"], ["man", "sync", "dwon"], ["man", "sync", "--output", "x"]])
  func `an unknown command has no page`(arguments: [String]) async throws {
    let result = try await Tool().run(arguments)
    #expect(result.status == 2 && result.output.isEmpty && result.errors.hasPrefix("Error:"))
  }
}
