import Foundation
import Subprocess

/// The source of a template.
enum TemplateSource: Equatable {
  /// A template that is installed with the program and needs no network.
  case builtIn(String)
  case folder(URL)
  /// A repository, a folder in it, and a branch or tag; nil: the repository's own default.
  case repository(url: String, path: String, reference: String?)

  /// Reads the name of a built-in template, the path of a folder, or an address.
  ///
  /// The first five parts of an https address are the repository, the rest is a folder inside, and a branch or tag
  /// follows `#`. Of a file address the repository ends with `.git`.
  ///
  /// - Throws: ``TemplateSourceError`` with what is wrong.
  init(_ text: String) throws(TemplateSourceError) {
    guard !text.isEmpty else { throw TemplateSourceError("It is missing") }
    if text.hasPrefix("https://") || text.hasPrefix("file://") {
      guard !text.contains(where: \.isWhitespace) else {
        throw TemplateSourceError("An address must not contain blanks")
      }
      let sides = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let reference = sides.count == 2 ? String(sides[1]) : nil
      if let reference, reference.isEmpty || reference.hasPrefix("-") {
        throw TemplateSourceError("'\(reference)' is not a branch or tag")
      }
      let parts = sides[0].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      let count =
        text.hasPrefix("file:")
        ? (parts.firstIndex { $0.hasSuffix(".git") }.map { $0 + 1 } ?? parts.count) : 5
      let path = parts.dropFirst(count).filter { !$0.isEmpty }.joined(separator: "/")
      guard parts.count >= count, parts.prefix(count).dropFirst(3).allSatisfy({ !$0.isEmpty }),
        TemplateDescriptor.staysInside(path)
      else {
        throw TemplateSourceError(
          "It is not a repository: write https://HOST/OWNER/REPOSITORY, followed by a folder if needed"
        )
      }
      self = .repository(
        url: parts.prefix(count).joined(separator: "/"), path: path, reference: reference)
      return
    }
    if text.contains("://") {
      throw TemplateSourceError("Repositories are read over https only")
    }
    if BuiltInTemplates.names.contains(text) {
      self = .builtIn(text)
      return
    }
    let folder = URL(filePath: text, directoryHint: .isDirectory)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder),
      isFolder.boolValue
    else {
      let meant =
        Misspelling.closest(to: text, among: BuiltInTemplates.names)
        .map { "Did you mean '\($0)'?" } ?? "'fieldforce listtemplates' lists the templates."
      throw TemplateSourceError("There is no template or folder '\(text)'. \(meant)")
    }
    self = .folder(folder)
  }

  /// Whether the template is one of the program.
  var isInstalled: Bool {
    if case .builtIn = self { true } else { false }
  }

  /// Calls a closure with the template's folder; the copy of a repository is removed afterwards.
  func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    switch self {
    case .builtIn(let name): return try await body(try BuiltInTemplates.folder(name))
    case .folder(let url): return try await body(url)
    case .repository(let url, let path, let reference):
      let place = FileManager.default.temporaryDirectory
        .appending(path: "fieldforce-template-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: place) }
      try await Self.clone(url, reference, to: place)
      let folder = path.isEmpty ? place : place.appending(path: path)
      // A symbolic link in the repository may lead out of it.
      let inside = place.resolvingSymlinksInPath().path
      let resolved = folder.resolvingSymlinksInPath().path
      guard resolved == inside || resolved.hasPrefix(inside + "/") else {
        throw TemplateDescriptor.failure("'\(path)' leads out of the repository.")
      }
      guard FileManager.default.fileExists(atPath: folder.path) else {
        throw TemplateDescriptor.failure("There is no folder '\(path)' in \(url).")
      }
      return try await body(folder)
    }
  }

  private static func clone(_ url: String, _ reference: String?, to place: URL) async throws {
    guard Installation.program(named: "git") != nil else {
      throw CommandFailure(
        "missingTool", "Cannot read \(url): git is not installed. Install git, or name a folder.")
    }
    let branch = reference.map { ["--branch", $0] } ?? []
    let ended = try await Subprocess.run(
      .name("git"),
      arguments: Arguments(
        ["clone", "--quiet", "--depth", "1", "--no-recurse-submodules"] + branch + [
          "--", url, place.path,
        ]),
      // Git must not prompt for a password or run a program that a configuration names.
      environment: .inherit.updating([
        "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_ALLOW_PROTOCOL": "https:file",
      ]),
      input: .none, output: .discarded, error: .string(limit: 1 << 16))
    guard ended.terminationStatus.isSuccess else {
      let reason = ended.standardError.split(separator: "\n").last.map(String.init) ?? ""
      throw CommandFailure(
        "unreadable",
        "Cannot read the template repository \(url): \(reason) Check the address and the branch.")
    }
  }
}

/// The problem with the name of a template.
struct TemplateSourceError: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The templates that are installed with the program.
enum BuiltInTemplates {
  static var root: URL { Bundle.module.bundleURL.appending(path: "Templates") }

  /// The names, which are those of the kinds of projects.
  static let names = AppType.allCases.map(\.rawValue)

  static func folder(_ name: String) throws -> URL {
    let folder = root.appending(path: name)
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw CommandFailure(
        "incompleteInstallation",
        "The folder \(root.path), which belongs to the program, is missing. Install fieldforce again with "
          + "Tools/install.sh.")
    }
    return folder
  }
}
