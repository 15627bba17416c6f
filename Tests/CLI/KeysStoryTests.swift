import Foundation
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

/// Where are the keys of a state folder, and how do they get elsewhere?
@Suite struct KeysStoryTests {
  private let line = #"{"Id": "1", "Name": "oak handle"}"#
  private let passphrase = "correct horse"
  private let allTools = "SELECT {tools:Id} FROM {tools}"

  /// A state folder with one entry.
  private func make(_ options: [String] = [], input: String? = nil) async throws -> Tool {
    let tool = try Tool()
    let all = ["--global", "--state", tool.state.path, "--json"]
    _ = try await tool.run(
      ["soup", "register", "tools", "--index", "Id:string"] + all + options, input: input
    ).document()
    if input == nil {
      _ = try await tool.run(["store", "upsert", "tools"] + all + options, input: line).document()
    }
    return tool
  }

  /// The entries of the folder, which has to open.
  private func entries(_ tool: Tool, _ options: [String] = [], input: String? = nil) async throws
    -> Int
  {
    let result = try await tool.run(
      ["store", "query", allTools, "--global", "--state", tool.state.path, "--json"]
        + options,
      input: input)
    return try result.document()["rows"]?.array?.count ?? -1
  }

  private func keeper(_ tool: Tool) async throws -> String? {
    try await tool.json("keys")["keeper"]?.string
  }

