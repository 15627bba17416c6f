import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import CLITests

/// Does every record reach the server once, when two processes create records while a third one syncs, and each of them is
/// killed now and then?
@Suite struct EditsDuringSyncsProof {
  private static let seed = Effort.seed(5)

  @Test(.timeLimit(.minutes(60)))
  func `records of other processes reach the server once, whatever process is killed`() async throws
  {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
        "--index", "__sync_id__:integer")
      try await org.create("Account", ["Name": "first"])
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account",
        "--merge-mode", "LEAVE_IF_CHANGED", "--name", "down")
      _ = try await tool.json(
        "sync", "up", "--soup", "accounts", "--fields", "Name", "--name", "up")

      var acknowledged: Set = ["first"]
      var attempted: Set<String> = []
      for round in 0..<Effort.times(1) {
        let syncing = Task { try await sync(tool, round) }
        async let one = create(tool, "a\(round)", Self.seed &+ UInt64(2 * round))
        async let two = create(tool, "b\(round)", Self.seed &+ UInt64(2 * round + 1))
        for names in try await [one, two] {
          acknowledged.formUnion(names.acknowledged)
          attempted.formUnion(names.attempted)
        }
        syncing.cancel()
        try await syncing.value
        #expect(try await tool("sync", "run", "up").status == 0)
        #expect(try await tool("sync", "run", "down").status == 0)

        let there = try await org.query("SELECT Name FROM Account")
          .compactMap { $0["Name"]?.string }
        let rows = try await tool.json(
          "store", "query", "SELECT {accounts:_soup} FROM {accounts}", "--page-size", "100000")
        let here = (rows["rows"]?.array ?? []).compactMap { $0[0]?["Name"]?.string }
        #expect(here.sorted() == there.sorted(), "round \(round), seed \(Self.seed)")
        #expect(Set(there).count == there.count, "round \(round), seed \(Self.seed)")
        #expect(acknowledged.isSubset(of: there), "round \(round), seed \(Self.seed)")
        #expect(acknowledged.union(attempted).isSuperset(of: there))
        #expect(try await tool("store", "verify").status == 0)
      }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: ["down", "up"])
  func `an edit of another process at any request of a sync stays and is uploaded next time`(
    name: String
  ) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string",
        "--index", "__sync_id__:integer")
      for name in ["Elm", "Oak"] { try await org.create("Account", ["Name": .string(name)]) }
      let ids = try await org.query("SELECT Id FROM Account ORDER BY Name")
        .compactMap { $0["Id"]?.string }
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name, Phone FROM Account",
        "--merge-mode", "LEAVE_IF_CHANGED", "--name", "down")
      _ = try await tool.json(
        "sync", "up", "--soup", "accounts", "--fields", "Phone", "--name", "up")
      for number in 0... {
        _ = try await tool.json("store", "edit", "accounts", ids[0], "Phone=first\(number)")
        try await org.update("Account", id: ids[1], ["Phone": .string("theirs\(number)")])
        let later = "later\(number)"
        let (edits, edit) = AsyncStream.makeStream(of: Int32.self)
        org.add(
          MockOrgFault(
            path: "/", skipping: number, count: 1,
            action: .editedBody { body in
              let result = try? await tool("store", "edit", "accounts", ids[0], "Phone=\(later)")
              edit.yield(result?.status ?? -1)
              return body
            }))
        #expect(try await tool("sync", "run", name).status == 0)
        edit.finish()
        var statuses: [Int32] = []
        for await status in edits { statuses.append(status) }
        guard !statuses.isEmpty else {
          #expect(number > 0)
          break
        }
        #expect(statuses == [0], "request \(number)")
        let row = try await tool.json(
          "store", "query", "SELECT {accounts:_soup} FROM {accounts} WHERE {accounts:Id} = ?",
          "--arg", ids[0])
        #expect(row["rows"]?[0]?[0]?["Phone"]?.string == later, "request \(number)")
        #expect(try await tool("sync", "run", "up").status == 0)
        let there = try await org.query("SELECT Phone FROM Account WHERE Id = '\(ids[0])'")
        #expect(there.first?["Phone"]?.string == later, "request \(number)")
      }
    }
  }

  /// Creates records, one in each process.
  ///
  /// - Returns: Those that were acknowledged, and those whose process was killed.
  private func create(
    _ tool: Tool, _ prefix: String, _ seed: UInt64
  ) async throws -> (acknowledged: [String], attempted: [String]) {
    var random = SeededGenerator(seed: seed)
    var acknowledged: [String] = []
    var attempted: [String] = []
    for number in 0..<9 {
      let name = "\(prefix)-\(number)"
      let command = ["store", "create", "accounts", "--type", "Account", "Name=\(name)"]
      if number % 3 == 2 {
        attempted.append(name)
        let delay = Duration.milliseconds(Int.random(in: 0..<400, using: &random))
        try await tool.kill(command) { try await Task.sleep(for: delay) }
      } else {
        let result = try await tool.run(command + ["--state", tool.state.path])
        #expect(result.status == 0, "\(name): \(result.errors)")
        acknowledged.append(name)
      }
    }
    return (acknowledged, attempted)
  }

  /// Runs the syncs again and again until the task is cancelled, every other time in a process that is killed.
  private func sync(_ tool: Tool, _ round: Int) async throws {
    var random = SeededGenerator(seed: Self.seed ^ UInt64(round))
    while !Task.isCancelled {
      let delay = Duration.milliseconds(Int.random(in: 100..<1500, using: &random))
      // Cancelling the task kills the process, too.
      _ = try? await tool.kill(["sync", "run", "up", "down"]) { try await Task.sleep(for: delay) }
      if Task.isCancelled { return }
      let result = try? await tool("sync", "run", "up", "down")
      if let result, !Task.isCancelled { #expect(result.status == 0, "\(result.errors)") }
    }
  }
}
