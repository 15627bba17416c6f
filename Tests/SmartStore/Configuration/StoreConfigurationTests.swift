import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Which soups do configuration files make?
@Suite struct StoreConfigurationTests {
  private let owner = StoreOwner.user(organizationId: "00D1", userId: "0051")
  private let two = """
    {"soups":[
      {"soupName":"first","indexes":[{"path":"s","type":"string"},{"path":"i","type":"integer"},
        {"path":"f","type":"floating"},{"path":"j.k","type":"json1"},{"path":"t","type":"full_text"}]},
      {"soupName":"second","indexes":[{"path":"s2","type":"string"},{"path":"i2","type":"integer"},
        {"path":"f2","type":"floating"},{"path":"j2","type":"json1"},{"path":"t2","type":"full_text"}]}
    ]}
    """

  private func withManager(
    _ body: (SmartStoreManager, LogRecorder) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let log = LogRecorder()
      let manager = SmartStoreManager(
        root: folder.file("root"), encryption: testEncryption,
        options: SmartStoreOptions(logger: log.logger(forComponent: "SmartStore", level: .info)),
        isLoggedIn: { _ in true })
      try await body(manager, log)
      try await manager.close()
    }
  }

  private func source(_ files: [String: String]) -> StoreConfigurationSource {
    StoreConfigurationSource { files[$0].map { Array($0.utf8) } }
  }

  @Test(.covers("SS-85.1", "SS-86.1", "SS-88"), arguments: [true, false])
  func `the soups of a file are made in its order`(isGlobal: Bool)
    async throws
  {
    try await withManager { manager, _ async throws in
      let file = isGlobal ? "globalstore.json" : "userstore.json"
      func load() async throws -> SmartStore? {
        if isGlobal {
          try await manager.setupGlobalStoreFromDefaultConfig(from: source([file: two]))
          return try await manager.sharedGlobal()
        }
        try await manager.setupUserStoreFromDefaultConfig(
          forUserAccount: owner, from: source([file: two]))
        return try await manager.shared(forUserAccount: owner)
      }
      for _ in 0..<2 {
        let store = try #require(try await load())
        #expect(store.name == "defaultStore" && store.isGlobal == isGlobal)
        #expect(try await store.allSoupNames() == ["first", "second"])
        #expect(
          try await store.rows("select id, soupName from soup_attrs order by id")
            == [[1, "first"], [2, "second"]])
        #expect(
          try await store.indices(forSoupNamed: "first").map(\.columnName) == [
            "TABLE_1_0", "TABLE_1_1", "TABLE_1_2", "json_extract(soup, '$.j.k')", "TABLE_1_4",
          ])
        #expect(
          try await store.indices(forSoupNamed: "second").map(\.columnName) == [
            "TABLE_2_0", "TABLE_2_1", "TABLE_2_2", "json_extract(soup, '$.j2')", "TABLE_2_4",
          ])
      }
      // Only the store that the file is for.
      #expect(try manager.allGlobalStoreNames() == (isGlobal ? ["defaultStore"] : []))
    }
  }

  @Test(.covers("SS-85.2", "SS-191.3"))
  func `a file makes ordinary soups of its one store, whatever else it says`() async throws {
    let text = """
      {"stores":[{"storeName":"other"}],"storeName":"other","soups":[
        {"soupName":"a","features":["externalStorage"],"indexes":[{"path":"x","type":"string"}]}]}
      """
    try await withManager { manager, _ async throws in
      try await manager.setupGlobalStoreFromDefaultConfig(from: source(["globalstore.json": text]))
      #expect(try manager.allGlobalStoreNames() == ["defaultStore"])
      let store = try await manager.sharedGlobal()
      try await store.upsert(entries: [["x": "1"]], forSoupNamed: "a")
      #expect(
        try await store.rows("select soupName, externalStorage from soup_attrs") == [["a", 0]])
    }
  }

  @Test(.covers("SS-86.1"))
  func `a soup that exists stays as it is`() async throws {
    try await withManager { manager, _ async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(withName: "second", withIndices: [SoupIndex]("x:string"))
      try await store.upsert(entries: [["x": "1"]], forSoupNamed: "second")
      try await manager.setupGlobalStoreFromDefaultConfig(from: source(["globalstore.json": two]))
      #expect(try await store.allSoupNames() == ["first", "second"])
      #expect(try await store.indices(forSoupNamed: "second").map(\.path) == ["x"])
      #expect(try await store.elements(of: "second").count == 1)
    }
  }

  @Test(
    .covers("SS-87"),
    arguments: [
      nil, "", "{", "[]", "{}", #"{"soups":[]}"#, #"{"soups":{}}"#,
      #"{"soups":[{"soupName":"x"}]}"#,
      #"{"soups":[{"indexes":[{"path":"a","type":"string"}]}]}"#, "\u{feff}{}",
    ])
  func `a file without a soup is logged and makes no store`(content: String?) async throws {
    try await withManager { manager, log async throws in
      let files = content.map { ["globalstore.json": $0, "userstore.json": $0] } ?? [:]
      try await manager.setupGlobalStoreFromDefaultConfig(from: source(files))
      try await manager.setupUserStoreFromDefaultConfig(
        forUserAccount: owner, from: source(files))
      #expect(try manager.allGlobalStoreNames() == [])
      #expect(try manager.allStoreNames(forUserAccount: owner) == [])
      #expect(log.lines.contains { $0.contains("globalstore.json") })
      #expect(log.lines.contains { $0.contains("userstore.json") })
    }
  }

  @Test(.covers("SS-87"))
  func `a file that cannot be read is logged, and without a user nothing happens`()
    async throws
  {
    struct Unreadable: Error {}
    try await withManager { manager, log async throws in
      let problems = try await manager.setupGlobalStoreFromDefaultConfig(
        from: StoreConfigurationSource { _ in throw Unreadable() })
      #expect(problems.map(\.file) == ["globalstore.json"])
      #expect(log.lines.contains { $0.hasPrefix("error") && $0.contains("globalstore.json") })
      try await manager.setupUserStoreFromDefaultConfig(
        forUserAccount: nil, from: source(["userstore.json": two]))
      #expect(log.lines.contains { $0.contains("No user is given") })
      #expect(try manager.allGlobalStoreNames() == [])
    }
  }

  @Test(.covers("SS-87"))
  func `a bad entry is left out and the others are made`() async throws {
    let content = """
      {"soups":[
        {"soupName":"","indexes":[{"path":"s","type":"string"}]}, 7,
        {"soupName":"none","indexes":[]},
        {"soupName":"word","indexes":[{"path":"s","type":"boolean"}]},
        {"soupName":"path","indexes":[{"type":"string"}]},
        {"soupName":"json","indexes":[{"path":"a[","type":"json1"}]},
        {"soupName":"good","indexes":[{"path":"s","type":"string","columnName":"mine"}]}
      ]}
      """
    try await withManager { manager, log async throws in
      try await manager.setupGlobalStoreFromDefaultConfig(
        from: source(["globalstore.json": content]))
      let store = try await manager.sharedGlobal()
      #expect(try await store.allSoupNames() == ["good"])
      #expect(try await store.indices(forSoupNamed: "good").first?.columnName == "TABLE_1_0")
      #expect(log.lines.filter { $0.hasPrefix("error") }.count == 6)
    }
  }

  @Test(.covers("HT-56"), arguments: [true, false])
  func `each problem of a file is returned and logged with its line, place and remedy`(
    isGlobal: Bool
  ) async throws {
    let file = isGlobal ? "globalstore.json" : "userstore.json"
    let content = """
      {"soups":[
        {"soupName":"good","indexes":[{"path":"s","type":"string","columnName":"x"}]},
        {"soupName":"good","indexes":[{"path":"s","type":"string"}]},
        {"soupName":"word","indexes":[{"path":"s","type":"strng"},
          {"path":"t","type":"integer"}, {"path":"t","type":"string"}]},
        7, {"soupName":"none","indexes":{}}, {"indexes":[]}
      ], "more": 1}
      """
    try await withManager { manager, log async throws in
      let files = source([file: content])
      let problems =
        isGlobal
        ? try await manager.setupGlobalStoreFromDefaultConfig(from: files)
        : try await manager.setupUserStoreFromDefaultConfig(forUserAccount: owner, from: files)
      #expect(
        problems.map { "\($0.line) \($0.path) \($0.isWarning)" } == [
          "7 more true", "2 soups[0].indexes[0].columnName true", "3 soups[1].soupName false",
          "4 soups[2].indexes[0].type false", "5 soups[2].indexes[2].path false",
          "6 soups[3] false", "6 soups[4].indexes false", "6 soups[5] false",
          "6 soups[5].indexes false",
        ])
      #expect(problems[2].column == 15)
      #expect(problems[3].message.contains("Write one of string, integer, floating"))
      for problem in problems {
        let level = problem.isWarning ? "warning" : "error"
        #expect(problem.description.hasPrefix("\(file):\(problem.line):"))
        #expect(log.lines.contains { $0.hasPrefix(level) && $0.hasSuffix("\(problem)") })
      }
      let store = try #require(
        isGlobal
          ? try await manager.sharedGlobal() : try await manager.shared(forUserAccount: owner))
      #expect(try await store.allSoupNames() == ["good"])
      let correct = source([file: two])
      #expect(
        isGlobal
          ? try await manager.setupGlobalStoreFromDefaultConfig(from: correct).isEmpty
          : try await manager.setupUserStoreFromDefaultConfig(
            forUserAccount: owner, from: correct
          ).isEmpty)
    }
  }

  @Test(.covers("HT-56"), arguments: [("{\n \"soups\": [,] }", 2), ("\n\n3", 3), ("", 1)])
  func `a file that is no object of soups has one problem, at its line`(content: String, line: Int)
  {
    let configuration = StoreConfiguration(parsing: Array(content.utf8), file: "f.json")
    #expect(configuration.soups.isEmpty)
    #expect(configuration.problems.map(\.line) == [line])
    #expect(configuration.problems.first?.description.hasPrefix("f.json:\(line):") == true)
  }

  @Test(.covers("SS-87"))
  func `a soup that SQLite refuses is left out and the others are made`() async throws {
    let wide = (0..<2100).map { #"{"path":"p\#($0)","type":"string"}"# }.joined(separator: ",")
    let content = """
      {"soups":[{"soupName":"wide","indexes":[\(wide)]},
        {"soupName":"good","indexes":[{"path":"s","type":"string"}]}]}
      """
    try await withManager { manager, log async throws in
      let problems = try await manager.setupGlobalStoreFromDefaultConfig(
        from: source(["globalstore.json": content]))
      #expect(problems.map { "\($0.line) \($0.path)" } == ["1 soups[0]"])
      #expect(problems.first?.message.hasSuffix("The soup 'wide' is left out.") == true)
      #expect(try await manager.sharedGlobal().allSoupNames() == ["good"])
      #expect(log.lines.filter { $0.hasPrefix("error") }.count == 1)
    }
  }

  @Test(.covers("SS-87"))
  func `a soup that is half altered waits, and the others are made`() async throws {
    try await withManager { manager, log async throws in
      let store = try await manager.sharedGlobal()
      try await store.registerSoup(withName: "first", withIndices: [SoupIndex]("x:string"))
      try await store.alterSoup(
        named: "first", spec: nil, indexSpecs: [SoupIndex]("y:string"), reIndexData: true,
        through: .copyTable)
      try await manager.setupGlobalStoreFromDefaultConfig(from: source(["globalstore.json": two]))
      #expect(try await store.soupExists(forName: "second"))
      #expect(log.lines.filter { $0.hasPrefix("error") }.count == 1)
      try await store.resumeLongOperations()
      #expect(try await store.indices(forSoupNamed: "first").map(\.path) == ["y"])
    }
  }

  @Test(.covers("SS-86.1"))
  func `files lie in a folder, or nowhere`() async throws {
    try await withManager { manager, _ async throws in
      try await TemporaryFolder.with { folder in
        try await manager.setupGlobalStoreFromDefaultConfig(from: .folder(folder.url))
        #expect(try manager.allGlobalStoreNames() == [])
        try Data(two.utf8).write(to: folder.file("globalstore.json"))
        try await manager.setupGlobalStoreFromDefaultConfig(from: .folder(folder.url))
        #expect(try await manager.sharedGlobal().allSoupNames() == ["first", "second"])
      }
      // The test's own folder and resources hold none.
      try await manager.setupUserStoreFromDefaultConfig(forUserAccount: owner)
      #expect(try manager.allStoreNames(forUserAccount: owner) == [])
    }
  }
}
