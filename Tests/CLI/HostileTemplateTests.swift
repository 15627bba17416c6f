import Foundation
import TestSupport
import Testing

/// What can a template do to the user who makes a project from it?
@Suite(.timeLimit(.minutes(2))) struct HostileTemplateTests {
  private let folder: TemporaryFolder
  private let tool: Tool
  private static let descriptor =
    #"{"appType":"hybrid_local","appName":"AppX","packageName":"com.x","organization":"OrgX"}"#

  init() throws {
    folder = try TemporaryFolder()
    tool = try Tool()
  }

  private func template(_ descriptor: String? = Self.descriptor) throws -> URL {
    let url = folder.file("template-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    if let descriptor {
      try Data(descriptor.utf8).write(to: url.appending(path: "template.json"))
    }
    return url
  }

  private func make(_ template: URL) async throws -> Tool.Result {
    try await tool.run([
      "createwithtemplate", "-r", template.path, "--appname=Notes", "--packagename=com.acme.notes",
      "--organization=Acme", "--outputdir=\(folder.file("made").path)",
    ])
  }

  private func expectNothing() throws {
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left.allSatisfy { !$0.contains("made") }, "\(left)")
  }

  @Test(.covers("HT-54"))
  func `files get the usual permissions, and never those of another user's program`() async throws {
    let source = try template()
    for (name, mode) in [("tool", 0o6777), ("open.txt", 0o666), ("run.sh", 0o755)] {
      let file = source.appending(path: name)
      try Data("#!/bin/sh\n".utf8).write(to: file)
      #expect(chmod(file.path, mode_t(mode)) == 0)
    }
    let result = try await make(source)
    #expect(result.status == 0, "\(result.errors)")
    for (name, isProgram) in [("tool", true), ("open.txt", false), ("run.sh", true)] {
      var status = stat()
      #expect(stat(folder.file("made/\(name)").path, &status) == 0)
      #expect(status.st_mode & 0o7022 == 0, "\(name): \(String(status.st_mode, radix: 8))")
      #expect((status.st_mode & 0o100 != 0) == isProgram, "\(name)")
    }
  }

  @Test(.covers("HT-54"))
  func `a file of terabytes that takes no room is refused`() async throws {
    let source = try template()
    let file = source.appending(path: "large.bin")
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 1 << 42)
    try handle.close()
    let result = try await make(source)
    #expect(result.status == 1)
    #expect(result.errors.contains("'large.bin'"), "\(result.errors)")
    try expectNothing()
  }

  @Test(.covers("HT-54"), arguments: ["link", "pipe", "folder", "long"])
  func `a descriptor that is no regular file of the template is refused`(kind: String) async throws
  {
    let source = try template(nil)
    let file = source.appending(path: "template.json")
    switch kind {
    case "link":
      let other = folder.file("elsewhere.json")
      try Data(Self.descriptor.utf8).write(to: other)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
    case "pipe": #expect(mkfifo(file.path, 0o600) == 0)
    case "folder":
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    default:
      try Data((Self.descriptor + String(repeating: " ", count: 2 << 20)).utf8).write(to: file)
    }
    let result = try await make(source)
    #expect(result.status == 1)
    #expect(result.errors.contains("no regular file"), "\(result.errors)")
    try expectNothing()
  }

  @Test(.covers("HT-54"))
  func `no configuration of a repository comes with a template, at any depth`() async throws {
    let source = try template()
    for path in [".git", "sub/.git", "sub/.GIT"] {
      let git = source.appending(path: path)
      try FileManager.default.createDirectory(at: git, withIntermediateDirectories: true)
      try Data("[core]\n\tfsmonitor = touch /tmp/x\n".utf8).write(to: git.appending(path: "config"))
    }
    try Data("x".utf8).write(to: source.appending(path: "sub/a.txt"))
    #expect(try await make(source).status == 0)
    let made = try FileManager.default.subpathsOfDirectory(atPath: folder.file("made").path)
    #expect(Set(made) == ["sub", "sub/a.txt"])
  }
}
