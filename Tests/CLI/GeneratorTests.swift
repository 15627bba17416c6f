import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Is a project made as a whole, from right values, or not at all?
@Suite struct GeneratorTests {
  private let folder: TemporaryFolder
  private let tool: Tool

  init() throws {
    folder = try TemporaryFolder()
    tool = try Tool()
  }

  fileprivate static let names = [
    "--appname=Notes", "--packagename=com.acme.notes", "--organization=Acme \"Best\" & Söhne",
  ]

  private func create(
    _ arguments: [String], output: String = "out", names: [String] = GeneratorTests.names
  ) async throws -> Tool.Result {
    try await tool.run(arguments + names + ["--outputdir=\(folder.file(output).path)"])
  }

  private func files(_ output: String = "out") throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: folder.file(output).path))
  }

  private func text(_ path: String, in output: String = "out") throws -> String {
    try String(contentsOf: folder.file(output).appending(path: path), encoding: .utf8)
  }

  /// Nothing is left of a project that was not made, neither its folder nor one next to it.
  private func expectNothing(_ location: Testing.SourceLocation = #_sourceLocation) throws {
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left.allSatisfy { !$0.contains("out") }, "\(left)", sourceLocation: location)
  }

  // MARK: Projects

  @Test(
    .covers("HT-48", "HT-52", "HT-54", "HT-58", "HT-60", "BX-105"),
    arguments: [
      ("native_swift", ["Package.swift", "README.md", "Sources/Notes/main.swift"]),
      ("sync_target", ["Package.swift", "Sources/Notes/NotesDown.swift"]),
      ("server_job", ["Package.swift", "Sources/NotesKit/Job.swift"]),
      ("hybrid_local", ["www/index.html", "www/bootconfig.json", "tests/check.sh"]),
      ("ios_swiftui", ["project.yml", "Notes/NotesApp.swift"]),
    ])
  func `each kind of project has its own names in files and file names`(
    kind: String, expected: [String]
  ) async throws {
    let result = try await create(["create", "--apptype=\(kind)"])
    #expect(result.status == 0, "\(result.errors)")
    let made = try files()
    #expect(made.isSuperset(of: expected), "\(made)")
    #expect(!made.contains("template.json"))
    for path in made {
      #expect(!path.contains("Template"), "\(path)")
      guard let content = try? text(path) else { continue }
      for word in ["TemplateApp", "TemplateJob", "TemplateTarget", "TemplateHybrid", "com.example"]
      {
        #expect(!content.contains(word), "\(path)")
      }
      #expect(
        !content.contains("Template Organization") && !content.contains("__FIELDFORCE"), "\(path)")
      if path.hasSuffix(".json") { _ = try JSONSlice(parsing: content) }
    }
    // The summary names what was requested, and the next steps say how to continue.
    #expect(result.errors.contains("com.acme.notes"))
    #expect(result.output.contains("cd '"))
    let check = folder.file("out/tests/check.sh").path
    if kind == "hybrid_local" { #expect(FileManager.default.isExecutableFile(atPath: check)) }
  }

  @Test(.covers("HT-51", "HT-61"))
  func `a remote hybrid app needs a start page, and its checks pass`() async throws {
    let without = try await create(["create", "--apptype=hybrid_remote"])
    #expect(without.status == 2 && without.errors.contains("--startpage is missing"))
    try expectNothing()
    let page = try await create(["create", "-t", "hybrid_remote", "-s", "apex/Shop"])
    #expect(page.status == 0, "\(page.errors)")
    let boot = try JSONSlice(parsing: try text("www/bootconfig.json"))
    #expect(boot["startPage"]?.string == "apex/Shop" && boot["isLocal"]?.bool == false)
    let checked = try await Tool.other("sh", [folder.file("out/tests/check.sh").path])
    #expect(checked.status == 0, "\(checked.output) \(checked.errors)")
  }

  @Test(.covers("HT-56", "HT-61", "BX-105"))
  func `the files of a local hybrid app are right, and are served as they are`() async throws {
    #expect(try await create(["create", "--apptype=hybrid_local"]).status == 0)
    let checked = try await Tool.other("sh", [folder.file("out/tests/check.sh").path])
    #expect(checked.status == 0, "\(checked.output) \(checked.errors)")
    let served = try await Tool.serve([
      "hybrid", "serve", "--www", folder.file("out/www").path, "--state", tool.state.path,
    ]) { line in
      let url = try #require(URL(string: try JSONSlice(parsing: line)["startUrl"]?.string ?? ""))
      #expect(try await WebPage.load(URLRequest(url: url)).text.contains("<h1>Notes</h1>"))
    }
    #expect(served.status == 0)
  }

  @Test(.covers("HT-58"))
  func `keys and servers that were given stand in the files, others are visible placeholders`()
    async throws
  {
    let given = try await create([
      "create", "--consumerkey=3MVG9\"x", "--callbackurl=http://localhost:1717/done",
      "--loginserver=https://acme.my.salesforce.com",
    ])
    #expect(given.status == 0, "\(given.errors)")
    let boot = try JSONSlice(parsing: try text("Sources/NotesKit/Resources/bootconfig.json"))
    #expect(boot["remoteAccessConsumerKey"]?.string == "3MVG9\"x")
    #expect(
      try text("Sources/NotesKit/Resources/servers.json").contains("https://acme.my.salesforce.com")
    )
    #expect(!given.output.contains("Before you ship it"))
    let without = try await create(["create"], output: "second")
    #expect(without.output.contains("Before you ship it"))
    #expect(
      try text("Sources/NotesKit/Resources/bootconfig.json", in: "second")
        .contains("__INSERT_CONSUMER_KEY_HERE__"))
  }

  @Test(.covers("HT-51")) func `an empty folder is used, any other stays as it is`() async throws {
    try FileManager.default.createDirectory(
      at: folder.file("out"), withIntermediateDirectories: true)
    #expect(try await create(["create"]).status == 0)
    let before = try files()
    let again = try await create(["create", "--apptype=sync_target"])
    #expect(again.status == 2 && again.errors.contains("exists already"))
    #expect(try files() == before)
    try Data("x".utf8).write(to: folder.file("file"))
    #expect(try await create(["create"], output: "file").status == 2)
    #expect(try String(contentsOf: folder.file("file"), encoding: .utf8) == "x")
    let nowhere = try await create(["create"], output: "no/such/folder")
    #expect(nowhere.status == 1 && nowhere.errors.contains("does not exist"))
  }

  // MARK: Arguments

  @Test(
    .covers("HT-49", "HT-50", "HT-51"),
    arguments: [
      (["--apptype=native"], "not a kind of app"), (["--appname=my notes"], "blanks"),
      (["--appname=1st"], "no package name"), (["--appname=../up"], "no package name"),
      (["--appname=MobileSync"], "or a keyword"), (["--appname=class"], "or a keyword"),
      (["--appname="], "is missing"), (["--packagename=Com.Acme"], "domain in reverse"),
      (["--packagename=com..acme"], "domain in reverse"), (["--organization= "], "is missing"),
      (["--platform=ios"], "forceios"), (["--platform=linux,android"], "forceios"),
      (["--platform=windows"], "not a platform"), (["--appnmae=x"], "Did you mean '--appname'?"),
      (["stray"], "Illegal argument: stray"),
      (["--apptype=ios_swiftui", "--platform=linux"], "not for linux"),
      (["--apptype=ios_swiftui", "--appname=my-notes"], "must not contain '-'"),
    ])
  func `a wrong value ends with 2, says which and why, and makes nothing`(
    arguments: [String], reason: String
  ) async throws {
    let given = Set(arguments.map { $0.prefix { $0 != "=" } })
    let others = Self.names.filter { !given.contains($0.prefix { $0 != "=" }) }
    let result = try await create(["create"] + arguments, names: others)
    #expect(result.status == 2, "\(result.errors)")
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(result.errors.hasPrefix("Error:") && result.output.isEmpty)
    try expectNothing()
  }

  @Test(.covers("HT-49", "HT-50"))
  func `commands and names of parameters may be written in any case`() async throws {
    let result = try await tool.run([
      "createWithTemplate", "--TemplateRepoURI=sync_target", "--AppName=my-notes",
      "--packageName=com.acme.notes", "--Organization=Acme",
      "--OUTPUTDIR=\(folder.file("out").path)",
    ])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try files().contains("Sources/my_notes/my_notesDown.swift"))
    let alias = try await create(
      ["createwithtemplate", "--templatereouri=server_job"], output: "b")
    #expect(alias.status == 0)
    let missing = try await tool.run(["CREATE", "--non-interactive"])
    #expect(missing.status == 2 && missing.errors.contains("--appname is missing"))
    let blank = try await tool.run(["create", "--appname", "--packagename=a.b"])
    #expect(blank.status == 2 && blank.errors.contains("--appname"))
  }

  @Test(.covers("HT-50", "HT-52"))
  func `at a terminal missing and wrong values are prompted for until each is right`()
    async throws
  {
    let out = folder.file("out").path
    let result = try await tool.typed(
      ["My Notes", "Notes", "Com", "com.acme.notes", "Acme", ""],
      "create", "--apptype=server_job", "--platform=linux", "--outputdir=\(out)", "--startpage=x")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("It must not contain blanks."))
    #expect(result.output.contains("It must be a domain in reverse"))
    #expect(result.output.contains("--startpage is ignored"))
    #expect(try files().contains("Sources/NotesKit/Job.swift"))
  }

  // MARK: Templates

  private func template(_ descriptor: String, _ files: [String: String] = [:]) throws -> URL {
    let root = folder.file("template-\(UUID().uuidString)")
    for (path, text) in files.merging(["template.json": descriptor], uniquingKeysWith: { $1 }) {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return root
  }

  fileprivate static let simple =
    #"{"appType":"hybrid_local","appName":"AppX","packageName":"com.x","organization":"OrgX","#

  @Test(.covers("HT-53", "HT-54"))
  func `a template of a folder moves, removes, renames and replaces, and keeps other bytes`()
    async throws
  {
    let source = try template(
      Self.simple + #""move":[["gitignore",".gitignore"]],"remove":["notes.md"]}"#,
      [
        "gitignore": "build", "notes.md": "internal", "AppX/AppXView.txt": "AppX of OrgX, com.x",
        "a.json": #"{"organization":"OrgX"}"#, "link.html": "<p>OrgX</p>",
      ])
    let bytes = Data([0x89, 0x50, 0, 0xFF] + Array("AppX".utf8))
    try bytes.write(to: source.appending(path: "AppX.png"))
    let result = try await create(["createwithtemplate", "-r", source.path])
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      try files() == [
        ".gitignore", "Notes", "Notes/NotesView.txt", "a.json", "link.html", "Notes.png",
      ])
    #expect(
      try text("Notes/NotesView.txt") == "Notes of Acme \"Best\" & Söhne, com.acme.notes")
    #expect(
      try JSONSlice(parsing: try text("a.json"))["organization"]?.string == "Acme \"Best\" & Söhne")
    #expect(try text("link.html") == "<p>Acme &quot;Best&quot; &amp; Söhne</p>")
    #expect(try Data(contentsOf: folder.file("out/Notes.png")) == bytes)
  }

  @Test(.covers("HT-54")) func `a value that looks like a placeholder stays as it is`() async throws
  {
    let source = try template(Self.simple + #""remove":[]}"#, ["a.txt": "AppX OrgX"])
    let result = try await create(
      ["createwithtemplate", "-r", source.path],
      names: ["--appname=Notes", "--packagename=com.y", "--organization=AppX com.x"])
    #expect(result.status == 0)
    #expect(try text("a.txt") == "Notes AppX com.x")
  }

  @Test(
    .covers("HT-54"),
    arguments: [
      (#"{"appType":"fancy"}"#, "appType"), ("[]", "no JSON object"), ("{", "not valid JSON"),
      (GeneratorTests.simple + #""remove":["../../etc"]}"#, "leaves the project"),
      (GeneratorTests.simple + #""move":[["a.txt","/tmp/x"]]}"#, "leaves the project"),
      (GeneratorTests.simple + #""move":["a"]}"#, "pairs of paths"),
      (GeneratorTests.simple + #""remove":["missing"]}"#, "'missing'"),
      (GeneratorTests.simple + #""replaceInFiles":["missing"]}"#, "'missing'"),
      (GeneratorTests.simple + #""move":[["a.txt","b.txt"]]}"#, "exists already"),
      (GeneratorTests.simple + #""platforms":["windows"]}"#, "windows"),
    ])
  func `a template that is wrong is named, and nothing is made`(
    descriptor: String, reason: String
  ) async throws {
    let source = try template(descriptor, ["a.txt": "a", "b.txt": "b"])
    let result = try await create(["createwithtemplate", "-r", source.path])
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.errors.contains(reason), "\(result.errors)")
    try expectNothing()
  }

  @Test(.covers("HT-53", "HT-54"))
  func `links in a template and unknown templates are refused`() async throws {
    let source = try template(Self.simple + #""remove":[]}"#)
    try FileManager.default.createSymbolicLink(
      atPath: source.appending(path: "passwd").path, withDestinationPath: "/etc/passwd")
    let link = try await create(["createwithtemplate", "-r", source.path])
    #expect(link.status == 1 && link.errors.contains("'passwd' is neither a file nor a folder"))
    for (name, reason) in [
      ("native_swft", "Did you mean 'native_swift'?"), ("http://x.example/a/b", "https only"),
      ("https://x.example/a", "HOST/OWNER/REPOSITORY"),
      ("https://x.example/a/b#-upload-pack=x", "not a branch"), ("", "is missing"),
    ] {
      let unknown = try await create(["createwithtemplate", "--templaterepouri=\(name)"])
      #expect(unknown.status == 2 && unknown.errors.contains(reason), "\(unknown.errors)")
    }
    let empty = folder.file("empty")
    try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
    #expect(try await create(["createwithtemplate", "-r", empty.path]).status == 1)
    try expectNothing()
  }

  @Test(.covers("HT-53")) func `a template of a repository is read at its branch or tag`()
    async throws
  {
    let work = try template(Self.simple + #""remove":[]}"#, ["a.txt": "old AppX"])
    let git = ["-C", work.path, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    func run(_ arguments: String...) async throws {
      let result = try await Tool.other("git", git + arguments)
      #expect(result.status == 0, "\(result.errors)")
    }
    try await run("init", "-q")
    try await run("add", ".")
    try await run("commit", "-q", "-m", "one")
    try await run("tag", "v1")
    let sub = work.appending(path: "sub")
    try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
    for name in ["template.json", "a.txt"] {
      try FileManager.default.moveItem(
        at: work.appending(path: name), to: sub.appending(path: name))
    }
    try Data("new AppX".utf8).write(to: sub.appending(path: "a.txt"))
    try await run("add", "-A")
    try await run("commit", "-q", "-m", "two")
    let bare = folder.file("templates.git").path
    #expect(
      try await Tool.other("git", ["clone", "-q", "--bare", work.path, bare]).status == 0)

    let url = "file://\(bare)"
    #expect(try await create(["createwithtemplate", "-r", "\(url)#v1"]).status == 0)
    #expect(try text("a.txt") == "old Notes")
    let newest = try await create(["createwithtemplate", "-r", "\(url)/sub"], output: "second")
    #expect(newest.status == 0, "\(newest.errors)")
    #expect(try text("a.txt", in: "second") == "new Notes")
    let branch = try await create(["createwithtemplate", "-r", "\(url)#nowhere"], output: "third")
    #expect(branch.status == 1 && branch.errors.contains("nowhere"))
    let missing = try await create(["createwithtemplate", "-r", "\(url)/none"], output: "third")
    #expect(missing.status == 1 && missing.errors.contains("'none'"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("third").path))
  }

  // MARK: Other commands

  @Test(.covers("HT-55"))
  func `templates are listed with the complete command for each`() async throws {
    let list = try await tool.run(["ListTemplates"])
    #expect(list.status == 0 && list.output.hasPrefix("1) "))
    let document = try await tool.run(["listtemplates", "--json"]).document()
    let templates = document["templates"]?.array ?? []
    #expect(templates.count == 6)
    for template in templates {
      let words = (template["command"]?.string ?? "").split(separator: " ").map(String.init)
      let output = "listed-\(template["path"]?.string ?? "")"
      let result = try await tool.run(
        words.dropFirst() + ["--appname=Listed", "--outputdir=\(folder.file(output).path)"])
      #expect(result.status == 0, "\(result.errors)")
    }
  }

  @Test(.covers("HT-57")) func `the version is the one of the user agent`() async throws {
    let printed = try await tool.run(["version"])
    let flag = try await tool.run(["--version"]).output.trimmed
    #expect(printed.status == 0 && printed.output.trimmed == "fieldforce \(flag)")
    #expect(try await tool.run(["version", "--json"]).document()["version"]?.string == flag)
  }
}
