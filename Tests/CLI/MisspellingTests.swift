import Foundation
import SalesforceSDKCommon
import Testing

/// Does the program guess what a misspelled word was meant to be?
@Suite struct MisspellingTests {
  @Test(arguments: [
    (["snyc"], "Unknown command 'snyc'. Did you mean 'fieldforce sync'?"),
    (["sync", "dwon"], "Unknown command 'sync dwon'. Did you mean 'fieldforce sync down'?"),
    (["sync", "dwon", "--name", "x"], "Did you mean 'fieldforce sync down'?"),
    (["soup", "lst"], "Did you mean 'fieldforce soup list'?"),
    (["STORE", "list"], "Did you mean 'fieldforce store'?"),
    (["soup", "register", "x", "--indx", "Id:string"], "Did you mean '--index'?"),
    (["sync", "down", "--nmae=x"], "Unknown option '--nmae'. Did you mean '--name'?"),
    (["store", "query", "SELECT 1", "--jsn"], "Did you mean '--json'?"),
    (["store", "query", "--page-sise", "3", "SELECT 1"], "Did you mean '--page-size'?"),
    (["frobnicate"], "'fieldforce --help' lists the commands."),
    (["sync", "list", "--frobnicate"], "'fieldforce sync list --help' lists the options."),
  ])
  func `an unknown command or option is named with the one that was meant`(
    arguments: [String], message: String
  ) async throws {
    let result = try await Tool().run(arguments)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
    #expect(result.errors.hasPrefix("Error:") && result.errors.contains("--help"))
    let document = try await Tool().run(arguments + ["--json"])
    let error = try JSONSlice(parsing: document.errors.trimmed)["error"]
    #expect(document.status == 2 && error?["code"]?.string == "usage")
    #expect(error?["message"]?.string?.contains(message) == true)
  }

  @Test(
    arguments: [
      ["create", "--sdkdependencies", "{}", "--apptype=none", "--non-interactive"],
      ["create", "--pluginrepouri=x", "--apptype=none", "--non-interactive"],
    ])
  func `a hidden option is known, and another error of its command is named`(
    arguments: [String]
  ) async throws {
    let result = try await Tool().run(arguments)
    #expect(result.status == 2 && result.errors.contains("'none' is not a kind of app"))
    let unknown = try await Tool().run(arguments + ["--nmae=x"])
    #expect(unknown.status == 2 && unknown.errors.contains("Unknown option '--nmae'"))
    // It is in no suggestion.
    let similar = try await Tool().run(["create", "--pluginrepour=x"])
    #expect(similar.status == 2 && !similar.errors.contains("--pluginrepouri"))
  }

  @Test func `words that are values are not taken for options`() async throws {
    let dashes = try await Tool().run(["store", "query", "--", "--nmae"])
    #expect(!dashes.errors.contains("Unknown option"))
    let missing = try await Tool().run(["sync", "down", "--soup", "s"])
    #expect(missing.status == 2 && missing.errors.contains("--query"))
  }

  @Test func `a merge mode may be written in small letters, and a wrong one lists the modes`()
    async throws
  {
    let up = ["sync", "up", "--soup", "s", "--fields", "Name", "--merge-mode"]
    let wrong = try await Tool().run(up + ["NEWEST"])
    #expect(wrong.status == 2 && wrong.errors.contains("LEAVE_IF_CHANGED"))
    let tool = try Tool()
    let small = try await tool.run(up + ["merge_fields", "--state", tool.state.path])
    #expect(small.status == 1 && small.errors.contains("No user is logged in"))
  }
}
