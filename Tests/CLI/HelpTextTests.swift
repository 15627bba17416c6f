import SalesforceSDKCommon
import Testing

/// Can the examples of the help be pasted into a shell?
@Suite struct HelpTextTests {
  /// The lines of a command's help, and of the commands below it.
  private static func lines(of command: JSONValue) -> [Substring] {
    let own = ["abstract", "discussion"].compactMap { command[$0]?.string }
    return own.flatMap { $0.split(separator: "\n") }
      + (command["subcommands"]?.array ?? []).flatMap(lines(of:))
  }

  @Test func `no line of an example is wrapped at 80 columns`() async throws {
    let dump = try await Tool().run(["--experimental-dump-help"])
    let lines = Self.lines(of: try #require(try JSONSlice(parsing: dump.output).value["command"]))
    let examples = lines.filter { $0.hasPrefix("  ") || $0.hasPrefix("Example: ") }
    #expect(examples.count > 80)
    #expect(examples.filter { $0.count > 80 } == [])
  }

  @Test func `a long example continues with a backslash`() async throws {
    let help = try await Tool().run(["sync", "up", "--help"]).output
    let lines = help.split(separator: "\n")
    let first = try #require(lines.firstIndex { $0.hasPrefix("  fieldforce sync up") })
    #expect(lines[first].hasSuffix(" \\"))
    #expect(lines[first + 1] == "    --merge-mode LEAVE_IF_CHANGED")
  }
}
