import Foundation
import Subprocess
import TestSupport
import Testing

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

extension Tool {
  /// Runs a command on the state folder with a terminal for all three streams, through script(1).
  ///
  /// - Parameters:
  ///   - columns: The width of the window.
  ///   - environment: Added to the tests' own; `NO_COLOR` is empty unless it is given here.
  func inTerminal(
    _ arguments: String..., columns: Int = 80, environment: [String: String] = [:],
    onState: Bool = true
  ) async throws -> Result {
    let words = [try Self.binary().string] + arguments + (onState ? ["--state", state.path] : [])
    let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    let variables = ["TERM": "xterm-256color", "NO_COLOR": ""]
      .merging(environment) { $1 }
      .map { "\($0)='\($1)'" }.joined(separator: " ")
    let line = try file(
      "in-terminal.sh", "stty cols \(columns) rows 40; exec env \(variables) \(command)\n")
    let ended = try await Subprocess.run(
      .name("script"), arguments: ["-qec", "sh '\(line)'", "/dev/null"], input: .none,
      output: .string(limit: 1 << 22), error: .string(limit: 1 << 20))
    return Result(
      status: ended.terminationStatus.code, output: ended.standardOutput,
      errors: ended.standardError)
  }

  /// Runs a command at a terminal where a person types `lines`, one after the other.
  func typed(_ lines: [String], _ arguments: String...) async throws -> Result {
    let words = [try Self.binary().string] + arguments
    let command = words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    let ended = try await Subprocess.run(
      .name("script"), arguments: ["-qec", command, "/dev/null"],
      environment: .inherit.updating(["NO_COLOR": "1"]),
      input: .string(lines.joined(separator: "\n") + "\n"),
      output: .string(limit: 1 << 22), error: .string(limit: 1 << 20))
    return Result(
      status: ended.terminationStatus.code, output: ended.standardOutput,
      errors: ended.standardError)
  }

  /// Runs another program, such as a shell.
  static func other(
    _ program: String, _ arguments: [String], input: String = ""
  ) async throws -> Result {
    let path = try binary().removingLastComponent().string + ":"
    let ended = try await Subprocess.run(
      .name(program), arguments: Arguments(arguments),
      environment: .inherit.updating([
        "PATH": path + (ProcessInfo.processInfo.environment["PATH"] ?? "")
      ]), input: .string(input),
      output: .string(limit: 1 << 22), error: .string(limit: 1 << 20))
    return Result(
      status: ended.terminationStatus.code, output: ended.standardOutput,
      errors: ended.standardError)
  }

  /// Whether a program is installed. `Tools/test.sh` installs those that the tests use.
  static func isInstalled(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }
}

extension TerminationStatus {
  fileprivate var code: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}
