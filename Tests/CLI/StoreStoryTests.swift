import Foundation
import SalesforceSDKCommon
import Testing
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Can a user without an org keep records in a store from the command line?
@Suite struct StoreStoryTests {
  private let lines = """
    {"Id":"t1","Name":"Hammer","Price":12.5,"Notes":"steel head, oak handle"}

    {"Id":"t2","Name":"Saw","Price":31,"Notes":"steel blade"}
    {"Id":"t3","Name":"Plane","Price":64.25,"Notes":"beech body"}

    """

  /// A soup of three tools in the app's own store.
  private func toolWithSoup() async throws -> Tool {
    let tool = try Tool()
    let made = try await tool.json(
      "soup", "register", "tools", "--index", "Id:string", "--index", "Name:string",
      "--index", "Price:floating", "--index", "Notes:full_text", "--global")
    #expect(made["soup"] == "tools")
    let stored = try await tool.json("store", "upsert", "tools", "--global", input: lines)
    #expect(stored == ["upserted": 3, "ids": [1, 2, 3]])
    return tool
  }

  @Test func `a soup is created, filled, queried, changed and removed`() async throws {
    let tool = try await toolWithSoup()
    #expect(try await tool.json("soup", "list", "--global") == ["soups": ["tools"]])
    let info = try await tool.json("soup", "info", "tools", "--global")
    #expect(info["name"] == "tools")
    #expect(info["count"] == 3)
    let indexes = info["indexes"]?.array ?? []
    #expect(indexes.map { $0["path"] } == ["Id", "Name", "Price", "Notes"])
    #expect(indexes.map { $0["type"] } == ["string", "string", "floating", "full_text"])
    #expect(indexes.allSatisfy { $0["columnName"]?.string?.isEmpty == false })

    let page = try await tool.json(
      "store", "query",
      "SELECT {tools:Name}, {tools:Price} FROM {tools} WHERE {tools:Price} < 50 ORDER BY {tools:Name}",
      "--page-size", "1", "--page", "1", "--global")
    #expect(page == ["rows": [["Saw", 31.0]], "total": 2, "page": 1, "pageSize": 1])
    let one = try await tool.json(
      "store", "query", "SELECT {tools:Id} FROM {tools} WHERE {tools:Name} = ?", "--arg", "Plane",
      "--global")
    #expect(one["rows"] == [["t3"]])
    // A number in an element is found by a number, and by no text that looks like it.
    for (argument, names) in [("31", ["Saw"]), (#""31""#, [])] {
      let byNumber = try await tool.json(
        "store", "query",
        "SELECT {tools:Name} FROM {tools} WHERE json_extract({tools:_soup}, '$.Price') = ?",
        "--arg", argument, "--global")
      #expect(byNumber["rows"] == .array(names.map { [.string($0)] }))
    }
    // What JSON writes as a number is one; a text may begin with a mark that combines with the equals sign.
    for (argument, value) in [
      ("1e5", .double(100_000)), ("1.50", 1.5), ("-0", 0), ("007", "007"), (" 1", " 1"),
      ("\u{301}x", "\u{301}x"),
      ("=", "="), ("[1]", "[1]"), ("true", 1),
    ] as [(String, JSONValue)] {
      let bound = try await tool.json(
        "store", "query", "SELECT ?, typeof(?) FROM {tools}", "--arg=\(argument)",
        "--arg=\(argument)", "--page-size", "1", "--global")
      let row = bound["rows"]?[0]
      #expect(row?[0] == value, "\(argument)")
      #expect((row?[1] == "text") == (value.string != nil), "\(argument)")
    }
    let found = try await tool.json(
      "store", "query", "--soup", "tools", "--spec",
      #"{"queryType":"match","indexPath":"Notes","matchKey":"steel","orderPath":"Name","pageSize":5}"#,
      "--global")
    #expect(found["rows"]?.array?.map { $0["Name"] } == ["Hammer", "Saw"])
    #expect(found["pageSize"] == 5)

    // By external id: one is changed, one is new.
    let changed = try await tool.json(
      "store", "upsert", "tools", "--external-id", "Id", "--global",
      input: #"{"Id":"t2","Name":"Fine saw","Price":35}"# + "\n" + #"{"Id":"t4","Name":"File"}"#)
    #expect(changed == ["upserted": 2, "ids": [2, 4]])

    #expect(
      try await tool.json("store", "remove", "tools", "--id", "1", "--id", "4", "--global")
        == ["removed": 2, "ids": [1, 4], "missing": []])
    _ = try await tool.json(
      "store", "remove", "tools", "--global", "--spec",
      #"{"queryType":"exact","indexPath":"Name","matchKey":"Plane","pageSize":10}"#)
    let left = try await tool.json(
      "store", "query", "SELECT {tools:Name} FROM {tools}", "--global")
    #expect(left["rows"] == [["Fine saw"]])

    let altered = try await tool.json(
      "soup", "alter", "tools", "--index", "Price:integer", "--index", "Name:full_text", "--global")
    #expect(altered == ["soup": "tools"])
    let byPrice = try await tool.json(
      "store", "query", "--soup", "tools", "--spec",
      #"{"queryType":"exact","indexPath":"Price","matchKey":35,"pageSize":10}"#, "--global")
    #expect(byPrice["rows"]?.array?.map { $0["Name"] } == ["Fine saw"])
    _ = try await tool.json(
      "soup", "alter", "tools", "--index", "Id:string", "--no-reindex", "--global")
    let byId = try await tool.json(
      "store", "query", "--soup", "tools", "--spec",
      #"{"queryType":"exact","indexPath":"Id","matchKey":"t2","pageSize":10}"#, "--global")
    #expect(byId["rows"] == [])

    #expect(try await tool.json("store", "list", "--global") == ["stores": ["defaultStore"]])
    #expect((try await tool.json("store", "size", "--global")["bytes"]?.int64 ?? 0) > 4096)
    _ = try await tool.json("soup", "clear", "tools", "--global")
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 0)
    #expect(
      try await tool.json("soup", "remove", "tools", "--global")
        == ["soup": "tools", "removed": true])
    #expect(try await tool.json("soup", "list", "--global") == ["soups": []])
  }

  @Test func `people read lines, not JSON`() async throws {
    let tool = try await toolWithSoup()
    let rows = try await tool(
      "store", "query", "SELECT {tools:Id}, {tools:Name} FROM {tools} ORDER BY {tools:Id}",
      "--global")
    #expect(rows.status == 0)
    #expect(rows.output == "t1\tHammer\nt2\tSaw\nt3\tPlane\n")
    let wrong = try await tool("soup", "info", "nails", "--global")
    #expect(wrong.status == 1)
    #expect(wrong.output.isEmpty)
    #expect(wrong.errors.hasPrefix("error: "))
    #expect(wrong.errors.contains("nails"))
  }

  @Test(.covers("SS-62", "SS-109"))
  func `what is not there cannot be removed, and that is said`() async throws {
    let tool = try await toolWithSoup()
    let soup = try await tool("soup", "remove", "nope", "--global")
    #expect(soup.status == 0)
    #expect(soup.output == "there is no soup nope, so nothing was removed\n")
    #expect(
      try await tool.json("soup", "remove", "nope", "--global")
        == ["soup": "nope", "removed": false])
    let element = try await tool("store", "remove", "tools", "--id", "99999", "--global")
    #expect(element.status == 0)
    #expect(
      element.output == "no entry to remove\nthere was no entry with id 99999\n")
    #expect(
      try await tool.json("store", "remove", "tools", "--id", "2", "--id", "99999", "--global")
        == ["removed": 1, "ids": [2], "missing": [99999]])
    let query = try await tool(
      "store", "remove", "tools", "--global", "--spec",
      #"{"queryType":"exact","indexPath":"Name","matchKey":"Nobody","pageSize":10}"#)
    #expect(query.output == "no entry to remove\n")
  }

