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
