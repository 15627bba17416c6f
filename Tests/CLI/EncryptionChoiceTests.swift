import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// Can someone who writes the files of a state folder have `fieldforce` keep or read plaintext?
@Suite struct EncryptionChoiceTests {
  private let line = #"{"Id": "1", "Name": "oak handle"}"#

  private func settings(_ tool: Tool) -> URL { tool.state.appending(path: "settings.json") }

  private func database(_ tool: Tool, _ name: String = "defaultStore") -> URL {
    tool.state.appending(path: "stores/stores/\(name)/store.sqlite")
  }

  private func make(_ arguments: String...) async throws -> Tool {
    let tool = try Tool()
    let all = ["--global", "--state", tool.state.path, "--json"] + arguments
    _ = try await tool.run(["soup", "register", "tools", "--index", "Id:string"] + all).document()
    _ = try await tool.run(["store", "upsert", "tools"] + all, input: line).document()
    return tool
  }

  private func isPlaintext(_ file: URL) throws -> Bool {
    try Data(contentsOf: file).range(of: Data("oak handle".utf8)) != nil
  }

  /// Whether any file below the stores holds the record in plaintext.
  private func leaks(_ tool: Tool) throws -> Bool {
    let stores = tool.state.appending(path: "stores")
    return try FileManager.default.subpathsOfDirectory(atPath: stores.path).contains { path in
      let data = (try? Data(contentsOf: stores.appending(path: path))) ?? Data()
      return data.range(of: Data("oak handle".utf8)) != nil
    }
  }

  enum Change: String, CaseIterable, Sendable {
    case flipped, deleted, emptied, swapped, flippedWithoutKeychain, storesGone
  }