  @Test(arguments: ["master.key", "keychain.db"])
  func `a secret store that cannot be used is said once, with the file's name`(
    name: String
  ) async throws {
    let tool = try await toolWithSoup()
    let file = tool.state.appending(path: name)
    if name == "master.key" {
      try FileManager.default.removeItem(at: file)
    } else {
      try Data("nonsense".utf8).write(to: file)
    }
    let error = try await tool.failure("soup", "list", "--global")
    #expect(error["message"]?.string?.contains(file.path) == true)
    let said = try await tool("soup", "list", "--global")
    #expect(said.errors.split(separator: "\n").count == 1)
    let verbose = try await tool("soup", "list", "--global", "--verbose")
    let lines = verbose.errors.split(separator: "\n")
    #expect(lines.last?.hasPrefix("error: ") == true)
    #expect(lines.count { $0.contains(file.path) } == 1)
    #expect(lines.allSatisfy { $0.ranges(of: "SmartStore:").count <= 1 })
  }

  @Test(arguments: [
    "not json", "[1,2]", #"{"Id":"t9""#, "3", #"{"Id":"\u{7}"}"#, #"{"Id":"t9"} {"Id":"t10"}"#,
  ])
  func `a line that is no object stores nothing at all`(bad: String) async throws {
    let tool = try await toolWithSoup()
    let error = try await tool.failure(
      "store", "upsert", "tools", "--global",
      input: #"{"Id":"t5","Name":"Drill"}"# + "\n\(bad)\n" + #"{"Id":"t6","Name":"Vice"}"#)
    #expect(error["code"] == "invalidEntry")
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
  }

  @Test func `what the store refuses comes with the number that is fixed for it`() async throws {
    let tool = try await toolWithSoup()
    let unknown = try await tool.failure(
      "store", "query", "SELECT {nails:Id} FROM {nails}", "--global")
    #expect(unknown["code"] == "unknownSoup" && unknown["number"] == 999)
    #expect(unknown["message"]?.string?.contains("nails") == true)
    let type = try await tool.failure(
      "soup", "register", "nails", "--index", "Size:decimal", "--global")
    #expect(type["code"] == "invalidIndexSpec")
    #expect(type["message"]?.string?.contains("decimal") == true)
    #expect(try await tool.json("soup", "list", "--global") == ["soups": ["tools"]])
    let path = try await tool.failure(
      "store", "upsert", "tools", "--external-id", "Colour", "--global", input: lines)
    #expect(path["code"] == "notIndexed" && path["number"] == 2)
    let missing = try await tool.failure(
      "store", "upsert", "tools", "--external-id", "Id", "--global", input: #"{"Name":"Drill"}"#)
    #expect(missing["number"] == 3)
    let spec = try await tool.failure(
      "store", "query", "--soup", "tools", "--spec", "{", "--global")
    #expect(spec["code"] == "invalidQuerySpec")
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
  }

  @Test func `a store is checked, and what is damaged is named`() async throws {
    let tool = try await toolWithSoup()
    let clean = try await tool.json("store", "verify", "--global")
    #expect(clean["clean"] == true)
    #expect(clean["soups"] == 1)
    #expect(clean["elements"] == 3)
    #expect(clean["findings"] == [])

    let path = tool.state.appending(path: "stores/stores/defaultStore/store.sqlite")
    var bytes = try Data(contentsOf: path)
    bytes[2 * 4096 + 7] ^= 1
    try bytes.write(to: path)
    let damaged = try await tool("store", "verify", "--global", "--json")
    #expect(damaged.status == 1)
    let report = try JSONSlice(parsing: damaged.output.trimmed).value
    #expect(report["clean"] == false)
    #expect(report["findings"]?.array?.contains { $0["page"] == 3 } == true)
    let lines = try await tool("store", "verify", "--global")
    #expect(lines.status == 1)
    #expect(lines.output.contains("page 3"))
    let nobody = try await tool.failure("store", "verify", "--global", "--store", "nowhere")
    #expect(nobody["message"]?.string?.contains("no store") == true)
  }

  @Test func `a store that lost what binds its log is refused until the loss is accepted`()
    async throws
  {
    let tool = try await toolWithSoup()
    let whole = try await tool("store", "accept-loss", "--global")
    #expect(whole.status == 0)
    let anchor = tool.state.appending(path: "stores/stores/defaultStore/store.sqlite-anchor")
    try FileManager.default.removeItem(at: anchor)
    let refused = try await tool.failure("soup", "info", "tools", "--global")
    #expect(refused["message"]?.string?.contains("accept-loss") == true)
    let checked = try await tool("store", "verify", "--global")
    #expect(checked.status == 1)
    #expect(checked.output.contains("binds the write-ahead log"))
    let accepted = try await tool.json("store", "accept-loss", "--global")
    #expect(accepted["clean"] == true)
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
  }

  @Test func `a store that another process writes can be read and not written`() async throws {
    let tool = try await toolWithSoup()
    let lock = tool.state.appending(path: "stores/stores/defaultStore/store.lock").path
    let descriptor = open(lock, O_RDWR | O_CLOEXEC)
    try #require(descriptor >= 0)
    #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
    let error = try await tool.failure("store", "upsert", "tools", "--global", input: lines)
    #expect(error["message"]?.string?.contains("open for writing") == true)
    close(descriptor)
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
  }

  @Test func `a lost key is reported, and no file is touched`() async throws {
    let tool = try await toolWithSoup()
    let keys = tool.state.appending(path: "keychain.db")
    let aside = tool.state.appending(path: "keychain.aside")
    let database = tool.state.appending(path: "stores/stores/defaultStore/store.sqlite")
    let before = try Data(contentsOf: database)
    try FileManager.default.moveItem(at: keys, to: aside)
    _ = try await tool.failure("soup", "info", "tools", "--global")
    #expect(try Data(contentsOf: database) == before)
    if FileManager.default.fileExists(atPath: keys.path) {
      try FileManager.default.removeItem(at: keys)
    }
    try FileManager.default.moveItem(at: aside, to: keys)
    #expect(try await tool.json("soup", "info", "tools", "--global")["count"] == 3)
  }

  @Test func `stores are plain text only in a state folder that was made so`() async throws {
    let plain = try Tool()
    _ = try await plain.json(
      "soup", "register", "tools", "--index", "Id:string", "--global", "--plaintext")
    _ = try await plain.json("store", "upsert", "tools", "--global", input: lines)
    let database = plain.state.appending(path: "stores/stores/defaultStore/store.sqlite")
    #expect(try Data(contentsOf: database).range(of: Data("oak handle".utf8)) != nil)

    let sealed = try await toolWithSoup()
    let file = sealed.state.appending(path: "stores/stores/defaultStore/store.sqlite")
    #expect(try Data(contentsOf: file).range(of: Data("oak handle".utf8)) == nil)
    let error = try await sealed.failure("soup", "list", "--global", "--plaintext")
    #expect(error["code"] == "encryptedState")
  }
}
