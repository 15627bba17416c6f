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
  /// - Throws: ``CommandFailure`` `invalidTemplate`, `taken`, `file`; `CancellationError`. Nothing is left behind.
  func make(from source: URL) throws {
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
      try copy(source, to: staging)
      try prepare(staging)
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

  private func copy(_ source: URL, to staging: URL) throws {
    try files.createDirectory(at: staging, withIntermediateDirectories: false)
    var total = 0
    for path in try files.subpathsOfDirectory(atPath: source.path).sorted() {
      try Task.checkCancellation()
      let parts = path.split(separator: "/")
      // Git runs programs that the configuration of a repository names, also of one inside of another.
      if parts.contains(where: { [".git", ".build"].contains($0.lowercased()) }) { continue }
      let from = source.appending(path: path)
      let attributes = try files.attributesOfItem(atPath: from.path)
      let to = staging.appending(path: path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory?:
        try files.createDirectory(at: to, withIntermediateDirectories: true)
      case .typeRegular?:
        let bytes = try read(from, path, room: Self.maxBytes - total)
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
  }

  private func read(_ file: URL, _ path: String, room: Int) throws -> [UInt8] {
    do throws(FileFailure) {
      if let bytes = try DurableFile(file).read(maxBytes: room) { return bytes }
    } catch {
      throw TemplateDescriptor.failure(
        "'\(path)' cannot be read, or the template has more than \(Self.maxBytes) bytes. \(error).")
    }
    throw TemplateDescriptor.failure("'\(path)' is gone.")
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
    let bytes = try read(url, url.lastPathComponent, room: Self.maxBytes)
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { return }
    let replaced = texts.replaced(in: text, ofFile: url.lastPathComponent)
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
