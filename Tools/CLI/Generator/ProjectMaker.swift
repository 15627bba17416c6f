import Foundation
import SalesforceSDKCommon

/// Creates a project from a template: as a whole, or not at all.
struct ProjectMaker {
  let template: TemplateDescriptor
  let parameters: ProjectParameters
  private let files = FileManager.default
  /// The most bytes of a template: 256 MiB. A file of terabytes takes no room in a template, and all of the disk in a copy.
  private static let maxBytes = 256 << 20

  init(_ template: TemplateDescriptor, _ parameters: ProjectParameters) {
    self.template = template
    self.parameters = parameters
  }

  /// Copies and prepares `source` in a folder next to the output, which then becomes the output in one step.
  ///
  /// - Parameter isInstalled: Whether the template is one of the program, whose files an installation may keep once for
  ///   many names. Default: false.
  /// - Throws: ``CommandFailure`` `invalidTemplate`, `taken`, `file`; `CancellationError`. Nothing is left behind.
  func make(from source: URL, isInstalled: Bool = false) throws {
    let output = parameters.output.standardizedFileURL
    let parent = output.deletingLastPathComponent()
    guard files.fileExists(atPath: parent.path) else {
      throw CommandFailure(
        "file",
        "Cannot make \(output.path): the folder \(parent.path) does not exist. Make it first.")
    }
    let staging = parent.appending(
      path: ".\(output.lastPathComponent).\(UUID().uuidString.prefix(8))")
    let template = source.resolvingSymlinksInPath().standardizedFileURL.path
    guard !(parent.resolvingSymlinksInPath().path + "/").hasPrefix(template + "/") else {
      throw CommandFailure(
        "file",
        "Cannot make \(output.path) inside its template. Name another folder with --outputdir.")
    }
    defer { try? files.removeItem(at: staging) }
    do {
      try copy(source, to: staging, isInstalled: isInstalled)
      try prepare(staging)
      try MadeProject(folder: staging).check()
    } catch let error as CocoaError {
      throw CommandFailure(
        "file", "Cannot make \(output.path): \(error.localizedDescription) Nothing was made.")
    }
    try Task.checkCancellation()
    // Fails if the output exists and is not an empty folder, also if that has changed since the check.
    guard rename(staging.path, output.path) == 0 else {
      let reason = errno
      throw reason == ENOTEMPTY || reason == EEXIST || reason == ENOTDIR
        ? Self.taken(output)
        : CommandFailure(
          "file",
          "Cannot make \(output.path): \(String(cString: strerror(reason))). Nothing was made.")
    }
  }

  static func taken(_ output: URL) -> CommandFailure {
    CommandFailure(
      "taken",
      "\(output.path) exists already. Name another folder with --outputdir; nothing was changed.")
  }

  private func copy(_ source: URL, to staging: URL, isInstalled: Bool) throws {
    try files.createDirectory(at: staging, withIntermediateDirectories: false)
    var links: [UInt64: (path: String, missing: Int)] = [:]
    var total = 0
    for path in try files.subpathsOfDirectory(atPath: source.path).sorted() {
      try Task.checkCancellation()
      let parts = path.split(separator: "/")
      // The repository in which a template is kept. What else Git takes for one is refused once the project is made.
      if parts.contains(where: { [".git", ".build"].contains($0.lowercased()) }) { continue }
      let from = source.appending(path: path)
      let attributes = try files.attributesOfItem(atPath: from.path)
      let to = staging.appending(path: path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory?:
        try files.createDirectory(at: to, withIntermediateDirectories: true)
      case .typeRegular?:
        let file = try open(path, source)
        let (count, number) = try file.links()
        if count > 1 { links[number, default: (path, count)].missing -= 1 }
        let bytes = try read(file, path, room: Self.maxBytes - total)
        total += bytes.count
        // The copy is this user's. With the mode of the original, other users could change it, or run it with this user's
        // rights.
        let isProgram = (attributes[.posixPermissions] as? Int ?? 0) & 0o100 != 0
        try write(bytes, to: to, isProgram: isProgram)
      default:
        // A link may lead out of the template, and a pipe has no content.
        throw TemplateDescriptor.failure("'\(path)' is neither a file nor a folder.")
      }
    }
    // A hard link is a file of another place, such as a key of this user.
    if !isInstalled, let (path, _) = links.values.filter({ $0.missing > 0 }).min(by: { $0 < $1 }) {
      throw TemplateDescriptor.failure(
        "'\(path)' is a hard link to a file outside. Replace it by a copy.")
    }
  }

  /// Opens a file of the template itself: no link on the way to it is followed.
  private func open(_ path: String, _ source: URL) throws -> OpenFile {
    do throws(FileFailure) {
      return try OpenFile.reading(path, in: source.path)
    } catch {
      throw TemplateDescriptor.failure("'\(path)' cannot be read. \(error).")
    }
  }

  private func read(_ file: OpenFile, _ path: String, room: Int) throws -> [UInt8] {
    do throws(FileFailure) {
      return try file.readWhole(maxBytes: room)
    } catch {
      throw TemplateDescriptor.failure(
        "'\(path)' cannot be read, or the template has more than \(Self.maxBytes) bytes. \(error).")
    }
  }

  private func write(_ bytes: [UInt8], to file: URL, isProgram: Bool) throws {
    do throws(FileFailure) {
      try OpenFile.creating(file, isProgram ? 0o777 : 0o666).write(bytes)
    } catch {
      throw CommandFailure("file", "\(error). Nothing was made.")
    }
  }

  private func prepare(_ project: URL) throws {
    try files.removeItem(at: project.appending(path: TemplateDescriptor.fileName))
    for path in template.remove { try files.removeItem(at: try existing(path, project)) }
    for (from, to) in template.move {
      let target = project.appending(path: to)
      guard !files.fileExists(atPath: target.path) else {
        throw TemplateDescriptor.failure("'\(to)', to which '\(from)' is moved, exists already.")
      }
      try files.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try files.moveItem(at: try existing(from, project), to: target)
    }
    let texts = ProjectTexts(template, parameters)
    for path in try template.replaceInFiles ?? files.subpathsOfDirectory(atPath: project.path) {
      try replace(texts, in: try existing(path, project))
    }
    try renameFiles(with: texts, in: project)
  }

  private func existing(_ path: String, _ project: URL) throws -> URL {
    let url = project.appending(path: path)
    guard files.fileExists(atPath: url.path) else {
      throw TemplateDescriptor.failure(
        "\(TemplateDescriptor.fileName) names '\(path)', which does not exist.")
    }
    return url
  }

  /// Replaces texts in a file of UTF-8; a folder and any other file stay as they are.
  private func replace(_ texts: ProjectTexts, in url: URL) throws {
    var isFolder: ObjCBool = false
    guard files.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
      return
    }
    let name = url.lastPathComponent
    let file = try open(name, url.deletingLastPathComponent())
    let bytes = try read(file, name, room: Self.maxBytes)
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { return }
    let replaced = texts.replaced(in: text, ofFile: name)
    // In place, so that a script stays executable.
    if replaced != text { try Data(replaced.utf8).write(to: url) }
  }

  /// Renames files and folders, the deepest first.
  private func renameFiles(with texts: ProjectTexts, in project: URL) throws {
    for path in try files.subpathsOfDirectory(atPath: project.path).sorted(by: >) {
      let url = project.appending(path: path)
      let name = texts.replaced(inPath: url.lastPathComponent)
      guard name != url.lastPathComponent else { continue }
      try files.moveItem(at: url, to: url.deletingLastPathComponent().appending(path: name))
    }
  }
}
