import Foundation
import TestSupport
import Testing

/// Can a template make a project in which Git runs a program?
@Suite(.timeLimit(.minutes(2))) struct PlantedRepositoryTests {
  private let folder: TemporaryFolder
  private let tool: Tool

  init() throws {
    folder = try TemporaryFolder()
    tool = try Tool()
  }

  /// The spellings of `.git` that a file system or Git reads as that name.
  private static let spellings = [
    ".GIT", ".Git", ".git ", ".git.", ".git . .", ".g\u{200c}it", "\u{feff}.git", ".gi\u{200d}T",
    "\u{202a}.git", "\u{2024}git", "\u{ff0e}git", ".\u{ff27}it", ".\u{24d6}it", ".git\u{a0}",
    "git~1", "GIT~1", "git~12", ".git::$INDEX_ALLOCATION", "x\\.git", ".git\\config",
  ]

  /// The places where a name can be planted in a project, each with its template.
  private static let places = ["file", "folder", "moved", "moved deeper", "moved onto"]

  private func template(_ files: [String], move: [[String]] = []) throws -> URL {
    let url = folder.file("template-\(UUID().uuidString)")
    let moves = String(decoding: try JSONEncoder().encode(move), as: UTF8.self)
    let descriptor =
      #"{"appType":"hybrid_local","appName":"AppX","packageName":"com.x","organization":"OrgX","move":\#(moves)}"#
    for (path, text) in [("template.json", descriptor)] + files.map({ ($0, "gitdir: /tmp/x\n") }) {
      let file = url.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return url
  }

  private func template(_ place: String, _ name: String) throws -> URL {
    switch place {
    case "file": try template(["sub/\(name)"])
    case "folder": try template(["sub/\(name)/config"])
    case "moved": try template(["plain"], move: [["plain", name]])
    case "moved deeper": try template(["plain"], move: [["plain", "a/\(name)/config"]])
    default: try template(["plain/config"], move: [["plain", "a/b/\(name)"]])
    }
  }

  private func make(
    _ template: URL, organization: String = "Acme", appName: String = "Notes"
  ) async throws -> Tool.Result {
    try await tool.run([
      "createwithtemplate", "-r", template.path, "--appname=\(appName)",
      "--packagename=com.acme.notes", "--organization=\(organization)",
      "--outputdir=\(folder.file("made").path)",
    ])
  }

  private func expectRefused(
    _ result: Tool.Result, _ reason: String, _ comment: Comment? = nil,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) throws {
    #expect(
      result.status == 1 && result.errors.contains(reason), "\(comment ?? "") \(result.errors)",
      sourceLocation: location)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left.allSatisfy { !$0.contains("made") }, "\(left)", sourceLocation: location)
  }

  @Test(.covers("HT-54"), arguments: Self.spellings)
  func `a name that is .git to any file system is refused at every place`(
    name: String
  ) async throws {
    for place in Self.places {
      // A repository in which a template is kept is left out, in any case of its name.
      if ["file", "folder"].contains(place), name.lowercased() == ".git" { continue }
      // Foundation drops this character at the start of a name, and so does not find the file.
      let reason =
        name.unicodeScalars.first == "\u{FEFF}"
        ? "Cannot use the template" : "would be a Git repository"
      try expectRefused(try await make(try template(place, name)), reason, "\(place)")
    }
  }

  @Test(.covers("HT-54"), arguments: ["moved", "moved deeper", "moved onto"])
  func `a template moves nothing to the plain name .git`(place: String) async throws {
    try expectRefused(try await make(try template(place, ".git")), "would be a Git repository")
  }

  @Test(.covers("HT-54"))
  func `a name that becomes .git with the texts of the user is refused`() async throws {
    let source = try template(["sub/.OrgX"])
    try expectRefused(
      try await make(source, organization: "Git"), "'sub/.Git' would be a Git repository")
    let folders = try template(["AppX/config"], move: [["AppX", ".AppX"]])
    try expectRefused(
      try await make(folders, appName: "git"), "'.git' would be a Git repository")
    #expect(try await make(source).status == 0)
  }

  @Test(
    .covers("HT-54"),
    arguments: [
      ["HEAD", "config", "objects/x", "refs/x"], ["sub/HEAD", "sub/objects/x", "sub/refs/x"],
      ["a/b/head", "a/b/Objects/x", "a/b/REFS/x"], ["sub/HEAD", "sub/commondir"],
    ])
  func `a folder that Git takes for a repository without a name is refused`(
    files: [String]
  ) async throws {
    try expectRefused(try await make(try template(files)), "would be a Git repository")
    try expectRefused(
      try await make(try template(files.map { "plain/\($0)" }, move: [["plain", "moved"]])),
      "would be a Git repository")
  }

  @Test(.covers("HT-54"))
  func `names that only resemble a repository's are copied`() async throws {
    let names = [
      ".gitignore", ".gitattributes", ".gitmodules", ".github/config", "git", "x.git", "git~x",
      "agit~1", ". git", "refs/HEAD", "objects/x", "refs/x",
    ]
    let result = try await make(try template(names))
    #expect(result.status == 0, "\(result.errors)")
    let made = Set(
      try FileManager.default.subpathsOfDirectory(atPath: folder.file("made").path))
    #expect(made.isSuperset(of: names), "\(made)")
  }

  @Test(.covers("HT-54"), arguments: ["link", "broken link", "linked folder", "pipe"])
  func `links and pipes of a template are refused`(kind: String) async throws {
    let source = try template(["sub/a.txt"])
    let file = source.appending(path: "sub/planted")
    let outside = folder.file("secret/key")
    try FileManager.default.createDirectory(
      at: outside.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("secret".utf8).write(to: outside)
    let target: URL
    switch kind {
    case "link": target = outside
    case "linked folder": target = outside.deletingLastPathComponent()
    default: target = folder.file("missing")
    }
    if kind == "pipe" {
      #expect(mkfifo(file.path, 0o600) == 0)
    } else {
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
    }
    try expectRefused(try await make(source), "'sub/planted' is neither a file nor a folder")
  }

  @Test(.covers("HT-54"))
  func `a hard link to a file outside is refused, and one inside is a copy`() async throws {
    let source = try template(["a.txt"])
    let outside = folder.file("key")
    try Data("secret".utf8).write(to: outside)
    #expect(link(source.appending(path: "a.txt").path, source.appending(path: "b.txt").path) == 0)
    #expect(try await make(source).status == 0)
    try FileManager.default.removeItem(at: folder.file("made"))
    #expect(link(outside.path, source.appending(path: "c.txt").path) == 0)
    try expectRefused(try await make(source), "'c.txt' is a hard link")
  }
}