  @Test(arguments: Change.allCases)
  func `no change of settings.json makes a store plaintext`(change: Change) async throws {
    let tool = try await make()
    let file = settings(tool)
    let plaintext = Data(#"{"version":1,"encryption":"plaintext"}"#.utf8)
    switch change {
    case .flipped: try plaintext.write(to: file)
    case .deleted: try FileManager.default.removeItem(at: file)
    case .emptied: try Data().write(to: file)
    case .swapped:
      let other = try await make("--plaintext")
      try Data(contentsOf: settings(other)).write(to: file)
    case .flippedWithoutKeychain:
      try plaintext.write(to: file)
      try FileManager.default.removeItem(at: tool.state.appending(path: "keychain.db"))
    case .storesGone:
      try plaintext.write(to: file)
      try FileManager.default.removeItem(at: tool.state.appending(path: "stores"))
    }
    for arguments in [
      ["soup", "register", "tools", "--index", "Id:string", "--global", "--store", "other"],
      ["store", "upsert", "tools", "--global", "--store", "other"],
      ["soup", "register", "tools", "--index", "Id:string", "--global"],
      ["store", "upsert", "tools", "--global"],
      ["store", "query", "SELECT {tools:_soup} FROM {tools}", "--global"],
    ] {
      _ = try await tool.run(arguments + ["--state", tool.state.path, "--json"], input: line)
    }
    if FileManager.default.fileExists(atPath: tool.state.appending(path: "stores").path) {
      #expect(try !leaks(tool))
    }
    // Deleting the file is the way out of it.
    if change != .flippedWithoutKeychain, change != .storesGone {
      try? FileManager.default.removeItem(at: file)
      #expect(try await tool.json("soup", "info", "tools", "--global")["count"] != nil)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `settings that are no small file are refused at once`() async throws {
    let tool = try await make()
    let file = settings(tool)
    let bytes = try Data(contentsOf: file)
    for change in ["20 GB", "pipe", "device", "folder"] {
      try FileManager.default.removeItem(at: file)
      switch change {
      case "20 GB":
        try bytes.write(to: file)
        try #require(truncate(file.path, 20 << 30) == 0)
      case "pipe": try #require(mkfifo(file.path, 0o600) == 0)
      case "device": try #require(symlink("/dev/zero", file.path) == 0)
      default: try #require(mkdir(file.path, 0o700) == 0)
      }
      #expect(
        try await tool.failure("soup", "list", "--global")["code"] == "unreadableSettings",
        "\(change)")
    }
  }

  @Test func `plaintext is not believed where the key of a secret store is left`() async throws {
    let tool = try await make()
    let planted = try await make("--plaintext")
    let (files, stores) = (FileManager.default, tool.state.appending(path: "stores"))
    try files.removeItem(at: stores)
    try files.copyItem(at: planted.state.appending(path: "stores"), to: stores)
    try Data(contentsOf: settings(planted)).write(to: settings(tool))
    try files.removeItem(at: tool.state.appending(path: "keychain.db"))
    for arguments in [
      ["store", "encrypt"], ["store", "query", "SELECT {tools:Name} FROM {tools}", "--global"],
      ["store", "query", "SELECT {tools:Name} FROM {tools}", "--global", "--plaintext"],
    ] {
      let result = try await tool.run(arguments + ["--state", tool.state.path, "--json"])
      #expect(try result.failure()["code"] == "missingSecrets")
    }
  }

  @Test func `a planted plaintext store is never shown, whatever else was changed`() async throws {
    let tool = try await make()
    let planted = try await make("--plaintext")
    let (files, stores) = (FileManager.default, tool.state.appending(path: "stores"))
    try files.removeItem(at: stores)
    try files.copyItem(at: planted.state.appending(path: "stores"), to: stores)
    try Data(contentsOf: settings(planted)).write(to: settings(tool))
    let query = ["store", "query", "SELECT {tools:Name} FROM {tools}", "--global"]
    for _ in 0..<2 {
      for arguments in [
        query, ["store", "upsert", "tools", "--global"], ["store", "verify", "--global"],
      ] {
        let result = try await tool.run(
          arguments + ["--state", tool.state.path, "--json"], input: line)
        #expect(result.status == 1, "\(arguments): \(result.output)")
        #expect(!result.output.contains("oak handle"))
      }
      // The second time as if the person had put the settings right.
      try? files.removeItem(at: settings(tool))
    }
    #expect(try await tool.failure("store", "encrypt")["code"] == "encryptedState")
  }

  @Test func `a state folder of earlier versions stays encrypted`() async throws {
    let tool = try Tool()
    try GoldenFiles.copy("format-1/state", to: tool.state)
    #expect(try await tool.json("soup", "info", "notes", "--global")["count"] == 6)
    try Data(#"{"version":1,"encryption":"plaintext"}"#.utf8).write(to: settings(tool))
    #expect(try await tool.failure("soup", "list", "--global")["code"] == "changedSettings")
    try FileManager.default.removeItem(at: settings(tool))
    #expect(try await tool.json("soup", "info", "notes", "--global")["count"] == 6)
  }

  @Test func `a plaintext folder with a secret store needs the flag each time`() async throws {
    let tool = try Tool()
    try GoldenFiles.copy("format-1/state", to: tool.state)
    try FileManager.default.removeItem(at: tool.state.appending(path: "stores"))
    try Data(#"{"version":1,"encryption":"plaintext"}"#.utf8).write(to: settings(tool))
    let error = try await tool.failure("soup", "list", "--global")
    #expect(error["code"] == "plaintextState")
    for _ in 0..<2 {
      _ = try await tool.json(
        "soup", "register", "tools", "--index", "Id:string", "--global", "--plaintext")
      _ = try await tool.json("store", "upsert", "tools", "--global", "--plaintext", input: line)
    }
    #expect(try isPlaintext(database(tool)))
  }

  @Test func `an explicit command encrypts a plaintext folder`() async throws {
    let tool = try await make("--plaintext")
    _ = try await tool.json(
      "soup", "register", "tools", "--index", "Id:string", "--global", "--store", "other")
    #expect(try await tool.json("store", "encrypt")["encrypted"] == 2)
    #expect(try !leaks(tool))
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 1)
    #expect(try await tool.failure("store", "encrypt")["code"] == "encryptedState")
    #expect(
      try await tool.failure("soup", "list", "--global", "--plaintext")["code"] == "encryptedState")
  }
}
