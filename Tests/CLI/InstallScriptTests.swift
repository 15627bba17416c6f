import Foundation
import TestSupport
import Testing

/// Does `Tools/install.sh` remove its own files, and nothing else?
@Suite(.timeLimit(.minutes(2))) struct InstallScriptTests {
  private let folder: TemporaryFolder
  private let prefix: URL

  /// The first line of a script of the test, in place of a program that would have to be built.
  private static let shell = "#!/bin/sh\n"

  init() throws {
    folder = try TemporaryFolder()
    prefix = folder.file("prefix with a blank")
    try write("built/Fieldforce_fieldforce.resources/Templates/a b.txt", "template")
    try build(commands: ["sync", "org"])
    try write("tools/swift", "\(Self.shell)echo '\(folder.file("built").path)'\n", isProgram: true)
    for name in ["strip", "objdump"] {
      try write("tools/\(name)", "\(Self.shell)exit 0\n", isProgram: true)
    }
    try FileManager.default.createDirectory(at: prefix, withIntermediateDirectories: true)
  }

  private func write(_ path: String, _ text: String, isProgram: Bool = false) throws {
    let file = folder.file(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    #expect(chmod(file.path, isProgram ? 0o755 : 0o644) == 0)
  }

  /// Writes a program with a manual page for each command.
  private func build(commands: [String]) throws {
    let script = """
      case "$1" in
        version) echo "fieldforce 1" ;;
        completions) echo "completions of $2" ;;
        man) for name in \(commands.joined(separator: " ")); do echo "$name" >"$3/fieldforce-$name.1"; done ;;
      esac

      """
    try write("built/fieldforce", Self.shell + script, isProgram: true)
  }

  private func install(_ arguments: [String]) async throws -> Tool.Result {
    let checkout = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return try await Tool.other(
      "env",
      [
        "PATH=\(folder.file("tools").path):\(path)", "bash",
        checkout.appending(path: "Tools/install.sh").path, "--prefix", prefix.path,
      ] + arguments)
  }

  private func installed() throws -> Set<String> {
    let manager = FileManager.default
    return Set(
      try manager.subpathsOfDirectory(atPath: prefix.path).filter { path in
        let type = try manager.attributesOfItem(atPath: prefix.appending(path: path).path)[.type]
        return type as? FileAttributeType != .typeDirectory
      })
  }

  private static let files: Set<String> = [
    "bin/fieldforce", "lib/fieldforce/fieldforce", "lib/fieldforce/checkout.txt",
    "lib/fieldforce/installed.txt",
    "lib/fieldforce/Fieldforce_fieldforce.resources/Templates/a b.txt",
    "share/bash-completion/completions/fieldforce", "share/zsh/site-functions/_fieldforce",
    "share/fish/vendor_completions.d/fieldforce.fish", "share/man/man1/fieldforce-sync.1",
    "share/man/man1/fieldforce-org.1",
  ]

  @Test func `what was installed is removed, and no file of others`() async throws {
    let others: Set<String> = [
      "lib/other/a", "share/man/man1/fieldforce-plugin.1", "share/man/man1/other.1",
      "bin/fieldforce-more",
    ]
    for path in others { try write("prefix with a blank/\(path)", "theirs") }
    let first = try await install(["--skip-build"])
    #expect(first.status == 0, "\(first.errors)")
    #expect(try installed() == Self.files.union(others))
    let removed = try await install(["--uninstall"])
    #expect(removed.status == 0 && removed.errors.isEmpty, "\(removed.errors)")
    #expect(try installed() == others)
    #expect(!FileManager.default.fileExists(atPath: prefix.appending(path: "lib/fieldforce").path))
    let again = try await install(["--uninstall"])
    #expect(again.status == 1 && again.errors.contains("no list of an installation"))
  }

  @Test func `files that were changed or added since are left and named`() async throws {
    #expect(try await install(["--skip-build"]).status == 0)
    let kept: Set<String> = [
      "share/zsh/site-functions/_fieldforce", "bin/fieldforce", "lib/fieldforce/checkout.txt",
      "lib/fieldforce/notes.txt",
    ]
    for path in kept {
      try? FileManager.default.removeItem(at: prefix.appending(path: path))
      try write("prefix with a blank/\(path)", "mine")
    }
    try FileManager.default.removeItem(
      at: prefix.appending(path: "share/man/man1/fieldforce-org.1"))
    let removed = try await install(["--uninstall"])
    #expect(removed.status == 0, "\(removed.errors)")
    #expect(try installed() == kept)
    for path in kept { #expect(removed.errors.contains("left: \(prefix.path)/\(path)"), "\(path)") }
  }

  @Test(
    arguments: [
      "file HASH ../outside.txt", "file HASH share/../../outside.txt", "file HASH /OUTSIDE",
      "file HASH share/..", "file HASH ", "outside.txt", "file 12 ../outside.txt",
      "dir HASH lib/fieldforce", "",
    ])
  func `a list with a path outside of the prefix removes nothing`(line: String) async throws {
    #expect(try await install(["--skip-build"]).status == 0)
    try write("outside.txt", "")
    // The hash of an empty file.
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let planted = line.replacing("HASH", with: hash)
      .replacing("/OUTSIDE", with: folder.file("outside.txt").path)
    let list = prefix.appending(path: "lib/fieldforce/installed.txt")
    let text = try String(contentsOf: list, encoding: .utf8)
    try Data("\(text)\(planted)\n".utf8).write(to: list)
    let before = try installed()
    for arguments in [["--uninstall"], ["--skip-build"]] {
      let result = try await install(arguments)
      #expect(
        result.status == 1 && result.errors.contains("not a list of this script"),
        "\(result.errors)")
      #expect(try installed() == before)
      #expect(FileManager.default.fileExists(atPath: folder.file("outside.txt").path))
    }
  }

  @Test func `a file behind a link that leads out of the prefix is left`() async throws {
    #expect(try await install(["--skip-build"]).status == 0)
    let pages = prefix.appending(path: "share/man")
    let outside = folder.file("pages")
    try FileManager.default.moveItem(at: pages, to: outside)
    try FileManager.default.createSymbolicLink(at: pages, withDestinationURL: outside)
    let removed = try await install(["--uninstall"])
    #expect(
      removed.status == 0 && removed.errors.contains("fieldforce-sync.1"), "\(removed.errors)")
    #expect(
      FileManager.default.fileExists(
        atPath: outside.appending(path: "man1/fieldforce-sync.1").path))
  }

  @Test func `a newer version replaces the files of its own, and keeps those of others`()
    async throws
  {
    #expect(try await install(["--skip-build"]).status == 0)
    try write("prefix with a blank/lib/fieldforce/notes.txt", "mine")
    try build(commands: ["sync", "push"])
    let second = try await install(["--skip-build"])
    #expect(second.status == 0, "\(second.errors)")
    let expected = Self.files.subtracting(["share/man/man1/fieldforce-org.1"])
      .union(["share/man/man1/fieldforce-push.1", "lib/fieldforce/notes.txt"])
    #expect(try installed() == expected)
    #expect(try await install(["--uninstall"]).status == 0)
    #expect(try installed() == ["lib/fieldforce/notes.txt"])
  }

  @Test(arguments: [
    "bin/fieldforce", "share/man/man1/fieldforce-org.1", "lib/fieldforce/fieldforce",
  ])
  func `a file of others that is in the way is not replaced`(path: String) async throws {
    try write("prefix with a blank/\(path)", "theirs")
    let result = try await install(["--skip-build"])
    #expect(result.status == 1 && result.errors.contains("/\(path) exists"), "\(result.errors)")
    #expect(try installed() == [path])
  }

  @Test func `an installation of an earlier version, without a list, is replaced`() async throws {
    for path in Self.files where !path.hasSuffix("installed.txt") {
      try write("prefix with a blank/\(path)", "earlier", isProgram: path.hasSuffix("/fieldforce"))
    }
    let removed = try await install(["--uninstall"])
    #expect(removed.status == 1 && removed.errors.contains("install again"), "\(removed.errors)")
    #expect(try await install(["--skip-build"]).status == 0)
    #expect(try await install(["--uninstall"]).status == 0)
    #expect(try installed().isEmpty)
  }
}
