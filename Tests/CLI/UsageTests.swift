import Foundation
import SalesforceSDKCommon
import Testing

/// How does the program respond to wrong usage, or to a request for help?
@Suite struct UsageTests {
  @Test(arguments: [
    ["nonsense"], ["soup", "register", "x"], ["soup", "register", "x", "--index", "Name"],
    ["soup", "alter", "x"],
    ["sync", "down"], ["sync", "down", "--soup", "s"],
    ["sync", "up", "--soup", "s", "--fields", "Name", "--merge-mode", "NEWEST"],
    ["login", "--url", "https://example.com"],
    ["login", "--url", "https://example.com", "--browser", "--access-token", "x"],
    ["login", "--url", "https://example.com", "--browser", "--refresh-token", "x"],
    ["rest", "FETCH", "/limits"], ["rest", "GET"], ["store", "query"],
    ["store", "query", "SELECT 1", "--soup", "s"], ["store", "remove", "s"],
    ["org", "serve", "--host", "0.0.0.0"], ["org", "serve", "--port", "70000"],
    ["org", "serve", "--generate", "Account"], ["demo", "--keep"],
  ])
  func `wrong usage ends with 2, says why on standard error, and does nothing`(
    arguments: [String]
  ) async throws {
    let tool = try Tool()
    let result = try await tool.run(arguments)
    #expect(result.status == 2)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("Error:"))
    #expect(result.errors.contains("Usage:") || result.errors.contains("--help"))
  }

  @Test(arguments: [
    ["soup", "list", "--passcode", "817263"], ["unlock", "--passcode=817263"],
    ["unlock", "--change", "--new-passcode", "817263"], ["login", "--passcode", "817263"],
    ["rest", "GET", "/limits", "--passcode", "817263"], ["doctor", "--passcode", "817263"],
    ["unlock", "--change", "--passcode", "-", "--new-passcode", "817263"],
    ["rescue", "show", "f", "--passphrase", "817263 words"],
    ["rescue", "import", "f", "--private-key", "817263"],
    ["rescue", "export", "f", "--passphrase", "817263 words"],
  ])
  func `a secret on the command line is wrong usage, and is not repeated`(
    arguments: [String]
  ) async throws {
    let tool = try Tool()
    let all = arguments + ["--access-token", "-"].filter { _ in arguments[0] == "login" }
    let state = arguments[1] == "show" ? [] : ["--state", tool.state.path]
    let result = try await tool.run(all + state)
    #expect(result.status == 2)
    #expect(result.output.isEmpty && !result.errors.contains("817263"), "\(result.errors)")
    #expect(result.errors.contains("@FILE, or - for a line of standard input"))
    #expect(!FileManager.default.fileExists(atPath: tool.state.path))
  }

  @Test(arguments: [
    ["demo"], ["org", "serve"], ["login"], ["accounts"], ["switch"], ["logout"], ["rest"],
    ["soup", "register"], ["soup", "list"], ["soup", "info"], ["soup", "alter"], ["soup", "clear"],
    ["soup", "remove"], ["store", "query"], ["store", "upsert"], ["store", "remove"],
    ["store", "list"], ["store", "size"], ["sync", "down"], ["sync", "up"], ["sync", "run"],
    ["sync", "list"], ["sync", "status"], ["sync", "ghosts"], ["doctor"], ["completions"], ["man"],
    ["create"], ["createwithtemplate"], ["listtemplates"], ["checkconfig"], ["version"],
    ["store", "reencrypt"], ["store", "accept-restored"],
  ])
  func `every command's help has an example`(command: [String]) async throws {
    let result = try await Tool().run(command + ["--help"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    #expect(result.output.contains("Example"))
    #expect(result.output.contains("fieldforce \(command.joined(separator: " "))"))
  }

  @Test func `without a command the program says what there is`() async throws {
    let result = try await Tool().run([])
    #expect(result.status == 0)
    #expect(result.output.contains("fieldforce demo"))
    #expect(try await Tool().run(["--version"]).output.trimmed.isEmpty == false)
  }
}
