import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Testing

/// What does a person see who sits at a terminal?
@Suite struct TerminalTests {
  private func toolWithSoup() async throws -> Tool {
    let tool = try Tool()
    _ = try await tool.json(
      "soup", "register", "tools", "--index", "Id:string", "--index", "Name:string", "--global")
    _ = try await tool.json(
      "store", "upsert", "tools", "--global",
      input: """
        {"Id":"t1","Name":"Hammer"}
        {"Id":"t2","Name":"日本語"}
        {"Id":"t3","Name":"A very long name that no narrow window holds on one line"}
        """)
    return tool
  }

  private static let query = "SELECT {tools:Id}, {tools:Name} AS title, 'x,y' FROM {tools}"

  private func lines(_ result: Tool.Result) -> [String] {
    result.output.split(whereSeparator: \.isNewline).map(String.init)
  }

  @Test func `rows stand below the names of their columns, in bold unless NO_COLOR is set`()
    async throws
  {
    let tool = try await toolWithSoup()
    let coloured = try await tool.inTerminal("store", "query", Self.query, "--global", columns: 100)
    #expect(coloured.output.contains("\u{1B}[1mId  title"))
    let plain = try await tool.inTerminal(
      "store", "query", Self.query, "--global", columns: 100, environment: ["NO_COLOR": "1"])
    #expect(!plain.output.contains("\u{1B}["))
    let lines = lines(plain)
    try #require(lines.count == 4)
    #expect(lines.first?.hasPrefix("Id  title ") == true && lines.first?.hasSuffix("'x,y'") == true)
    #expect(lines[1].hasPrefix("t1  Hammer "))
    // Wide characters count twice, so that the columns stay aligned on the screen.
    let ends = lines[1...2].map { line in line.distance(from: line.startIndex, to: line.endIndex) }
    #expect(ends[0] - ends[1] == 3)
  }

  @Test func `rows that are too wide for the window are blocks in which nothing is cut`()
    async throws
  {
    let tool = try await toolWithSoup()
    let result = try await tool.inTerminal(
      "store", "query", Self.query, "--global", columns: 40, environment: ["NO_COLOR": "1"])
    let lines = lines(result)
    try #require(lines.count == 3 * 3 + 2)
    #expect(lines[1] == "title  Hammer")
    #expect(lines.contains { $0.hasSuffix("no narrow window holds on one line") })
  }

  @Test func `in a pipe there are tabs, no headers and no colours`() async throws {
    let tool = try await toolWithSoup()
    let result = try await tool("store", "query", Self.query, "--global")
    #expect(result.output.hasPrefix("t1\tHammer\tx,y\n"))
    #expect(try await tool("soup", "list", "--global").output == "tools\n")
    #expect(try await tool("store", "list", "--global").output == "defaultStore\n")
  }

  @Test func `hostile names cannot command the terminal in a table`() async throws {
    let tool = try await toolWithSoup()
    _ = try await tool.json(
      "store", "upsert", "tools", "--global",
      input: #"{"Id":"t4","Name":"\u001b[2Jgone\nnext\u202e"}"#)
    let result = try await tool.inTerminal(
      "store", "query", "SELECT {tools:Name} FROM {tools} WHERE {tools:Id} = 't4'", "--global",
      environment: ["NO_COLOR": "1"])
    #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"))
    #expect(lines(result) == ["Name", #"\u001b[2Jgone\nnext\u202e"#])
  }

  @Test func `a server's words with line ends make no lines of their own`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      org.add(
        MockOrgFault(
          path: "/query",
          action: .status(
            400,
            body: #"[{"message":"no\nwarning: log out\r\nand:","errorCode":"MALFORMED_QUERY"}]"#)))
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      let failed = try await tool(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id FROM Account")
      let lines = failed.errors.split(separator: "\n")
      #expect(lines.contains("  warning: log out\\r\\nand:"), "\(failed.errors)")
      #expect(lines.filter { !$0.hasPrefix("  ") }.count == 1)
    }
  }

  @Test func `lists have headers, and empty ones say so`() async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      #expect(
        lines(try await tool.inTerminal("accounts", environment: ["NO_COLOR": "1"]))
          == ["no accounts"])
      try await tool.logIn(to: server)
      let accounts = try await tool.inTerminal("accounts", environment: ["NO_COLOR": "1"])
      #expect(lines(accounts).first?.split(separator: " ") == ["USER", "ID"])
      // What takes longer than a second shows its progress before.
      #expect(lines(try await tool.inTerminal("sync", "list")).last == "no syncs")
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      _ = try await tool.json(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id FROM Account", "--name", "all")
      let syncs = lines(
        try await tool.inTerminal("sync", "list", environment: ["NO_COLOR": "1"]))
      #expect(
        syncs.first?.split(separator: " ")
          == ["ID", "NAME", "TYPE", "SOUP", "STATUS", "PROGRESS", "RECORDS"])
      try #require(syncs.count == 2)
      #expect(syncs[1].contains("DONE") && syncs[1].contains("100 %"))
      let narrow = lines(
        try await tool.inTerminal("sync", "list", columns: 40, environment: ["NO_COLOR": "1"]))
      #expect(narrow.contains("SOUP      accounts"))
    }
  }

  @Test func `an error is red on a terminal`() async throws {
    let tool = try Tool()
    let coloured = try await tool.inTerminal("rest", "GET", "/limits")
    #expect(coloured.output.contains("\u{1B}[31merror:\u{1B}[0m No user is logged in."))
    let plain = try await tool.inTerminal(
      "rest", "GET", "/limits", environment: ["NO_COLOR": "1"])
    #expect(plain.output.hasPrefix("error: No user is logged in."))
  }

  /// The states of the progress line with a percentage. Each begins with a carriage return and removes the one
  /// before.
  private static func progressLines(_ output: String) -> [String] {
    let scalars = Array(output.unicodeScalars)
    var lines: [String] = []
    for part in scalars.split(separator: "\r") {
      var text = String.UnicodeScalarView(part)
      guard String(text).hasPrefix("\u{1B}[K") else { continue }
      text.removeFirst(3)
      let line = String(String.UnicodeScalarView(text.prefix { $0 != "\u{1B}" }))
      // The result follows the last state.
      if line.contains("%"), !line.hasPrefix("syncDown") { lines.append(line) }
    }
    return lines
  }

  @Test(arguments: [40, 80])
  func `work of more than a second shows its amount, rate and remaining time`(
    columns: Int
  ) async throws {
    try await withMockOrg { org, server in
      let tool = try Tool()
      try await tool.logIn(to: server)
      _ = try await tool.json(
        "soup", "register", "accounts", "--index", "Id:string", "--index", "__local__:string")
      try await org.generate("Account", count: 5_000, seed: 1)
      org.add(MockOrgFault(path: "/query/", count: nil, action: .delay(.milliseconds(1_200))))
      let result = try await tool.inTerminal(
        "sync", "down", "--soup", "accounts", "--query", "SELECT Id, Name FROM Account", "--name",
        "all", columns: columns)
      let shown = Self.progressLines(result.output)
      #expect(!shown.isEmpty, "\(result.output)")
      #expect(shown.allSatisfy { $0.count < columns })
      #expect(shown.contains { $0.contains("records/s") || columns == 40 })
      #expect(shown.contains { $0.contains("left") })
      // It is gone before the result.
      #expect(result.output.contains("\u{1B}[KsyncDown"))
    }
  }
}