  /// The environment of a service that has a passphrase as its credential `fieldforce`.
  private func credentials(_ tool: Tool, _ text: String) throws -> [String: String] {
    let place = URL(filePath: try tool.file("unused", "")).deletingLastPathComponent()
      .appending(path: "credentials")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: place.appending(path: "fieldforce"))
    chmod(place.appending(path: "fieldforce").path, 0o400)
    return ["CREDENTIALS_DIRECTORY": place.path]
  }

  private func exists(_ tool: Tool, _ file: String) -> Bool {
    FileManager.default.fileExists(atPath: tool.state.appending(path: file).path)
  }

  @Test(.covers("HT-78.3", "HT-78.4"))
  func `the keys move behind a passphrase and back, and the passphrase changes`() async throws {
    let tool = try await make()
    #expect(try await keeper(tool) == "file")
    _ = try await tool.json("keys", "move", "passphrase-fd:0", input: passphrase)
    #expect(try await keeper(tool) == "passphrase")
    #expect(!exists(tool, "master.key") && exists(tool, "master.sealed"))
    #expect(try await entries(tool, ["--secrets", "passphrase-fd:0"], input: passphrase) == 1)
    // Without a terminal there is no one to type it.
    #expect(try await tool.failure("accounts")["code"]?.string == "missingPassphrase")
    #expect(
      try await tool.failure("accounts", "--secrets", "passphrase-fd:0", input: "wrong horse")[
        "code"]?.string
        == "authenticationFailed")
    #expect(
      try await tool.failure("accounts", "--secrets", "file")["code"]?.string == "otherKeeper")
    let environment = try credentials(tool, "battery staple\n")
    let all = ["--state", tool.state.path, "--json"]
    _ = try await tool.run(
      ["keys", "move", "credential:fieldforce", "--secrets", "passphrase-fd:0"] + all,
      input: passphrase,
      environment: environment
    ).document()
    _ = try await tool.run(
      ["accounts", "--secrets", "credential:fieldforce"] + all, environment: environment
    ).document()
    _ = try await tool.run(
      ["accounts"] + all,
      environment: environment.merging(["FIELDFORCE_SECRETS": "credential:fieldforce"]) { $1 }
    ).document()
    #expect(
      try await tool.failure("accounts", "--secrets", "passphrase-fd:0", input: passphrase)["code"]?
        .string
        == "authenticationFailed")
    _ = try await tool.run(
      ["keys", "move", "file", "--secrets", "credential:fieldforce"] + all, environment: environment
    ).document()
    #expect(exists(tool, "master.key") && !exists(tool, "master.sealed"))
    #expect(try await entries(tool) == 1)
  }

  @Test(.covers("HT-78.3"))
  func `a new folder can have its keys behind a passphrase from the start`() async throws {
    let tool = try await make(["--secrets", "passphrase-fd:0"], input: passphrase)
    #expect(!exists(tool, "master.key") && exists(tool, "master.sealed"))
    #expect(try await entries(tool, ["--secrets", "passphrase-fd:0"], input: passphrase) == 0)
    let none = try Tool()
    #expect(
      try await none.failure("accounts", "--secrets", "passphrase-fd:0", input: "short")["code"]?
        .string
        == "weakPassphrase")
    // A refusal binds the folder to nothing.
    #expect(!exists(none, "keys.json") && !exists(none, "master.sealed"))
    _ = try await none.json("accounts")
    #expect(try await keeper(none) == "file")
    let record = none.state.appending(path: "keys.json")
    let before = try Data(contentsOf: record)
    for input in ["short", ""] {
      _ = try await none.failure("keys", "move", "passphrase-fd:0", input: input)
      #expect(try Data(contentsOf: record) == before && exists(none, "master.key"))
    }
  }

  @Test(.covers("HT-78.2"))
  func `a session without a bus refuses the secret service, unless a file may take its place`()
    async throws
  {
    let environment = [
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent",
    ]
    let tool = try Tool()
    let all = ["accounts", "--state", tool.state.path, "--json"]
    let refused = try await tool.run(
      all + ["--secrets", "secret-service"], environment: environment
    ).failure()
    #expect(refused["code"]?.string == "noSessionBus")
    #expect(!exists(tool, "master.key"))
    _ = try await tool.run(all + ["--secrets", "secret-service,file"], environment: environment)
      .document()
    #expect(try await keeper(tool) == "file")
    let moved = try await tool.run(
      ["keys", "move", "secret-service", "--state", tool.state.path, "--json"],
      environment: environment
    ).failure()
    #expect(moved["code"]?.string == "noSessionBus")
    #expect(try await keeper(tool) == "file")
    _ = try await tool.json("accounts")
  }

  @Test(
    .covers("HT-78.4"), arguments: ["keys.json.lock", "master.sealed", "leaving", "gone", "end"])
  func `a move that is killed loses no key`(moment: String) async throws {
    let tool = try await make()
    let environment = try credentials(tool, passphrase)
    func run(_ arguments: String...) async throws -> JSONValue {
      try await tool.run(
        arguments + ["--state", tool.state.path, "--json"], environment: environment
      ).document()
    }
    for _ in 0..<3 {
      let record = tool.state.appending(path: "keys.json")
      try await tool.kill(["keys", "move", "credential:fieldforce"], environment: environment) {
        // The command may have ended before a moment is seen.
        let start = ContinuousClock.now
        try await poll {
          if start.duration(to: .now) > .seconds(5) { return true }
          switch moment {
          case "gone": return !exists(tool, "master.key")
          case "leaving", "end":
            let text = (try? String(contentsOf: record, encoding: .utf8)) ?? ""
            return text.contains("passphrase")
              && text.contains("leaving") == (moment == "leaving")
          default: return exists(tool, moment)
          }
        }
      }
      // Whatever was reached: it opens with what is recorded, and the same command completes it.
      let query = try await run(
        "store", "query", allTools, "--global", "--secrets", "credential:fieldforce,file")
      #expect(query["rows"]?.array?.count == 1)
      _ = try await run(
        "keys", "move", "credential:fieldforce", "--secrets", "credential:fieldforce")
      #expect(!exists(tool, "master.key") && exists(tool, "master.sealed"))
      _ = try await run("keys", "move", "file", "--secrets", "credential:fieldforce")
      #expect(!exists(tool, "master.sealed"))
      #expect(try await entries(tool) == 1)
      try? FileManager.default.removeItem(at: tool.state.appending(path: "keys.json.lock"))
    }
  }

  #if os(Linux)
    @Test func `the program writes no core dump and does not let itself be traced`() async throws {
      let ended = try await Subprocess.run(
        .path(Tool.binary()), arguments: ["org", "serve"], input: .none, output: .sequence,
        error: .discarded
      ) { execution in
        var lines = execution.standardOutput.strings().makeAsyncIterator()
        _ = try await lines.next()
        let limits = try String(
          contentsOfFile: "/proc/\(execution.processIdentifier.value)/limits", encoding: .utf8)
        try execution.send(signal: .kill)
        return limits
      }
      let core = ended.closureResult.split(separator: "\n").first {
        $0.hasPrefix("Max core file size")
      }
      #expect(core?.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    }
  #endif

  @Test(arguments: [
    "nonsense", "passphrase-fd:x", "passphrase-fd:", "credential:", "file,file", "",
    "passphrase,credential:x",
  ])
  func `a keeper that there is not is wrong usage`(text: String) async throws {
    let tool = try Tool()
    let result = try await tool.run(["accounts", "--secrets", text, "--state", tool.state.path])
    #expect(result.status == 2 && !exists(tool, "master.key"))
  }
}
