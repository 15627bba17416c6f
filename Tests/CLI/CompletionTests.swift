import Foundation
import SalesforceSDKCommon
import Testing

/// Do shells complete what the program understands?
@Suite struct CompletionTests {
  /// The words that the program's own description of itself has.
  private static func program() async throws -> JSONValue {
    let dump = try await Tool().run(["--experimental-dump-help"])
    return try #require(try JSONSlice(parsing: dump.output).value["command"])
  }

  /// Each command that has others below it, with their names.
  private static func groups(
    _ command: JSONValue, _ path: [String] = []
  ) -> [(path: [String], names: [String])] {
    let subcommands = (command["subcommands"]?.array ?? [])
      .filter { $0["commandName"] != "help" && $0["shouldDisplay"] != false }
    if subcommands.isEmpty { return [] }
    let here = path + [command["commandName"]?.string ?? ""]
    return [(here, subcommands.compactMap { $0["commandName"]?.string })]
      + subcommands.flatMap { groups($0, here) }
  }

  /// What bash offers for lines, one array for each.
  private func bash(_ lines: [String]) async throws -> [[String]] {
    let tool = try Tool()
    let script = try tool.file(
      "fieldforce.bash", try await tool.run(["completions", "bash"]).output)
    let calls = lines.map { line in
      """
      offer '\(line)'
      """
    }
    let result = try await Tool.other(
      "bash", ["--norc"],
      input: """
        source '\(script)'
        offer() {
          COMP_LINE="$1" COMP_POINT=${#1}
          read -ra COMP_WORDS <<< "$1"
          [[ "$1" == *' ' ]] && COMP_WORDS+=('')
          COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
          _fieldforce fieldforce "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
          echo "${COMPREPLY[*]}"
        }
        \(calls.joined(separator: "\n"))
        """)
    #expect(result.errors.isEmpty)
    return result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { $0.split(separator: " ").map(String.init) }
  }

  @Test func `bash completes every command, options and their values`() async throws {
    let groups = Self.groups(try await Self.program())
    #expect(groups.count >= 6)
    let offered = try await bash(groups.map { $0.path.joined(separator: " ") + " " })
    try #require(offered.count == groups.count)
    for (group, words) in zip(groups, offered) {
      #expect(Set(words).isSuperset(of: group.names), "\(group.path)")
    }
    let lines = [
      "fieldforce sy", "fieldforce sync down --mer", "fieldforce sync down --merge-mode ",
      "fieldforce sync up --soup a --fe", "fieldforce completions ",
    ]
    let words = try await bash(lines)
    #expect(words[0] == ["sync"])
    #expect(words[1] == ["--merge-mode"])
    #expect(words[2] == ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE_FIELDS"])
    #expect(words[3] == ["--fetch-dates"])
    #expect(Set(words[4]).isSuperset(of: ["bash", "zsh", "fish"]))
  }

  @Test(.enabled(if: Tool.isInstalled("fish"), "fish is not installed"))
  func `fish completes every command and options`() async throws {
    let tool = try Tool()
    let script = try tool.file(
      "fieldforce.fish", try await tool.run(["completions", "fish"]).output)
    for (path, names) in Self.groups(try await Self.program()) {
      let line = path.joined(separator: " ")
      let result = try await Tool.other(
        "fish", ["--no-config", "-c", "source '\(script)'; complete -C '\(line) '"])
      let offered = result.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
      #expect(Set(offered.map(String.init)).isSuperset(of: names), "\(line) \(result.errors)")
    }
    let options = try await Tool.other(
      "fish", ["--no-config", "-c", "source '\(script)'; complete -C 'fieldforce sync down --mer'"])
    #expect(options.output.contains("--merge-mode"))
  }

  @Test(.enabled(if: Tool.isInstalled("zsh"), "zsh is not installed"))
  func `zsh loads the script, which names every command`() async throws {
    let tool = try Tool()
    let script = try await tool.run(["completions", "zsh"]).output
    let file = try tool.file("_fieldforce", script)
    let folder = URL(filePath: file).deletingLastPathComponent().path
    let loaded = try await Tool.other(
      "zsh",
      [
        "-f", "-c",
        "fpath=('\(folder)' $fpath); autoload -U compinit && compinit -u -D && echo ${_comps[fieldforce]}",
      ])
    #expect(loaded.output.trimmed == "_fieldforce", "\(loaded.errors)")
    #expect(try await Tool.other("zsh", ["-f", "-n", file]).status == 0)
    for (path, names) in Self.groups(try await Self.program()) {
      for name in names { #expect(script.contains("'\(name):"), "\(path) \(name)") }
    }
  }

  @Test func `an unknown shell is wrong usage`() async throws {
    let result = try await Tool().run(["completions", "tcsh"])
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.contains("bash"))
  }
}
