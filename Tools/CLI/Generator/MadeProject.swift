import Foundation

/// The files of a project before it gets its name.
struct MadeProject {
  let folder: URL

  /// Checks what a template became after all moves, renames and replaced texts: regular files and folders, of which none
  /// is a repository.
  ///
  /// - Throws: ``CommandFailure`` `invalidTemplate` with the path.
  func check() throws {
    try check(folder, "")
  }

  private func check(_ folder: URL, _ path: String) throws {
    try Task.checkCancellation()
    let manager = FileManager.default
    var files: [String] = []
    var folders: [String] = []
    for name in try manager.contentsOfDirectory(atPath: folder.path).sorted() {
      let place = path.isEmpty ? name : "\(path)/\(name)"
      guard !GitNames.isRepository(name) else {
        throw TemplateDescriptor.failure(
          "'\(place)' would be a Git repository, which can run programs. Remove or rename it.")
      }
      let attributes = try manager.attributesOfItem(atPath: folder.appending(path: name).path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory?: folders.append(name)
      case .typeRegular? where attributes[.referenceCount] as? Int == 1: files.append(name)
      default: throw TemplateDescriptor.failure("'\(place)' is neither a file nor a folder.")
      }
    }
    guard !GitNames.isBareRepository(files: files, folders: folders) else {
      throw TemplateDescriptor.failure(
        "\(path.isEmpty ? "The project" : "'\(path)'") would be a Git repository, which can run programs. "
          + "Remove or rename its file HEAD.")
    }
    for name in folders {
      try check(folder.appending(path: name), path.isEmpty ? name : "\(path)/\(name)")
    }
  }
}
